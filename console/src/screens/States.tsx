import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { Loaded } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Time } from "../ui/text";
import { useAgentIds } from "./principals";

type Owned = { agent: string; owner: string };

/** What an agent keeps for somebody: a list without values; each is fetched when somebody asks for it. */
export function StatesScreen({ params }: { params: URLSearchParams }) {
  const agents = useAgentIds();
  const agent = params.get("agent_id") ?? "";
  const owner = params.get("owner_id") ?? "";
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["states"], readForm(event.currentTarget)));
      }}>
        <TextField label="Agent" name="agent_id" initial={agent} options={agents} required hint="or its agent type" />
        <TextField label="Kept for" name="owner_id" initial={owner} required />
        <div className="actions"><button type="submit" className="primary">Show states</button></div>
      </form>
      {agent && owner && <StateList of={{ agent, owner }} />}
    </>
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
