/** Entries in lists: never with their values. */

import type { QueryClient } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { Table } from "../ui/data";
import { toHref } from "../ui/location";
import { Name, Tags, Time } from "../ui/text";

export type Entry = Schemas["Entry"];

export const TIERS = { working: "working", episodic: "episodic", semantic: "semantic" };

/** Whether a value is shown only to who asks for it. */
export function isSensitive({ sensitivity }: Entry): boolean {
  return sensitivity === "confidential" || sensitivity === "restricted";
}

/** Keep what a list said of entries: the entry's screen knows by it what is sensitive. */
export function rememberHeads(client: QueryClient, entries: Entry[]): void {
  for (const { value: _, ...head } of entries) client.setQueryData(["head", head.id], head);
}

/** Read an entry with its value, without a trace in the order of eviction. */
export function readEntry(id: string): Promise<Entry> {
  return read(api.GET("/api/v1/memory/{id}", { params: { path: { id }, query: { touch: false } } }));
}

export function EntryTable({ entries }: { entries: Entry[] }) {
  return (
    <Table label="Entries" head={["Namespace", "Key", "Tier", "Owner", "Tags", "Version", "Changed", "Expires", "Sensitivity"]}>
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td><Name>{entry.namespace}</Name></td>
          <th scope="row"><a href={toHref(["entry", entry.id])}><Name>{entry.key}</Name></a></th>
          <td>{entry.memory_type}{entry.pinned && " · pinned"}</td>
          <td><Name>{entry.agent_id}</Name></td>
          <td><Tags tags={entry.tags} /></td>
          <td className="number">{entry.version}</td>
          <td><Time>{entry.updated_at}</Time></td>
          <td><Time>{entry.expires_at}</Time></td>
          <td>{entry.sensitivity ?? "–"}</td>
        </tr>
      ))}
    </Table>
  );
}
