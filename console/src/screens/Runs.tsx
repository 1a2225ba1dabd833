import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { Details, Loaded, Table } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Id, LongText, Name, Time } from "../ui/text";
import { useAgentTypes } from "./choices";

const STATES = { running: "running", completed: "completed", failed: "failed" };
const PAGE = 100;
const REFRESH_MS = 5_000;

/** Runs of agents, newest first, without their inputs and outputs. */
export function RunsScreen({ params }: { params: URLSearchParams }) {
  const get = (name: string) => params.get(name) ?? undefined;
  const filters = { agent_type: get("agent_type"), status: get("status") as keyof typeof STATES | undefined };
  const types = useAgentTypes();
  const pages = usePages(["runs", filters], (after) =>
    read(api.GET("/api/v1/runs", { params: { query: { ...filters, after, total: "none", values: "omit", limit: PAGE } } })), { refresh: REFRESH_MS },
  );
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["runs"], readForm(event.currentTarget)));
      }}>
        <TextField label="Agent type" name="agent_type" initial={filters.agent_type} options={types} />
        <ChoiceField label="Status" name="status" initial={filters.status} options={{ "": "all", ...STATES }} />
        <div className="actions"><button type="submit" className="primary">Filter</button></div>
      </form>
      {filters.agent_type && (
        <p><a href={toHref(["episodes", filters.agent_type])}>What its next run recalls: the last episodes of all its runs</a></p>
      )}
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
  return (
    <>
      <Loaded query={query}>{(run) => <RunFigures run={run} />}</Loaded>
      <h2>Episodes, newest first</h2>
      <EpisodeList of={{ run_id: id }} />
    </>
  );
}

/** The episodes that the next run of an agent type recalls: fetched when somebody asks for it. */
export function EpisodesScreen({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <p>The newest episodes of all runs of <Name>{id}</Name>. A run recalls the first of them when it begins.</p>
      <p className="actions">
        <a href={toHref(["runs"], { agent_type: id })}>Its runs</a> <a href={toHref(["facts"], { agent_type: id })}>Its facts</a>
      </p>
      {isAsked ? <EpisodeList of={{ agent_type: id }} /> : (
        <button type="button" className="primary" onClick={() => setAsked(true)}>Show the episodes</button>
      )}
    </>
  );
}

function EpisodeList({ of }: { of: { run_id?: string; agent_type?: string } }) {
  const pages = usePages(["episodes", of], (after) =>
    read(api.GET("/api/v1/episodes", { params: { query: { ...of, after, limit: PAGE } } })),
  );
  return (
    <List pages={pages} items={(page) => page.episodes} empty="Nothing was noted.">
      {(episodes) => (
        <ol className="messages">
          {episodes.map((each) => (
            <li key={each.id} className="card">
              <h3><Time>{each.created_at}</Time> {each.kind && <Name>{each.kind}</Name>}</h3>
              {of.run_id === undefined && <p>In run <a href={toHref(["run", each.run_id])}><Id>{each.run_id}</Id></a></p>}
              {each.content !== undefined && <LongText label="The episode" text={renderValue(each.content)} />}
            </li>
          ))}
        </ol>
      )}
    </List>
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
