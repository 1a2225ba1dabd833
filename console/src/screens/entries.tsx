/** Entries in lists: never with their values. */

import { memo } from "react";
import { api, read, type Schemas } from "../api/client";
import { getSession, subscribe } from "../session/session";
import { T, toWord, toWords } from "../texts";
import { Table } from "../ui/data";
import { toHref } from "../ui/location";
import { Name, Tags, Time } from "../ui/text";

export type Entry = Schemas["Entry"];

export const TIERS = toWords("working", "episodic", "semantic");

/** True if a value is shown only to those who ask for it. */
export function isSensitive({ sensitivity }: Entry): boolean {
  return sensitivity === "confidential" || sensitivity === "restricted";
}

const heads = new Map<string, Entry>();
const ordinary = new Set<string>();
const MOST_HEADS = 1000;

subscribe(() => {
  if (getSession().principal === undefined) {
    heads.clear();
    ordinary.clear();
  }
});

/** Keep what a list said of its last entries: the entry's screen knows by it what is sensitive. */
export function rememberHeads(entries: Entry[]): void {
  for (const { value: _, ...head } of entries) {
    heads.delete(head.id);
    heads.set(head.id, head);
  }
  for (const id of heads.keys()) {
    if (heads.size <= MOST_HEADS) break;
    heads.delete(id);
  }
}

/** Keep that entries were found by recall, which never finds sensitive ones. */
export function rememberOrdinary(ids: string[]): void {
  for (const id of ids) ordinary.add(id);
}

/** True if an entry is known not to be sensitive. */
export function isOrdinary(id: string): boolean {
  const head = heads.get(id);
  return head === undefined ? ordinary.has(id) : !isSensitive(head);
}

/** Find what a list said of an entry. */
export function findHead(id: string): Entry | undefined {
  return heads.get(id);
}

/** Forget what a list said of an entry that is gone. */
export function forgetHead(id: string): void {
  heads.delete(id);
}

/** Read an entry with its value, without a trace in the order of eviction. */
export function readEntry(id: string): Promise<Entry> {
  return read(api.GET("/api/v1/memory/{id}", { params: { path: { id }, query: { touch: false } } }));
}

export function EntryTable({ entries, label = T.terms.entries }: { entries: Entry[]; label?: string }) {
  return (
    <Table label={label} head={[T.terms.namespace, T.terms.key, T.terms.tier, T.terms.owner, T.terms.tags, T.terms.version, T.terms.changed, T.terms.expires, T.terms.sensitivity]}>
      {entries.map((entry) => <EntryRow key={entry.id} entry={entry} />)}
    </Table>
  );
}

/** A row stays as it is when others come and go. */
const EntryRow = memo(function EntryRow({ entry }: { entry: Entry }) {
  return (
    <tr>
      <td><Name>{entry.namespace}</Name></td>
      <th scope="row"><a href={toHref(["entry", entry.id])}><Name>{entry.key}</Name></a></th>
      <td>{toWord(entry.memory_type)}{entry.pinned && ` · ${T.memory.pinned}`}</td>
      <td><Name>{entry.agent_id}</Name></td>
      <td><Tags tags={entry.tags} /></td>
      <td className="number">{entry.version}</td>
      <td><Time>{entry.updated_at}</Time></td>
      <td><Time>{entry.expires_at}</Time></td>
      <td>{toWord(entry.sensitivity ?? T.terms.nothing)}</td>
    </tr>
  );
});
