import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ifMatch } from "../api/client";
import { keepsNumbers, renderValue } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";
import { Details, Loaded } from "../ui/data";
import { ConfirmDialog } from "../ui/form";
import { toHref } from "../ui/location";
import { cut, describe } from "../ui/memory";
import { Id, LongText, Name, Tags, Time } from "../ui/text";
import { Correct, findTextField } from "./Correct";
import { EntryEditor } from "./EntryEditor";
import { findHead, forgetHead, isOrdinary, isSensitive, readEntry, type Entry } from "./entries";
import { EntryHistory } from "./EntryHistory";
import { EntryEvents } from "./Events";

const MOST_CHARACTERS = 2_000;

/** One entry. A sensitive value is fetched when somebody asks for it, and not before. */
export function EntryScreen({ id }: { id: string }) {
  const client = useQueryClient();
  const head = findHead(id);
  const [isAsked, setAsked] = useState(false);
  const [isDeleted, setDeleted] = useState(false);
  const isOpen = isAsked || isOrdinary(id);
  const query = useQuery({ queryKey: ["entry", id], queryFn: () => readEntry(id), enabled: isOpen && !isDeleted, gcTime: 0 });
  if (isDeleted) return <p role="status">The entry is deleted. <a href={toHref(["memory"])}>Back to memory</a></p>;
  if (!isOpen) return (
    <>
      {head && <EntryDetails entry={head} />}
      <p className="notice">
        {head ? `This value is ${head.sensitivity}.` : "This value may be sensitive."} It isn&rsquo;t loaded yet.
      </p>
      <button type="button" className="primary" onClick={() => setAsked(true)}>Show the value</button>
    </>
  );
  return (
    <Loaded query={query}>
      {(entry) => (
        <EntryWithValue entry={entry} isHidden={isSensitive(entry) && !isAsked} onShow={() => setAsked(true)} onDeleted={() => {
          setDeleted(true);
          forgetHead(id);
          void reload(client, "entries");
        }} />
      )}
    </Loaded>
  );
}

type Props = { entry: Entry; isHidden: boolean; onShow: () => void; onDeleted: () => void };

function EntryWithValue({ entry, isHidden, onShow, onDeleted }: Props) {
  const mayWrite = can(usePrincipal(), "memory.write");
  const [mode, setMode] = useState<"look" | "correct" | "edit" | "delete">("look");
  const look = () => setMode("look");
  const isShown = !isHidden && entry.value !== undefined;
  return (
    <div className="columns">
      <div>
        {mode === "correct" ? <Correct entry={entry} onClose={look} /> : mode === "edit" ? <EntryEditor entry={entry} onClose={look} />
          : isShown ? <p className="said large" dir="auto">{cut(describe(entry.value), MOST_CHARACTERS)}</p> : null}
        {isHidden && <button type="button" onClick={onShow}>{T.entry.showSensitive(entry.sensitivity ?? "")}</button>}
        {!isHidden && entry.value === undefined && <p className="empty">{T.memory.noValue}</p>}
        <Origin entry={entry} />
        {(mode === "look" || mode === "delete") && mayWrite && !isHidden && (
          <div className="actions">
            {keepsNumbers && findTextField(entry.value) && <button type="button" onClick={() => setMode("correct")}>{T.entry.correct}</button>}
            {keepsNumbers && isShown && <button type="button" onClick={() => setMode("edit")}>{T.entry.edit}</button>}
            <button type="button" className="danger" onClick={() => setMode("delete")}>{T.entry.delete}</button>
          </div>
        )}
        {mode === "delete" && <DeleteDialog entry={entry} onClose={look} onDeleted={onDeleted} />}
        {isShown && <EntryHistory entry={entry} />}
        <EntryEvents entry={entry} />
      </div>
      <aside aria-label={T.entry.details}>
        <h2>{T.entry.value}</h2>
        {isShown && <LongText label={T.entry.value} text={renderValue(entry.value)} />}
        <EntryDetails entry={entry} />
        <p><a href={toHref(["access"], { kind: "entry", id: entry.id })}>{T.entry.whoMayRead}</a></p>
      </aside>
    </div>
  );
}

/** Where a memory comes from, as sentences. */
function Origin({ entry }: { entry: Entry }) {
  const { task_id, intent_id } = entry.scope;
  return (
    <p className="quiet">
      <span>{T.memory.by} <a href={toHref(["agent", entry.curated_by ?? entry.created_by])}><Name>{entry.curated_by ?? entry.created_by}</Name></a></span>
      <span>{T.entry.happened} <Time>{entry.occurred_at}</Time></span>
      {entry.updated_at !== entry.created_at && <span>{T.entry.corrected} <Time>{entry.updated_at}</Time></span>}
      {task_id && <span>{T.entry.inTask} <a href={toHref(["task", task_id])}><Name>{task_id}</Name></a></span>}
      {intent_id && <a href={toHref(["intent", intent_id])}><Name>{intent_id}</Name></a>}
      {entry.tags.map((tag) => <a key={tag} className="tag" href={toHref(["memory"], { tags: tag })}><Name>{tag}</Name></a>)}
    </p>
  );
}

function EntryDetails({ entry }: { entry: Entry }) {
  const { task_id, intent_id } = entry.scope;
  return (
    <Details rows={[
      ["Namespace", <a href={toHref(["memory"], { namespace: entry.namespace, agent_id: entry.memory_type === "semantic" ? undefined : entry.agent_id })}><Name>{entry.namespace}</Name></a>],
      ["Key", <Name>{entry.key}</Name>],
      ["Tier", entry.memory_type],
      ["Owner", <a href={toHref(["agent", entry.agent_id])}><Name>{entry.agent_id}</Name></a>],
      ["Created", <><Time>{entry.created_at}</Time> by <Name>{entry.created_by}</Name></>],
      ["Changed", <><Time>{entry.updated_at}</Time>{entry.curated_by && <> by <Name>{entry.curated_by}</Name></>}</>],
      ["Version", entry.version],
      ["Expires", <Time>{entry.expires_at}</Time>],
      ["Sensitivity", entry.sensitivity ?? "–"],
      ["Tags", <Tags tags={entry.tags} />],
      ["Task", task_id ? <a href={toHref(["task", task_id])}><Name>{task_id}</Name></a> : "–"],
      ["Intent", intent_id ? <a href={toHref(["intent", intent_id])}><Name>{intent_id}</Name></a> : "–"],
      ...(entry.memory_type === "episodic"
        ? [["Eviction", entry.pinned ? "pinned: never evicted" : `priority ${entry.priority}`] as [string, string]] : []),
      ["Id", <Id>{entry.id}</Id>],
    ]} />
  );
}

function DeleteDialog({ entry, onClose, onDeleted }: { entry: Entry; onClose: () => void; onDeleted: () => void }) {
  return (
    <ConfirmDialog title="Delete this entry?" action="Delete for good" onClose={onClose} onConfirm={async () => {
      await api.DELETE("/api/v1/memory/{id}", { params: { path: { id: entry.id }, header: ifMatch(entry.version) } });
      onDeleted();
    }}>
      <p>
        Version {entry.version} of <Name>{entry.key}</Name> in <Name>{entry.namespace}</Name>, which belongs to{" "}
        <Name>{entry.agent_id}</Name>, is removed. Nobody can bring it back. The log keeps that it was there, without its value.
      </p>
    </ConfirmDialog>
  );
}
