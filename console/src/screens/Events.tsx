/** Events of logs, newest first. */

import { api, read, type Schemas } from "../api/client";
import { List, Table, usePages } from "../ui/data";
import { toHref } from "../ui/location";
import { Name, Time } from "../ui/text";
import type { Entry } from "./entries";

export type Event = Schemas["Event"];
export type LogName = { log: "agent" | "intent" | "namespace"; name: string };
export type EventFilters = { type?: Event["type"]; actor?: string; entry_id?: string; from?: string; to?: string };

const PAGE = 100;

function readLog({ log, name }: LogName, filters: EventFilters, after: string | undefined) {
  const query = { ...filters, order: "desc", limit: PAGE, after } as const;
  switch (log) {
    case "agent":
      return read(api.GET("/api/v1/agents/{agent_id}/events", { params: { path: { agent_id: name }, query } }));
    case "intent":
      return read(api.GET("/api/v1/intents/{intent_id}/events", { params: { path: { intent_id: name }, query } }));
    case "namespace":
      return read(api.GET("/api/v1/memory/namespaces/{namespace}/events", { params: { path: { namespace: name }, query } }));
  }
}

export function useEvents(log: LogName, filters: EventFilters, refresh: number | false) {
  return usePages(["events", log, filters], (after) => readLog(log, filters, after), { enabled: log.name !== "", refresh });
}

/** The log that an entry's events stand in. */
function findLog(entry: Entry): LogName {
  if (entry.scope.intent_id) return { log: "intent", name: entry.scope.intent_id };
  if (entry.memory_type === "semantic") return { log: "namespace", name: entry.namespace };
  return { log: "agent", name: entry.agent_id };
}

export function EntryEvents({ entry }: { entry: Entry }) {
  const log = findLog(entry);
  const pages = useEvents(log, { entry_id: entry.id }, false);
  return (
    <section aria-labelledby="events">
      <h2 id="events">What happened to it</h2>
      <List pages={pages} items={(page) => page.events} empty="The log has no event of it that you may read.">
        {(events) => <EventTable events={events} />}
      </List>
      <p><a href={toHref(["timeline"], log)}>The whole log of {log.log} <Name>{log.name}</Name></a></p>
    </section>
  );
}

export function EventTable({ events }: { events: Event[] }) {
  return (
    <Table label="Events" head={["When", "What", "Entry", "By", "Owner", "Task"]}>
      {events.map((event) => (
        <tr key={event.id}>
          <td><Time>{event.timestamp}</Time></td>
          <td><span className="event" data-type={event.type}>{event.type.replace("memory.", "")}</span></td>
          <td><EventEntry event={event} /></td>
          <td><Name>{event.actor.id}</Name></td>
          <td><Name>{event.agent_id}</Name></td>
          <td>{event.task_id ? <Name>{event.task_id}</Name> : "–"}</td>
        </tr>
      ))}
    </Table>
  );
}

function EventEntry({ event: { data, type } }: { event: Event }) {
  const get = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : undefined);
  const id = get("entry_id");
  const name = <><Name>{get("namespace") ?? ""}</Name> / <Name>{get("key") ?? ""}</Name></>;
  if (type === "memory.archived") return <>{String(data.entries_archived)} entries of a task</>;
  const isThere = type === "memory.created" || type === "memory.updated";
  return id && isThere ? <a href={toHref(["entry", id])}>{name}</a> : name;
}
