/** Choices for fields: up to a hundred names of each kind that the visitor may know of. */

import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";

const OFFERED = { limit: 100, total: "none" } as const;
const STALE_MS = 60_000;

function useChoices(kind: string, load: () => Promise<string[]>, isNeeded = true): string[] {
  const query = useQuery({ queryKey: ["choices", kind], queryFn: load, staleTime: STALE_MS, enabled: isNeeded });
  return query.data ?? [];
}

export function useAgents(): Schemas["AgentPage"]["agents"] {
  const query = useQuery({
    queryKey: ["choices", "agents"],
    queryFn: () => read(api.GET("/api/v1/agents", { params: { query: OFFERED } })),
    staleTime: STALE_MS,
  });
  return query.data?.agents ?? [];
}

export function useAgentIds(): string[] {
  return useAgents().map((each) => each.agent_id);
}

export function useAgentTypes(): string[] {
  return useChoices("agent types", async () =>
    (await read(api.GET("/api/v1/agent-types", { params: { query: OFFERED } }))).agent_types.map((each) => each.agent_type));
}

/** The kinds of tasks that an agent type has workflows for. */
export function useTaskTypes(agentType: string): string[] {
  return useChoices(`task types of ${agentType}`, async () =>
    (await read(api.GET("/api/v1/procedures/{agent_type}", { params: { path: { agent_type: agentType }, query: { limit: OFFERED.limit } } }))).task_types.map((each) => each.task_type),
  agentType !== "");
}

export function useNamespaceNames(): string[] {
  return useChoices("namespaces", async () =>
    (await read(api.GET("/api/v1/memory/namespaces", { params: { query: OFFERED } }))).namespaces.map((each) => each.namespace));
}

export function useIntentIds(): string[] {
  return useChoices("intents", async () =>
    (await read(api.GET("/api/v1/intents", { params: { query: OFFERED } }))).intents.map((each) => each.intent_id));
}

/** The tasks of an agent or of an intent; none without either. */
export function useTaskIds({ agent, intent }: { agent?: string; intent?: string }): string[] {
  const query = { limit: OFFERED.limit };
  return useChoices(`tasks of ${JSON.stringify([agent, intent])}`, async () => {
    const tasks = intent
      ? await read(api.GET("/api/v1/intents/{intent_id}/tasks", { params: { path: { intent_id: intent }, query } }))
      : await read(api.GET("/api/v1/agents/{agent_id}/tasks", { params: { path: { agent_id: agent ?? "" }, query } }));
    return tasks.map((each) => each.id);
  }, Boolean(agent ?? intent));
}

/** The newest conversations that the visitor may read. */
export function useConversations(): Schemas["ConversationHead"][] {
  const query = useQuery({
    queryKey: ["choices", "conversations"],
    queryFn: () => read(api.GET("/api/v1/conversations", { params: { query: { ...OFFERED, values: "omit" } } })),
    staleTime: STALE_MS,
  });
  return query.data?.conversations ?? [];
}

export function unique(names: string[]): string[] {
  return [...new Set(names)];
}

/** The newest principals; nothing without `memory.admin`. */
export function usePrincipals(): Schemas["Principal"][] {
  const query = useQuery({
    queryKey: ["principals", "newest"],
    queryFn: () => read(api.GET("/api/v1/principals", { params: { query: OFFERED } })),
    enabled: can(usePrincipal(), "memory.admin"),
    staleTime: STALE_MS,
  });
  return query.data?.principals ?? [];
}

/** Principals that can work on tasks: agents with memory, and for administrators also those that have none yet. */
export function useWorkers(): string[] {
  const agents = useAgentIds();
  return unique([...agents, ...usePrincipals().flatMap(({ id, kind }) => (kind === "user" ? [] : [id]))]);
}

/** Whom one may ask or decide about: principals for those who may list them, else oneself and the agents that one knows of. */
export function useWho(): string[] {
  const caller = usePrincipal();
  const agents = useAgentIds();
  const principals = usePrincipals().map((each) => each.id);
  return principals.length > 0 ? principals : unique([caller.id, ...agents]);
}
