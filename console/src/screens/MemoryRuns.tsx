import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { T, toWord } from "../texts";
import { Details, Loaded, Table } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Id, LongText, Name, Sentence, Tags, Time } from "../ui/text";

const PAGE = 100;
const REFRESH_MS = 5_000;

/** The OpenWOP runs that the caller started; who knows the id of another one looks it up. */
export function MemoryRunsScreen({ params }: { params: URLSearchParams }) {
  const pages = usePages(["memory runs"], (after) =>
    read(api.GET("/v1/runs", { params: { query: { after, limit: PAGE } } })), { refresh: REFRESH_MS },
  );
  return (
    <>
      <FilterBar path={["memory-runs"]} params={params} filters={{ open: { param: "", open: (id) => toHref(["memory-run", id]), example: "run_…" } }} />
      <p className="hint">{T.memoryRuns.intro}</p>
      <List pages={pages} items={(page) => page.runs} empty={T.memoryRuns.none}>
        {(runs) => (
          <Table label={T.memoryRuns.title} head={[T.terms.started, T.terms.run, T.terms.state, T.terms.ends, T.memoryRuns.snapshot, T.memoryRuns.replayOf]}>
            {runs.map((run) => (
              <tr key={run.runId}>
                <td><Time>{run.startedAt}</Time></td>
                <th scope="row"><a href={toHref(["memory-run", run.runId])}><Id>{run.runId}</Id></a></th>
                <td>{toWord(run.state)}</td>
                <td><Time>{run.endsAt}</Time></td>
                <td><Time>{run.snapshotAt}</Time></td>
                <td>{run.replayOf ? <a href={toHref(["memory-run", run.replayOf])}><Id>{run.replayOf}</Id></a> : "–"}</td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </>
  );
}

/** One OpenWOP run: its state, and on demand what it saw. */
export function MemoryRunScreen({ id }: { id: string }) {
  const [shown, setShown] = useState<string>();
  const query = useQuery({
    queryKey: ["memory run", id],
    queryFn: () => read(api.GET("/v1/runs/{runId}", { params: { path: { runId: id } } })),
  });
  return (
    <Loaded query={query}>
      {(run) => (
        <>
          <RunState run={run} />
          <h2>{T.memoryRuns.saw}</h2>
          <p className="actions">
            {run.memoryRefs.map((each, at) => (
              <button key={each} type="button" aria-pressed={shown === each} onClick={() => setShown(each)}>
                {run.memoryRefs.length === 1 ? T.memoryRuns.showSeen : T.memoryRuns.showPart(at + 1)}
              </button>
            ))}
          </p>
          {shown !== undefined && <SeenEntries id={id} memoryRef={run.memoryRefs.length === 1 ? undefined : shown} />}
        </>
      )}
    </Loaded>
  );
}

function RunState({ run }: { run: Schemas["MemoryRunState"] }) {
  return (
    <Details rows={[
      [T.terms.run, <Name>{run.runId}</Name>],
      [T.terms.state, toWord(run.state)],
      [T.terms.started, <Sentence text={T.terms.timeBy} of={{ time: <Time>{run.startedAt}</Time>, who: <Name>{run.startedBy}</Name> }} />],
      [T.memoryRuns.snapshot, <Time>{run.snapshotAt}</Time>],
      [T.terms.ends, <Time>{run.endsAt}</Time>],
      [T.memoryRuns.keptUntil, <Time>{run.snapshotKeptUntil}</Time>],
      [T.memoryRuns.replay, run.isReplayable ? T.memoryRuns.possible : T.memoryRuns.impossible],
      [T.memoryRuns.replayOf, run.replayOf ? <a href={toHref(["memory-run", run.replayOf])}><Name>{run.replayOf}</Name></a> : "–"],
      [T.memoryRuns.onSecret, run.onSecret === "reject" ? T.memoryRuns.rejects : T.memoryRuns.redacts],
      [T.memoryRuns.secrets, <Tags tags={run.secrets} />],
    ]} />
  );
}

function SeenEntries({ id, memoryRef }: { id: string; memoryRef: string | undefined }) {
  const pages = usePages(["seen", id, memoryRef], (before) =>
    read(api.GET("/v1/runs/{runId}/entries", { params: { path: { runId: id }, query: { memoryRef, before, limit: 50 } } })),
  );
  return (
    <List pages={pages} items={(page) => page.entries} empty={T.memoryRuns.empty}>
      {(entries) => (
        <ol className="messages">
          {entries.map((entry) => (
            <li key={entry.id} className="card">
              <h3>{entry.putBy ? <Sentence text={T.terms.timeBy} of={{ time: <Time>{entry.createdAt}</Time>, who: <Name>{entry.putBy}</Name> }} /> : <Time>{entry.createdAt}</Time>}</h3>
              {entry.tags.length > 0 && <Tags tags={entry.tags} />}
              {entry.putIn && <p>{entry.putIn === id ? T.memoryRuns.putHere : <Sentence text={T.memoryRuns.putIn} of={{ run: <a href={toHref(["memory-run", entry.putIn])}><Name>{entry.putIn}</Name></a> }} />}</p>}
              {entry.deletedAt && <p><Sentence text={T.memoryRuns.deletedSince} of={{ time: <Time>{entry.deletedAt}</Time> }} /></p>}
              {entry.content !== undefined && <LongText label={T.memoryRuns.saw} text={entry.content} />}
            </li>
          ))}
        </ol>
      )}
    </List>
  );
}
