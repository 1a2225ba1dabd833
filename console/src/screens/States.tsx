import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { usePrincipal, type Principal } from "../session/session";
import { Loaded, Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Time } from "../ui/text";
import { unique, useAgentIds, useAgentTypes, useConversations, useWho } from "./choices";

type Owned = { agent: string; owner: string };

/** What an agent keeps for somebody: a list without values; each is fetched when somebody asks for it. */
export function StatesScreen({ params }: { params: URLSearchParams }) {
  const caller = usePrincipal();
  const isAgent = caller.kind === "agent"; // it reads what it keeps itself, others what is kept for them
  const agents = useStateAgents(caller);
  const owners = useStateOwners(caller);
  const agent = params.get("agent_id") ?? (isAgent ? caller.id : "");
  const owner = params.get("owner_id") ?? (isAgent ? "" : caller.id);
  const [missing, offered] = agent === "" ? ["agent_id", agents] : ["owner_id", owners];
  return (
    <>
      <p>An agent&rsquo;s states are shown to the agent, to the agents of its type, and to whom they are kept for.</p>
      <form className="filters" key={`${agent} ${owner}`} onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["states"], readForm(event.currentTarget)));
      }}>
        <TextField label="Agent" name="agent_id" initial={agent} options={agents} required hint="or its agent type" />
        <TextField label="Kept for" name="owner_id" initial={owner} options={owners} required hint="a user, a session, or any other name" />
        <div className="actions"><button type="submit" className="primary">Show states</button></div>
      </form>
      {agent && owner ? <StateList key={`${agent} ${owner}`} of={{ agent, owner }} />
        : offered.length === 0 ? <p className="empty">Name {agent ? "for whom the states are kept" : "the agent that keeps them"}.</p>
        : (
          <Table label="Choose" head={[agent ? `Whom ${agent} may keep states for` : `Agents that may keep states for ${owner}`]}>
            {offered.map((each) => (
              <tr key={each}><th scope="row"><a href={toHref(["states"], { agent_id: agent, owner_id: owner, [missing!]: each })}><Name>{each}</Name></a></th></tr>
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

/** For whom states may be kept: users of the agent's conversations, their sessions, and principals that it knows of. */
function useStateOwners(caller: Principal): string[] {
  const conversations = useConversations();
  const who = useWho();
  if (caller.kind !== "agent") return [caller.id];
  return unique([...conversations.map((each) => each.user_id), ...conversations.map((each) => each.session_id), ...who]);
}

function StateList({ of }: { of: Owned }) {
  const params = { path: { agent_id: of.agent, owner_id: of.owner } };
  const pages = usePages(["states", of], (after) =>
    read(api.GET("/api/v1/agents/{agent_id}/state/{owner_id}", {
      params: { ...params, query: { after, total: "none", values: "omit", limit: 100 } },
    })),
  );
  return (
    <List pages={pages} items={(page) => page.heads ?? []} empty="Nothing is kept that you may read.">
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
        Version {head.version}, changed <Time>{head.updated_at}</Time>, first set by <Name>{head.created_by}</Name>
        {head.sensitivity && <>; {head.sensitivity}</>}
      </p>
      {isAsked
        ? <Loaded query={query}>{({ value }) => <LongText label={`State ${head.key}`} text={renderValue(value)} />}</Loaded>
        : <button type="button" aria-label={`Show the value of ${head.key}`} onClick={() => setAsked(true)}>Show the value</button>}
    </>
  );
}
