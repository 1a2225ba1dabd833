/** Each view as Python, curl, CLI and MCP call. */

import { parseTime } from "./time";

export type Code = { python: string; curl: string; cli?: string; mcp?: string };
type Fields = Record<string, unknown>;

/** Write a call of the API as curl. */
export function toCurl(method: string, path: string, body?: unknown): string {
  const data = body === undefined ? "" : ` \\\n  -d ${quote(JSON.stringify(body))}`;
  return `curl -sS -X ${method} ${quote(`${window.location.origin}${path}`)} \\\n  -H "X-API-Key: $AGENT_MEMORY_API_KEY"${data}`;
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function defined(fields: Fields): [string, unknown][] {
  return Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
}

/** Write arguments of a Python call, such as `agent_id="reader", limit=5`. */
function toArguments(fields: Fields): string {
  return defined(fields).map(([name, value]) => `${name}=${toPython(value)}`).join(", ");
}

function toPython(value: unknown): string {
  return value === true ? "True" : value === false ? "False" : JSON.stringify(value);
}

function toFlags(fields: Fields): string {
  return defined(fields).map(([name, value]) => ` --${name} ${quote(String(value))}`).join("");
}

function toPath(path: string, query: Fields): string {
  const given = new URLSearchParams(defined(query).map(([name, value]) => [name, String(value)]));
  return `/api/v1/${path}${given.size > 0 ? `?${given}` : ""}`;
}

function callTool(name: string, fields: Fields): string {
  return JSON.stringify({ method: "tools/call", params: { name, arguments: Object.fromEntries(defined(fields)) } }, null, 2);
}

function withClient(lines: string): string {
  return `from agent_memory import Client\n\nwith Client() as client:\n    ${lines.replaceAll("\n", "\n    ")}\n`;
}

/** Prints what a call lists. */
function listing(call: string): string {
  return withClient(`for each in client.${call}:\n    print(each)`);
}

function printing(call: string): string {
  return withClient(`print(client.${call})`);
}

/** Write a question to memory. */
export function toRecallCode({ query, as_of, user_id, agent_id }: { query: string; as_of?: string; user_id?: string; agent_id?: string }): Code {
  const client = user_id === undefined ? "client" : `client.for_user(${toPython(user_id)})`;
  const python = as_of === undefined
    ? withClient(`print(${client}.recall(${toPython(query)}${agent_id ? `, agent_id=${toPython(agent_id)}` : ""}).text)`)
    : withClient(`asked = ${JSON.stringify(Object.fromEntries(defined({ query, as_of, user_id, agent_id })))}\nprint(client.request("POST", "/api/v1/recall", json=asked).text)`);
  return {
    python,
    curl: toCurl("POST", "/api/v1/recall", Object.fromEntries(defined({ query, as_of, user_id, agent_id }))),
    cli: `agent-memory recall ${quote(query)}${toFlags({ user: user_id })}`,
    mcp: callTool("recall", { query, user: user_id }),
  };
}

type View = (id: string, get: (name: string) => string | undefined) => Code | undefined;
const part = encodeURIComponent;

function entries(fixed: Fields, get: (name: string) => string | undefined): Code {
  const pinned = get("pinned");
  const asked = {
    memory_type: get("memory_type"), agent_id: get("agent_id"), namespace: get("namespace"), key: get("key"), ...fixed,
    updated_after: parseTime(get("updated_after")), updated_before: parseTime(get("updated_before")),
  };
  const { memory_type, agent_id, ...others } = asked as Record<string, string | undefined>;
  const [task, intent, tags, any] = [get("task_id"), get("intent_id"), get("tags"), get("tags_any")];
  const flags = Object.fromEntries(Object.entries(others).map(([name, value]) => [name.replaceAll("_", "-"), value]));
  return {
    python: listing(`memory.query(${toArguments({
      ...asked, task_id: task, intent_id: intent, tags: tags?.split(","), tags_any: any?.split(","), pinned: pinned && pinned === "true",
    })})`),
    curl: toCurl("GET", toPath("memory", { ...asked, "scope.task_id": task, "scope.intent_id": intent, tags, tags_any: any, pinned })),
    cli: `agent-memory query${toFlags({ ...flags, type: memory_type, agent: agent_id, task, intent, tag: tags, "any-tag": any })}${pinned ? (pinned === "true" ? " --pinned" : " --no-pinned") : ""}`,
    mcp: callTool("list_memories", {}),
  };
}

const VIEWS: Record<string, View> = {
  people: () => ({
    python: listing("conversations.list()"), curl: toCurl("GET", "/api/v1/conversations"), cli: "agent-memory conversations list", mcp: callTool("list_conversations", {}),
  }),
  person: (id) => ({
    python: listing(`for_user(${toPython(id)}).query()`), curl: toCurl("GET", toPath("memory", { namespace: `users/${part(id)}/*` })),
    cli: `agent-memory query --namespace ${quote(`users/${part(id)}/*`)}`, mcp: callTool("list_memories", { user: id }),
  }),
  conversations: (_id, get) => {
    const user = get("user_id");
    return {
      python: listing(`conversations.list(${user === undefined ? "" : toPython(user)})`),
      curl: toCurl("GET", user === undefined ? "/api/v1/conversations" : `/api/v1/users/${part(user)}/conversations`),
      cli: `agent-memory conversations list${toFlags({ user })}`, mcp: callTool("list_conversations", { user_id: user }),
    };
  },
  conversation: (id) => ({
    python: withClient(`for each in client.conversations.get(${toPython(id)}).messages:\n    print(each.role, each.content)`),
    curl: toCurl("GET", `/api/v1/conversations/${part(id)}`), cli: `agent-memory conversations show ${quote(id)}`, mcp: callTool("read_conversation", { session_id: id }),
  }),
  agents: () => ({ python: listing("agents.list()"), curl: toCurl("GET", "/api/v1/agents"), cli: "agent-memory agents list" }),
  agent: (id, get) => {
    switch (get("show")) {
      case "eviction": return {
        python: listing(`agents.list_eviction_order(${toPython(id)})`), curl: toCurl("GET", `/api/v1/agents/${part(id)}/memory/eviction`), cli: `agent-memory agents eviction ${quote(id)}`,
      };
      case "tasks": return {
        python: listing(`tasks.list_assigned(${toPython(id)})`), curl: toCurl("GET", `/api/v1/agents/${part(id)}/tasks`), cli: `agent-memory tasks assigned --agent ${quote(id)}`,
      };
      case "log": return log("agent", id, get);
      default: return entries({ agent_id: id }, get);
    }
  },
  timeline: (_id, get) => log(get("log") ?? "agent", get("name") ?? "", get),
  runs: (_id, get) => {
    const asked = { agent_type: get("agent_type"), status: get("status") };
    return { python: listing(`runs.query(${toArguments(asked)})`), curl: toCurl("GET", toPath("runs", asked)), cli: `agent-memory runs list${toFlags({ "agent-type": asked.agent_type, status: asked.status })}` };
  },
  run: (id) => ({ python: printing(`runs.get(${toPython(id)})`), curl: toCurl("GET", `/api/v1/runs/${part(id)}`), cli: `agent-memory runs show ${quote(id)}` }),
  episodes: (id) => ({ python: listing(`runs.recall(${toPython(id)})`), curl: toCurl("GET", toPath("episodes", { agent_type: id })) }),
  "memory-runs": () => ({ python: withClient("print(client.request(\"GET\", \"/v1/runs\").text)"), curl: toCurl("GET", "/v1/runs"), cli: "agent-memory openwop list" }),
  "memory-run": (id) => ({ python: withClient(`print(client.request("GET", "/v1/runs/${part(id)}").text)`), curl: toCurl("GET", `/v1/runs/${part(id)}`), cli: `agent-memory openwop show ${quote(id)}` }),
  procedures: (_id, get) => {
    const [agent, task] = [get("agent_type"), get("task_type")];
    if (!agent) return { python: listing("runs.list_agent_types()"), curl: toCurl("GET", "/api/v1/agent-types") };
    if (!task) return { python: listing(`procedures.list_task_types(${toPython(agent)})`), curl: toCurl("GET", `/api/v1/procedures/${part(agent)}`), cli: `agent-memory procedures types ${quote(agent)}` };
    return {
      python: listing(`procedures.list(${toPython(agent)}, ${toPython(task)})`), curl: toCurl("GET", `/api/v1/procedures/${part(agent)}/${part(task)}`),
      cli: `agent-memory procedures list ${quote(agent)} ${quote(task)}`,
    };
  },
  tasks: (_id, get) => {
    const [intent, agent] = [get("intent_id"), get("agent_id")];
    if (intent) return intentTasks(intent);
    if (agent) return VIEWS.agent!(agent, () => "tasks");
    return { python: listing("intents.list()"), curl: toCurl("GET", "/api/v1/intents") };
  },
  task: (id, get) => (get("show") === "entries" ? entries({}, (name) => (name === "task_id" ? id : undefined)) : {
    python: printing(`tasks.get(${toPython(id)})`), curl: toCurl("GET", `/api/v1/tasks/${part(id)}`), cli: `agent-memory tasks show ${quote(id)}`,
  }),
  intent: (id) => intentTasks(id),
  memory: (_id, get) => entries({}, get),
  entry: (id) => ({
    python: printing(`memory.get_entry(id=${toPython(id)})`), curl: toCurl("GET", `/api/v1/memory/${part(id)}`), cli: `agent-memory get ${quote(id)}`,
  }),
  facts: (_id, get) => {
    const asked = { subject: get("subject"), predicate: get("predicate"), agent_type: get("agent_type"), learned_from_run_id: get("learned_from_run_id"), user_id: get("user_id") };
    return {
      python: listing(`facts.query(${toArguments(asked)})`), curl: toCurl("GET", toPath("facts", asked)),
      cli: `agent-memory facts list${toFlags({ subject: asked.subject, predicate: asked.predicate, "agent-type": asked.agent_type, run: asked.learned_from_run_id })}`,
      mcp: callTool("recall_facts", { query: [asked.subject, asked.predicate].filter(Boolean).join(" ") || "everything", subject: asked.subject, predicate: asked.predicate }),
    };
  },
  fact: (id) => ({ python: listing(`facts.history(${toPython(id)})`), curl: toCurl("GET", `/api/v1/facts/${part(id)}/history`), cli: `agent-memory facts history ${quote(id)}` }),
  consolidation: () => ({ python: printing("consolidation.preview()"), curl: toCurl("POST", "/api/v1/consolidation", { dry_run: true }), cli: "agent-memory consolidation preview" }),
  namespaces: () => ({ python: listing("namespaces.list()"), curl: toCurl("GET", "/api/v1/memory/namespaces"), cli: "agent-memory namespaces list" }),
  namespace: (id) => ({ python: printing(`namespaces.get(${toPython(id)})`), curl: toCurl("GET", `/api/v1/memory/namespaces/${part(id)}`), cli: `agent-memory namespaces show ${quote(id)}` }),
  objects: () => ({ python: listing("objects.list_spaces()"), curl: toCurl("GET", "/api/v1/objects"), cli: "agent-memory objects list" }),
  space: (id) => ({ python: listing(`objects.list(${toPython(id)})`), curl: toCurl("GET", `/api/v1/objects/${part(id)}`), cli: `agent-memory objects list ${quote(id)}` }),
  access: (_id, get) => {
    const [principal, kind, id] = [get("principal"), get("kind") ?? "namespace", get("id")];
    if (id === undefined) return undefined;
    const asked = { principal, [kind]: id };
    return { python: printing(`principals.explain_access(${toArguments(asked)})`), curl: toCurl("GET", toPath("access", asked)), cli: `agent-memory access${toFlags(asked)}` };
  },
  principals: () => ({ python: listing("principals.list()"), curl: toCurl("GET", "/api/v1/principals"), cli: "agent-memory principals list" }),
  audit: (_id, get) => {
    const asked = { actor: get("actor"), action: get("action") };
    return { python: listing(`audit.list(${toArguments(asked)})`), curl: toCurl("GET", toPath("audit", asked)), cli: `agent-memory audit${toFlags(asked)}` };
  },
  strategies: () => ({ python: listing("strategies.list()"), curl: toCurl("GET", "/api/v1/strategies"), cli: "agent-memory strategies list" }),
  usage: () => ({ python: withClient("print(client.request(\"GET\", \"/api/v1/usage\").text)"), curl: toCurl("GET", "/api/v1/usage") }),
};

function intentTasks(intent: string): Code {
  return { python: listing(`tasks.list(${toPython(intent)})`), curl: toCurl("GET", `/api/v1/intents/${part(intent)}/tasks`), cli: `agent-memory tasks list --intent ${quote(intent)}` };
}

function log(kind: string, name: string, get: (name: string) => string | undefined): Code {
  const path = { intent: "intents", namespace: "memory/namespaces" }[kind] ?? "agents";
  const asked = { type: get("type"), actor: get("actor"), order: "desc" };
  return {
    python: withClient(`print(client.request("GET", ${toPython(toPath(`${path}/${part(name)}/events`, asked))}).text)`),
    curl: toCurl("GET", toPath(`${path}/${part(name)}/events`, asked)), cli: `agent-memory tail${toFlags({ [kind]: name, event: asked.type })}`,
  };
}

/** Write the view of a screen; undefined if it is more than one call. */
export function toViewCode(screen: string, id: string, params: URLSearchParams): Code | undefined {
  return VIEWS[screen]?.(id, (name) => params.get(name) || undefined);
}
