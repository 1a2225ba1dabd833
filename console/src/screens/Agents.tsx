import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { EpisodicUsage } from "../ui/capacity";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Empty } from "../ui/memory";
import { Name } from "../ui/text";

const AGENTS = 100;
const REFRESH_MS = 10_000;
type Agent = Schemas["Agent"];

/** All agents, with how full their memory is. */
export function AgentsScreen() {
  const pages = usePages(["agents"], (after) =>
    read(api.GET("/api/v1/agents", { params: { query: { after, total: "none", limit: AGENTS } } })), { refresh: REFRESH_MS },
  );
  return (
    <List pages={pages} items={(page) => page.agents} empty={
      <Empty title={T.agents.empty} hint={T.agents.emptyHint} command="agent-memory principals create assistant" />
    }>
      {(agents) => <ul className="memories">{agents.map((agent) => <li key={agent.agent_id}><AgentItem agent={agent} /></li>)}</ul>}
    </List>
  );
}

function AgentItem({ agent: { agent_id: id, agent_type, working, episodic } }: { agent: Agent }) {
  return (
    <>
      <p className="said"><a href={toHref(["agent", id])}><Name>{id}</Name></a></p>
      <p className="quiet">
        {agent_type && <Name>{agent_type}</Name>}
        <span><EpisodicUsage of={episodic} /></span>
        <span>{T.agents.workings(working.entry_count)}</span>
      </p>
    </>
  );
}
