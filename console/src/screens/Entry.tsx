import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ifMatch } from "../api/client";
import { keepsNumbers, renderValue } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { T, toWord } from "../texts";
import { Details, Loaded } from "../ui/data";
import { ConfirmDialog } from "../ui/form";
import { toHref } from "../ui/location";
import { cut, describe } from "../ui/memory";
import { Id, LongText, Name, Sentence, Tags, Time } from "../ui/text";
import { Uses } from "../ui/uses";
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
  if (isDeleted) return <p role="status">{T.entry.deleted} <a href={toHref(["memory"])}>{T.entry.back}</a></p>;
  if (!isOpen) return (
    <>
      {head && <EntryDetails entry={head} />}
      <p className="notice">{head ? T.entry.isSensitive(toWord(head.sensitivity ?? "")) : T.entry.maybeSensitive}</p>
      <button type="button" className="primary" onClick={() => setAsked(true)}>{T.actions.showValue}</button>
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
        <Uses reference={`e.${entry.id}`} />
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

/** The origin of a memory, as sentences. */
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
      [T.terms.namespace, <a href={toHref(["memory"], { namespace: entry.namespace, agent_id: entry.memory_type === "semantic" ? undefined : entry.agent_id })}><Name>{entry.namespace}</Name></a>],
      [T.terms.key, <Name>{entry.key}</Name>],
      [T.terms.tier, toWord(entry.memory_type)],
      [T.terms.owner, <a href={toHref(["agent", entry.agent_id])}><Name>{entry.agent_id}</Name></a>],
      [T.terms.created, <Sentence text={T.terms.timeBy} of={{ time: <Time>{entry.created_at}</Time>, who: <Name>{entry.created_by}</Name> }} />],
      [T.terms.changed, <Sentence text={T.terms.timeBy} of={{ time: <Time>{entry.updated_at}</Time>, who: <Name>{entry.curated_by ?? entry.created_by}</Name> }} />],
      [T.terms.version, entry.version],
      [T.terms.expires, <Time>{entry.expires_at}</Time>],
      [T.terms.sensitivity, toWord(entry.sensitivity ?? T.terms.nothing)],
      [T.terms.tags, <Tags tags={entry.tags} />],
      [T.terms.task, task_id ? <a href={toHref(["task", task_id])}><Name>{task_id}</Name></a> : "–"],
      [T.terms.intent, intent_id ? <a href={toHref(["intent", intent_id])}><Name>{intent_id}</Name></a> : "–"],
      ...(entry.memory_type === "episodic"
        ? [[T.entry.eviction, entry.pinned ? T.entry.neverEvicted : T.agents.priority(toWord(entry.priority))] as [string, string]] : []),
      [T.terms.id, <Id>{entry.id}</Id>],
    ]} />
  );
}

function DeleteDialog({ entry, onClose, onDeleted }: { entry: Entry; onClose: () => void; onDeleted: () => void }) {
  return (
    <ConfirmDialog title={T.entry.deleteTitle} action={T.actions.deleteNow} onClose={onClose} onConfirm={async () => {
      await api.DELETE("/api/v1/memory/{id}", { params: { path: { id: entry.id }, header: ifMatch(entry.version) } });
      onDeleted();
    }}>
      <p>
        <Sentence text={T.entry.deleteWarning} of={{
          version: entry.version, key: <Name>{entry.key}</Name>, namespace: <Name>{entry.namespace}</Name>, owner: <Name>{entry.agent_id}</Name>,
        }} />
      </p>
    </ConfirmDialog>
  );
}
