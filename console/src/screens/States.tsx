import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { usePrincipal, type Principal } from "../session/session";
import { T, toWord } from "../texts";
import { Loaded, Table } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Readable } from "../ui/memory";
import { Name, Sentence, Time } from "../ui/text";
import { unique, useAgentIds, useAgentTypes, useConversations } from "./choices";

type Owned = { agent: string; owner: string };

/** The states that an agent keeps, for all or for somebody: a list without values; each is fetched when somebody asks for it. */
export function StatesScreen({ params }: { params: URLSearchParams }) {
  const caller = usePrincipal();
  const isAgent = caller.kind === "agent"; // it reads what it keeps itself, others what is kept for them
  const agents = useStateAgents(caller);
  const agent = params.get("agent_id") ?? (isAgent ? caller.id : "");
  const owner = params.get("owner_id") ?? "";
  const people = unique([...(isAgent ? [] : [caller.id]), ...useConversations().map(({ user_id }) => user_id)]);
  return (
    <>
      <p className="hint">{T.states.intro}</p>
      <FilterBar path={["states"]} params={params} filters={{ agent: { param: "agent_id", options: agents }, for: { param: "owner_id", options: people } }} />
      {agent && owner ? <StateList key={`${agent} ${owner}`} of={{ agent, owner }} />
        : agent ? <AgentStateList key={agent} agent={agent} />
        : agents.length === 0 ? <p className="empty">{T.states.chooseAgent}</p>
        : (
          <Table label={T.states.choose} head={[T.states.choose]}>
            {agents.map((each) => (
              <tr key={each}><th scope="row"><a href={toHref(["states"], { agent_id: each, owner_id: owner })}><Name>{each}</Name></a></th></tr>
            ))}
          </Table>
        )}
    </>
  );
}

/** Those whose states one may read: an agent's own and its type's; else those of any agent, as far as they are kept for one. */
function useStateAgents(caller: Principal): string[] {
  const agents = useAgentIds();
  const types = useAgentTypes();
  if (caller.kind !== "agent") return unique([...agents, ...types]);
  return caller.agent_type ? [caller.id, caller.agent_type] : [caller.id];
}

/** An agent's states for all owners whose states one may read. */
function AgentStateList({ agent }: { agent: string }) {
  const pages = usePages(["states", agent], (after) =>
    read(api.GET("/api/v1/agents/{agent_id}/state", {
      params: { path: { agent_id: agent }, query: { after, values: "omit", limit: 100 } },
    })),
  );
  return (
    <List pages={pages} items={(page) => page.states} empty={T.states.none}>
      {(states) => (
        <ol className="messages">
          {states.map((state) => (
            <li key={`${state.owner_id}/${state.key}`} className="card">
              <p><Sentence text={T.states.keptFor} of={{ owner: <a href={toHref(["states"], { agent_id: agent, owner_id: state.owner_id })}><Name>{state.owner_id}</Name></a> }} /></p>
              <State of={{ agent, owner: state.owner_id }} head={state} />
            </li>
          ))}
        </ol>
      )}
    </List>
  );
}

function StateList({ of }: { of: Owned }) {
  const params = { path: { agent_id: of.agent, owner_id: of.owner } };
  const pages = usePages(["states", of], (after) =>
    read(api.GET("/api/v1/agents/{agent_id}/state/{owner_id}", {
      params: { ...params, query: { after, total: "none", values: "omit", limit: 100 } },
    })),
  );
  return (
    <List pages={pages} items={(page) => page.heads ?? []} empty={T.states.none}>
      {(heads) => <ol className="messages">{heads.map((head) => <li key={head.key} className="card"><State of={of} head={head} /></li>)}</ol>}
    </List>
  );
}

function State({ of, head }: { of: Owned; head: Schemas["StateHead"] }) {
  const [isAsked, setAsked] = useState(false);
  const query = useQuery({
    queryKey: ["state", of, head.key],
    queryFn: () => read(api.GET("/api/v1/agents/{agent_id}/state/{owner_id}/{key}", {
      params: { path: { agent_id: of.agent, owner_id: of.owner, key: head.key } },
    })),
    enabled: isAsked,
    gcTime: 0,
  });
  return (
    <>
      <h2><Name>{head.key}</Name></h2>
      <p>
        <Sentence text={T.states.head} of={{ version: head.version, time: <Time>{head.updated_at}</Time>, who: <Name>{head.created_by}</Name> }} />
        {head.sensitivity && <span className="badge">{toWord(head.sensitivity)}</span>}
      </p>
      {isAsked
        ? <Loaded query={query}>{({ value }) => <Readable label={T.states.state(head.key)} value={value} />}</Loaded>
        : <button type="button" aria-label={T.states.showOf(head.key, of.owner)} onClick={() => setAsked(true)}>{T.actions.showValue}</button>}
    </>
  );
}
