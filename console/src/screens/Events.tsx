/** Events of logs, newest first. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { memo } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { T, toWord } from "../texts";
import { Table } from "../ui/data";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Expandable, LongText, Name, Sentence, Time } from "../ui/text";
import type { Entry } from "./entries";

export type Event = Schemas["Event"];
export type LogName = { log: "agent" | "intent" | "namespace"; name: string };
export type EventFilters = { type?: Event["type"]; actor?: string; entry_id?: string; from?: string; to?: string };

const PAGE = 100;
const FOLLOW_MS = 2_000;
const MOST_NEW = 1_000;

type Order = { order: "asc" | "desc"; after?: string };

function readLog({ log, name }: LogName, filters: EventFilters, order: Order) {
  const query = { ...filters, ...order, limit: PAGE };
  switch (log) {
    case "agent":
      return read(api.GET("/api/v1/agents/{agent_id}/events", { params: { path: { agent_id: name }, query } }));
    case "intent":
      return read(api.GET("/api/v1/intents/{intent_id}/events", { params: { path: { intent_id: name }, query } }));
    case "namespace":
      return read(api.GET("/api/v1/memory/namespaces/{namespace}/events", { params: { path: { namespace: name }, query } }));
  }
}

export function useEvents(log: LogName, filters: EventFilters) {
  return usePages(["events", log, filters], (after) => readLog(log, filters, { order: "desc", after }), { enabled: log.name !== "" });
}

type Followed = { events: Event[]; next?: string };

/** Read on from where the last look at a log ended, while the page can be seen; newest first. */
export function useNewEvents(log: LogName, filters: EventFilters, since: string | undefined): Event[] {
  const client = useQueryClient();
  const key = ["new events", log, filters, since];
  const query = useQuery<Followed>({
    queryKey: key,
    queryFn: async () => {
      const before = client.getQueryData<Followed>(key) ?? { events: [] };
      const { events, next } = await readLog(log, { ...filters, from: since }, { order: "asc", after: before.next });
      return { events: [...events.reverse(), ...before.events].slice(0, MOST_NEW), next: next ?? before.next };
    },
    enabled: since !== undefined,
    refetchInterval: FOLLOW_MS,
    gcTime: 0,
  });
  return query.data?.events ?? [];
}

/** The log that an entry's events stand in. */
function findLog(entry: Entry): LogName {
  if (entry.scope.intent_id) return { log: "intent", name: entry.scope.intent_id };
  if (entry.memory_type === "semantic") return { log: "namespace", name: entry.namespace };
  return { log: "agent", name: entry.agent_id };
}

export function EntryEvents({ entry }: { entry: Entry }) {
  const log = findLog(entry);
  const pages = useEvents(log, { entry_id: entry.id });
  return (
    <section aria-labelledby="events">
      <h2 id="events">{T.events.title}</h2>
      <List pages={pages} items={(page) => page.events} empty={T.events.none}>
        {(events) => (
          <ol className="plain">
            {events.map((event) => (
              <li key={event.id} className="quiet">
                <span className="event" data-type={event.type}>{toWord(event.type.replace("memory.", ""))}</span>
                {typeof event.data.version === "number" && <span>{T.history.version(event.data.version)}</span>}
                <span>{T.memory.by} <Name>{event.actor.id}</Name></span>
                <Time>{event.timestamp}</Time>
              </li>
            ))}
          </ol>
        )}
      </List>
      <p><a href={toHref(["timeline"], log)}><Sentence text={T.events.whole} of={{ kind: toWord(log.log), name: <Name>{log.name}</Name> }} /></a></p>
    </section>
  );
}

export function EventTable({ events }: { events: Event[] }) {
  return (
    <Table label={T.events.events} head={[T.terms.when, T.terms.event, T.terms.entry, T.terms.version, T.terms.by, T.terms.owner, T.terms.task]}>
      {events.map((event) => <EventRow key={event.id} event={event} />)}
    </Table>
  );
}

const EventRow = memo(function EventRow({ event }: { event: Event }) {
  return (
    <tr>
      <td><Time>{event.timestamp}</Time></td>
      <td><span className="event" data-type={event.type}>{toWord(event.type.replace("memory.", ""))}</span></td>
      <td><EventEntry event={event} /></td>
      <td className="number">{typeof event.data.version === "number" ? event.data.version : "–"}</td>
      <td><Name>{event.actor.id}</Name></td>
      <td><a href={toHref(["agent", event.agent_id])}><Name>{event.agent_id}</Name></a></td>
      <td>{event.task_id ? <a href={toHref(["task", event.task_id])}><Name>{event.task_id}</Name></a> : "–"}</td>
    </tr>
  );
});

function EventEntry({ event: { data, type } }: { event: Event }) {
  const get = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : undefined);
  const id = get("entry_id");
  const name = <><Name>{get("namespace") ?? ""}</Name> / <Name>{get("key") ?? ""}</Name></>;
  if (type === "memory.archived") return (
    <Expandable summary={T.events.ofTask(Number(data.entries_archived))}>
      {() => <LongText label={T.events.archive} text={renderValue(data)} />}
    </Expandable>
  );
  const isThere = type === "memory.created" || type === "memory.updated";
  return id && isThere ? <a href={toHref(["entry", id])}>{name}</a> : name;
}
