/** A consolidation of facts: its preview, the result of the last one, and how to undo it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { reload } from "../api/reload";
import { T } from "../texts";
import { Loaded } from "../ui/data";
import { ConfirmDialog } from "../ui/form";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Empty } from "../ui/memory";
import { Time } from "../ui/text";
import { FactItem } from "./Facts";

const POLL_MS = 1_000;
const PAGE = 50;

type Kind = "merged" | "ended" | "weakened";
type Steps = Record<Kind, Schemas["ConsolidationStep"][]>;
type Step = Schemas["ConsolidationStep"] & { kind: Kind };

export function ConsolidationScreen() {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const settings = useQuery({ queryKey: ["consolidation", "settings"], queryFn: () => read(api.GET("/api/v1/consolidation/settings")) });
  const preview = useQuery({
    queryKey: ["suggestions"],
    queryFn: () => read(api.POST("/api/v1/consolidation", { body: { dry_run: true } })) as Promise<Schemas["ConsolidationPreview"]>,
  });
  return (
    <>
      <p className="hint">{T.consolidation.intro}</p>
      <h2>{T.consolidation.suggestions}</h2>
      <Loaded query={preview}>
        {(found) => {
          const steps = listSteps(found);
          return steps.length === 0 ? <Empty title={T.consolidation.none} hint={T.consolidation.noneHint(found.examined)} /> : (
            <>
              <StepList steps={steps} kinds={T.consolidation.kinds} />
              {!found.complete && <p className="hint">{T.consolidation.incomplete(found.examined)}</p>}
              <button type="button" className="primary" onClick={() => setAsking(true)}>{T.consolidation.apply}</button>
            </>
          );
        }}
      </Loaded>
      <Loaded query={settings}>{({ last_run }) => (last_run === null ? null : <LastRun key={last_run} id={last_run} />)}</Loaded>
      {isAsking && (
        <ConfirmDialog title={T.consolidation.applyTitle} action={T.consolidation.applyNow} onClose={() => setAsking(false)} onConfirm={async () => {
          await read(api.POST("/api/v1/consolidation", { body: {} }));
          await reload(client, "consolidation", "facts");
        }}>
          <p>{T.consolidation.applyHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** The last consolidation: it follows its work, and offers to undo it. */
function LastRun({ id }: { id: string }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const params = { path: { id } };
  const run = useQuery({
    queryKey: ["consolidation", id],
    queryFn: async () => {
      const found = await read(api.GET("/api/v1/consolidation/{id}", { params: { ...params, query: { limit: 1 } } }));
      if (isAtWork(found.status)) return found;
      await reload(client, "suggestions", "facts", "fact", "consolidated");
      return found;
    },
    refetchInterval: ({ state }) => (state.data && !isAtWork(state.data.status) ? false : POLL_MS),
  });
  const pages = usePages(["consolidated", id], (after) =>
    read(api.GET("/api/v1/consolidation/{id}", { params: { ...params, query: { after, limit: PAGE } } })));
  return (
    <section aria-labelledby="last-run">
      <h2 id="last-run">{T.consolidation.last}</h2>
      <Loaded query={run}>
        {({ status, started_at, finished_at }) => (
          <p className="quiet">
            <span className="badge">{T.consolidation.states[status]}</span>
            <Time>{finished_at ?? started_at}</Time>
            {status === "done" && <button type="button" className="plain-button" onClick={() => setAsking(true)}>{T.consolidation.undo}</button>}
          </p>
        )}
      </Loaded>
      <List pages={pages} items={listSteps} empty={T.consolidation.nothingDone}>{(steps) => <StepList steps={steps} kinds={T.consolidation.did} />}</List>
      {isAsking && (
        <ConfirmDialog title={T.consolidation.undoTitle} action={T.consolidation.undoNow} onClose={() => setAsking(false)} onConfirm={async () => {
          await read(api.POST("/api/v1/consolidation/{id}/undo", { params }));
          await reload(client, "consolidation");
        }}>
          <p>{T.consolidation.undoHint}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function isAtWork(status: string): boolean {
  return status === "running" || status === "undoing";
}

function listSteps(found: Steps): Step[] {
  return (["merged", "ended", "weakened"] as const).flatMap((kind) => found[kind].map((step) => ({ ...step, kind })));
}

function StepList({ steps, kinds }: { steps: Step[]; kinds: Record<Kind, string> }) {
  return (
    <ol className="memories">
      {steps.map(({ kind, reason, facts, kept, undone }, at) => (
        <li key={`${facts[0]?.fact_id} ${at}`}>
          <p className="quiet">
            <span className="badge">{kinds[kind]}</span>
            <span>{T.consolidation.reasons[reason]}</span>
            {kept && <a href={toHref(["fact", kept])}>{T.consolidation.kept}</a>}
            {undone && <span className="tag">{T.consolidation.undone}</span>}
          </p>
          {facts.map((fact) => <FactItem key={fact.fact_id} fact={fact} />)}
        </li>
      ))}
    </ol>
  );
}
