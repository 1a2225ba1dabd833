import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { Details, Loaded, Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Id, LongText, Name, Tags, Time } from "../ui/text";

const PAGE = 100;
const REFRESH_MS = 5_000;

/** The OpenWOP runs that the caller started; who knows the id of another one looks it up. */
export function MemoryRunsScreen() {
  const pages = usePages(["memory runs"], (after) =>
    read(api.GET("/v1/runs", { params: { query: { after, limit: PAGE } } })), { refresh: REFRESH_MS },
  );
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["memory-run", readForm(event.currentTarget).id ?? ""]));
      }}>
        <TextField label="Run’s id" name="id" required hint="runId of the answer that started it" />
        <div className="actions"><button type="submit" className="primary">Open</button></div>
      </form>
      <p>An OpenWOP run reads a snapshot of its memory. Here you see what it saw: of the runs that you started, and of those whose id you know.</p>
      <List pages={pages} items={(page) => page.runs} empty="You have started no run whose snapshot is still kept.">
        {(runs) => (
          <Table label="OpenWOP runs" head={["Started", "Run", "State", "Ends", "Snapshot of", "Replay of"]}>
            {runs.map((run) => (
              <tr key={run.runId}>
                <td><Time>{run.startedAt}</Time></td>
                <th scope="row"><a href={toHref(["memory-run", run.runId])}><Id>{run.runId}</Id></a></th>
                <td>{run.state}</td>
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
          <h2>What it saw</h2>
          <p className="actions">
            {run.memoryRefs.map((each, at) => (
              <button key={each} type="button" aria-pressed={shown === each} onClick={() => setShown(each)}>
                {run.memoryRefs.length === 1 ? "Show what it saw" : `Show memory ${at + 1}`}
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
      ["Run", <Name>{run.runId}</Name>],
      ["State", run.state],
      ["Started", <><Time>{run.startedAt}</Time> by <Name>{run.startedBy}</Name></>],
      ["Snapshot of", <Time>{run.snapshotAt}</Time>],
      ["Ends", <Time>{run.endsAt}</Time>],
      ["Snapshot kept until", <Time>{run.snapshotKeptUntil}</Time>],
      ["Replay", run.isReplayable ? "possible" : "not possible"],
      ["Replay of", run.replayOf ? <a href={toHref(["memory-run", run.replayOf])}><Name>{run.replayOf}</Name></a> : "–"],
      ["When a secret is put", run.onSecret === "reject" ? "the put is refused" : "it is redacted"],
      ["Secrets, by label", <Tags tags={run.secrets} />],
    ]} />
  );
}

function SeenEntries({ id, memoryRef }: { id: string; memoryRef: string | undefined }) {
  const pages = usePages(["seen", id, memoryRef], (before) =>
    read(api.GET("/v1/runs/{runId}/entries", { params: { path: { runId: id }, query: { memoryRef, before, limit: 50 } } })),
  );
  return (
    <List pages={pages} items={(page) => page.entries} empty="It saw nothing: its memory was empty.">
      {(entries) => (
        <ol className="messages">
          {entries.map((entry) => (
            <li key={entry.id} className="card">
              <h3><Time>{entry.createdAt}</Time>{entry.putBy && <> by <Name>{entry.putBy}</Name></>}</h3>
              {entry.tags.length > 0 && <Tags tags={entry.tags} />}
              {entry.putIn && <p>{entry.putIn === id ? "Put in this run" : <>Put in run <a href={toHref(["memory-run", entry.putIn])}><Name>{entry.putIn}</Name></a></>}</p>}
              {entry.deletedAt && <p>Deleted since, at <Time>{entry.deletedAt}</Time>.</p>}
              {entry.content !== undefined && <LongText label="What it saw" text={entry.content} />}
            </li>
          ))}
        </ol>
      )}
    </List>
  );
}
