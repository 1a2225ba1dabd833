import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { EpisodicUsage, NEAR } from "../ui/capacity";
import { Details, Loaded } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { countOf, Name } from "../ui/text";
import { useAgentIds } from "./choices";
import { NamespaceTable } from "./Namespaces";

const AGENTS = 12;
const MINUTES = 10;
const MOST = 100;
const REFRESH_MS = 10_000;
type Agent = Schemas["AgentPage"]["agents"][number];

/** The tenant at a glance: agents with their capacity and what they do, and the shared namespaces. */
export function OverviewScreen() {
  const offered = useAgentIds();
  const pages = usePages(["agents"], (after) =>
    read(api.GET("/api/v1/agents", { params: { query: { after, total: "none", limit: AGENTS } } })), { refresh: REFRESH_MS },
  );
  return (
    <>
      <section aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        <List pages={pages} items={(page) => page.agents} isByButton empty="There is no agent yet that you may know of.">
          {(agents) => (
            <ul className="cards">
              {agents.map((agent) => <li key={agent.agent_id}><AgentCard agent={agent} /></li>)}
            </ul>
          )}
        </List>
        <form className="filters" onSubmit={(event) => {
          event.preventDefault();
          goTo(toHref(["agent", readForm(event.currentTarget).agent_id ?? ""]));
        }}>
          <TextField label="Agent" name="agent_id" options={offered} required />
          <div className="actions"><button type="submit">Open the agent</button></div>
        </form>
      </section>
      <section aria-labelledby="namespaces">
        <h2 id="namespaces">Namespaces</h2>
        <NamespaceTable />
      </section>
    </>
  );
}

function AgentCard({ agent: { agent_id: id, agent_type, working, episodic } }: { agent: Agent }) {
  const isNear = (count: number, most: number) => count >= most * NEAR;
  const near = [
    ...(isNear(episodic.entry_count, episodic.capacity) ? ["episodic memory"] : []),
    ...(isNear(working.entry_count, working.max_entries) || isNear(working.total_size_kb, working.max_total_size_kb) ? ["working memory"] : []),
  ];
  return (
    <article className="card">
      <h3><a href={toHref(["agent", id])}><Name>{id}</Name></a>{agent_type && <> (<Name>{agent_type}</Name>)</>}</h3>
      {near.length > 0 && <p className="notice">Near its limit: {near.join(", ")}.</p>}
      <Details rows={[
        ["Working, outside tasks", `${countOf(working.entry_count, "entry", "entries")}, ${working.total_size_kb.toLocaleString()} KB`],
        ["Episodic", <EpisodicUsage of={episodic} />],
      ]} />
      <Activity id={id} />
    </article>
  );
}

/** What an agent does at present: its open tasks, and how much happens in its log. */
function Activity({ id }: { id: string }) {
  const caller = usePrincipal();
  const mayReadLog = caller.id === id || can(caller, "memory.admin");
  const query = useQuery({
    queryKey: ["activity", id],
    queryFn: async () => {
      const path = { agent_id: id };
      const from = new Date(Date.now() - MINUTES * 60_000).toISOString();
      const [tasks, log] = await Promise.all([
        read(api.GET("/api/v1/agents/{agent_id}/tasks", { params: { path, query: { limit: MOST } } })),
        mayReadLog ? read(api.GET("/api/v1/agents/{agent_id}/events", { params: { path, query: { from, limit: MOST } } })) : undefined,
      ]);
      return { tasks: tasks.filter((task) => task.completed_at === null).length, events: log?.events.length };
    },
    refetchInterval: REFRESH_MS,
  });
  return (
    <Loaded query={query}>
      {({ tasks, events }) => (
        <p className="actions">
          <a href={toHref(["agent", id], { show: "tasks" })}>{tasks === MOST ? `${MOST}+ open tasks` : countOf(tasks, "open task")}</a>
          {events !== undefined && (
            <a href={toHref(["agent", id], { show: "log" })}>{events / MINUTES}{events === MOST && "+"} events a minute</a>
          )}
        </p>
      )}
    </Loaded>
  );
}
