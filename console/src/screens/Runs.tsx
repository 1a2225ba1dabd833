import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { T, toWord, toWords } from "../texts";
import { CopyButton } from "../ui/copy";
import { Details, Loaded } from "../ui/data";
import { Readable } from "../ui/memory";
import { FilterBar } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Name, Sentence, ShortId, Time } from "../ui/text";
import { useAgentTypes } from "./choices";

const STATES = toWords("running", "completed", "failed");
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
      <FilterBar path={["runs"]} params={params} filters={{ "agent-type": { param: "agent_type", options: types }, status: { param: "status", options: Object.keys(STATES) } }} />
      {filters.agent_type && (
        <p><a href={toHref(["episodes", filters.agent_type])}>{T.runs.nextRecallsLong}</a></p>
      )}
      <List pages={pages} items={(page) => page.runs} empty={T.runs.none}>
        {(runs) => (
          <ul className="memories">
            {runs.map((run) => (
              <li key={run.id}>
                <p className="said"><a href={toHref(["run", run.id])}><Sentence text={T.runs.of} of={{ type: <Name>{run.agent_type}</Name> }} /></a></p>
                <p className="quiet">
                  <span className={run.status === "failed" ? "badge warn" : "badge"}>{toWord(run.status)}</span>
                  {run.instance_id && <Name>{run.instance_id}</Name>}
                  <span>{T.memory.by} <Name>{run.created_by}</Name></span>
                  <Time>{run.created_at}</Time>
                  <ShortId>{run.id}</ShortId>
                </p>
              </li>
            ))}
          </ul>
        )}
      </List>
    </>
  );
}

/** The input and output of a run, and its episodes: fetched when somebody asks for them. */
export function RunScreen({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) return (
    <>
      <p className="notice">{T.runs.sensitive}</p>
      <button type="button" className="primary" onClick={() => setAsked(true)}>{T.runs.show}</button>
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
      <h2>{T.runs.newest}</h2>
      <EpisodeList of={{ run_id: id }} />
    </>
  );
}

/** The episodes that the next run of an agent type recalls: fetched when somebody asks for it. */
export function EpisodesScreen({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <p className="hint"><Sentence text={T.runs.episodesIntro} of={{ type: <Name>{id}</Name> }} /></p>
      <p className="actions">
        <a href={toHref(["runs"], { agent_type: id })}>{T.runs.itsRuns}</a> <a href={toHref(["facts"], { agent_type: id })}>{T.runs.itsFacts}</a>
      </p>
      {isAsked ? <EpisodeList of={{ agent_type: id }} /> : (
        <button type="button" className="primary" onClick={() => setAsked(true)}>{T.runs.showEpisodes}</button>
      )}
    </>
  );
}

function EpisodeList({ of }: { of: { run_id?: string; agent_type?: string } }) {
  const pages = usePages(["episodes", of], (after) =>
    read(api.GET("/api/v1/episodes", { params: { query: { ...of, after, limit: PAGE } } })),
  );
  return (
    <List pages={pages} items={(page) => page.episodes} empty={T.runs.noEpisodes}>
      {(episodes) => (
        <ol className="messages">
          {episodes.map((each) => (
            <li key={each.id} className="card">
              <p className="quiet">{each.kind && <span className="badge"><Name>{each.kind}</Name></span>}<Time>{each.created_at}</Time></p>
              {of.run_id === undefined && <p className="quiet"><Sentence text={T.runs.inRun} of={{ run: <a href={toHref(["run", each.run_id])}><ShortId>{each.run_id}</ShortId></a> }} /></p>}
              {each.content !== undefined && <Readable label={T.runs.episode} value={each.content} />}
            </li>
          ))}
        </ol>
      )}
    </List>
  );
}

function RunFigures({ run }: { run: Schemas["Run"] }) {
  const parts = { input: run.input, output: run.output, error: run.error };
  return (
    <>
      <Details rows={[
        [T.terms.agentType, <Name>{run.agent_type}</Name>],
        [T.terms.instance, run.instance_id ? <Name>{run.instance_id}</Name> : "–"],
        [T.terms.status, toWord(run.status)],
        [T.terms.started, <Sentence text={T.terms.timeBy} of={{ time: <Time>{run.created_at}</Time>, who: <Name>{run.created_by}</Name> }} />],
        [T.terms.ended, <Time>{run.ended_at}</Time>],
        [T.runs.keptUntil, <Time>{run.expires_at}</Time>],
        [T.terms.id, <><ShortId>{run.id}</ShortId> <CopyButton text={run.id} /></>],
      ]} />
      {run.omitted && <p className="notice">{T.runs.omitted(run.omitted.join(", "))}</p>}
      {Object.entries(parts).filter(([, value]) => value !== undefined && value !== null).map(([name, value]) => {
        const title = T.runs.parts[name as keyof typeof parts];
        return <section key={name} aria-label={title}><h2>{title}</h2><Readable label={title} value={value} /></section>;
      })}
    </>
  );
}
