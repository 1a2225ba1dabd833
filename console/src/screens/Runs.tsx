import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { Details, List, Loaded, Table, usePages } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { Id, LongText, Name, Time } from "../ui/text";

const STATES = { running: "running", completed: "completed", failed: "failed" };
const PAGE = 100;

/** Runs of agents, newest first, without their inputs and outputs. */
export function RunsScreen({ params }: { params: URLSearchParams }) {
  const get = (name: string) => params.get(name) ?? undefined;
  const filters = { agent_type: get("agent_type"), status: get("status") as keyof typeof STATES | undefined };
  const types = useQuery({
    queryKey: ["agent-types"],
    queryFn: () => read(api.GET("/api/v1/agent-types", { params: { query: { limit: PAGE, total: "none" } } })),
  });
  const pages = usePages(["runs", filters], (after) =>
    read(api.GET("/api/v1/runs", { params: { query: { ...filters, after, total: "none", values: "omit", limit: PAGE } } })),
  );
  return (
    <>
      <form className="filters" key={String(types.isSuccess)} onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["runs"], readForm(event.currentTarget)));
      }}>
        <TextField label="Agent type" name="agent_type" initial={filters.agent_type} options={types.data?.agent_types.map((each) => each.agent_type)} />
        <ChoiceField label="Status" name="status" initial={filters.status} options={{ "": "all", ...STATES }} />
        <div className="actions"><button type="submit" className="primary">Filter</button></div>
      </form>
      <List pages={pages} items={(page) => page.runs} empty="There is no run that fits.">
        {(runs) => (
          <Table label="Runs" head={["Started", "Run", "Agent type", "Instance", "Status", "Ended", "By"]}>
            {runs.map((run) => (
              <tr key={run.id}>
                <td><Time>{run.created_at}</Time></td>
                <th scope="row"><a href={toHref(["run", run.id])}><Id>{run.id}</Id></a></th>
                <td><Name>{run.agent_type}</Name></td>
                <td>{run.instance_id ? <Name>{run.instance_id}</Name> : "–"}</td>
                <td>{run.status}</td>
                <td><Time>{run.ended_at}</Time></td>
                <td><Name>{run.created_by}</Name></td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </>
  );
}

/** What a run took and gave, and its episodes: fetched when somebody asks for it. */
export function RunScreen({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) return (
    <>
      <p className="notice">What the run took, gave and noted may be sensitive. It isn&rsquo;t loaded yet.</p>
      <button type="button" className="primary" onClick={() => setAsked(true)}>Show the run</button>
    </>
  );
  return <RunDetails id={id} />;
}

function RunDetails({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["run", id],
    queryFn: () => read(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: id } } })),
    gcTime: 0,
  });
  const pages = usePages(["episodes", id], (before) =>
    read(api.GET("/api/v1/episodes", { params: { query: { run_id: id, before, limit: PAGE } as never } })),
  );
  return (
    <>
      <Loaded query={query}>{(run) => <RunFigures run={run} />}</Loaded>
      <h2>Episodes, newest first</h2>
      <List pages={pages} items={(page) => page.episodes} empty="The run has noted nothing.">
        {(episodes) => (
          <ol className="messages">
            {episodes.map((each) => (
              <li key={each.id} className="card">
                <h3><Time>{each.created_at}</Time> {each.kind && <Name>{each.kind}</Name>}</h3>
                {each.content !== undefined && <LongText label="The episode" text={renderValue(each.content)} />}
              </li>
            ))}
          </ol>
        )}
      </List>
    </>
  );
}

function RunFigures({ run }: { run: Schemas["Run"] }) {
  const parts = { Input: run.input, Output: run.output, Error: run.error };
  return (
    <>
      <Details rows={[
        ["Agent type", <Name>{run.agent_type}</Name>],
        ["Instance", run.instance_id ? <Name>{run.instance_id}</Name> : "–"],
        ["Status", run.status],
        ["Started", <><Time>{run.created_at}</Time> by <Name>{run.created_by}</Name></>],
        ["Ended", <Time>{run.ended_at}</Time>],
        ["Kept until", <Time>{run.expires_at}</Time>],
      ]} />
      {run.omitted && <p className="notice">Too large for one answer, read it over the API: {run.omitted.join(", ")}.</p>}
      {Object.entries(parts).filter(([, value]) => value !== undefined && value !== null).map(([name, value]) => (
        <section key={name} aria-label={name}><h2>{name}</h2><LongText label={name} text={renderValue(value)} /></section>
      ))}
    </>
  );
}
