import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { CopyCode, quoteShell, toCurl, toPython } from "../ui/copy";
import { FilterBar, parseTime, type Filters } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { Empty, EntryItem } from "../ui/memory";
import { useAgentIds, useIntentIds, useNamespaceNames, useTaskIds } from "./choices";
import { rememberHeads, TIERS } from "./entries";

const PAGE = 100;
const REFRESH_MS = 10_000;
const TIMES = ["today", "yesterday", "7d", "30d"];

type Query = {
  agent_id?: string; memory_type?: keyof typeof TIERS; namespace?: string; key?: string; tags?: string; tags_any?: string;
  pinned?: boolean; "scope.task_id"?: string; "scope.intent_id"?: string; updated_after?: string; updated_before?: string;
};

/** The memories that match the filters in the address, newest first; sensitive values stay on the server. */
export function MemoryScreen({ params }: { params: URLSearchParams }) {
  return (
    <>
      <EntryFilters path={["memory"]} params={params} />
      <EntryList params={params} />
    </>
  );
}

/** The filters of memories; `agent`, where given, isn't one of them. */
export function EntryFilters({ path, params, agent }: { path: string[]; params: URLSearchParams; agent?: string }) {
  const get = (name: string) => params.get(name) ?? undefined;
  const agents = useAgentIds();
  const namespaces = useNamespaceNames();
  const intents = useIntentIds();
  const tasks = useTaskIds({ agent: agent ?? get("agent_id"), intent: get("intent_id") });
  const filters: Filters = {
    ...(agent === undefined ? { agent: { param: "agent_id", options: agents } } : {}),
    tier: { param: "memory_type", options: Object.keys(TIERS) },
    namespace: { param: "namespace", options: namespaces },
    key: { param: "key" },
    tag: { param: "tags" },
    "any-tag": { param: "tags_any" },
    task: { param: "task_id", options: tasks },
    intent: { param: "intent_id", options: intents },
    pinned: { param: "pinned", options: ["true", "false"] },
    after: { param: "updated_after", options: TIMES },
    before: { param: "updated_before", options: TIMES },
  };
  return (
    <div className="toolbar">
      <FilterBar path={path} params={params} filters={filters} />
      <CopyCode code={toListCode(readQuery(params, agent))} />
    </div>
  );
}

function readQuery(params: URLSearchParams, agent?: string): Query {
  const get = (name: string) => params.get(name) ?? undefined;
  const pinned = get("pinned");
  return {
    agent_id: agent ?? get("agent_id"),
    memory_type: get("memory_type") as Query["memory_type"],
    namespace: get("namespace"),
    key: get("key"),
    tags: get("tags"),
    tags_any: get("tags_any"),
    pinned: pinned === undefined ? undefined : pinned === "true",
    "scope.task_id": get("task_id"),
    "scope.intent_id": get("intent_id"),
    updated_after: parseTime(get("updated_after")),
    updated_before: parseTime(get("updated_before")),
  };
}

/** Write a list of memories as code. */
function toListCode(query: Query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const fields = Object.fromEntries(given.map(([name, value]) => [
    name.replace("scope.", ""), name.startsWith("tags") ? String(value).split(",") : value,
  ]));
  const flags = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name.replace("scope.", "").replaceAll("_", "-")} ${quoteShell(String(value))}`]);
  return {
    python: `from agent_memory import Client\n\nwith Client() as client:\n    for entry in client.memory.query(${toPython(fields)}):\n        print(entry.key, entry.value)\n`,
    curl: toCurl("GET", `/api/v1/memory${search.size > 0 ? `?${search}` : ""}`),
    cli: ["agent-memory query", ...flags].join(" "),
    mcp: JSON.stringify({ method: "tools/call", params: { name: "list_memories", arguments: fields } }, null, 2),
  };
}

type ListProps = { params: URLSearchParams; agent?: string; isByButton?: boolean };

/** The memories that match, page by page. */
export function EntryList({ params, agent, isByButton }: ListProps) {
  const query = readQuery(params, agent);
  const pages = usePages<Schemas["EntryPage"]>(["entries", agent, String(params)], async (after) => {
    const page = await read(api.GET("/api/v1/memory", {
      params: {
        query: {
          ...query, tags: query.tags as never, tags_any: query.tags_any as never,
          values: "ordinary", touch: false, total: "none", limit: PAGE, after,
        },
      },
    }));
    rememberHeads(page.entries);
    return page;
  }, { refresh: REFRESH_MS });
  return (
    <List pages={pages} items={(page) => page.entries} isByButton={isByButton} empty={
      <Empty title={T.memory.none} hint={T.memory.noneHint} command={'agent-memory remember "Ada prefers email"'} />
    }>
      {(entries) => (
        <ul className="memories">{entries.map((entry) => <li key={entry.id}><EntryItem entry={entry} /></li>)}</ul>
      )}
    </List>
  );
}
