import { useState } from "react";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { List } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { useAgentIds, useIntentIds, useNamespaceNames, useWho } from "./choices";
import { EventBars } from "./EventBars";
import { EventTable, useEvents, useNewEvents, type Event, type EventFilters, type LogName } from "./Events";

const LOGS = { agent: "agent", intent: "intent", namespace: "namespace" };
const TYPES = ["created", "updated", "deleted", "archived", "evicted", "expired"];
const OVERLAP_MS = 60_000; // by which clocks may differ

/** What happened, newest first, from the log in the address; it follows what happens next. */
export function TimelineScreen({ params }: { params: URLSearchParams }) {
  const names = { agent: useAgentIds(), intent: useIntentIds(), namespace: useNamespaceNames() };
  const who = useWho();
  const get = (name: string) => params.get(name) ?? undefined;
  const log: LogName = { log: (get("log") ?? "agent") as LogName["log"], name: get("name") ?? names.agent[0] ?? "" };
  const [kind, setKind] = useState(log.log);
  const filters: EventFilters = { type: get("type") as Event["type"] | undefined, actor: get("actor") };
  const types = Object.fromEntries(TYPES.map((each) => [`memory.${each}`, each]));
  return (
    <>
      <form className="filters" key={log.name} onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["timeline"], readForm(event.currentTarget)));
      }}>
        <ChoiceField label="Log of" name="log" initial={log.log} options={LOGS} onChange={(chosen) => setKind(chosen as LogName["log"])} />
        <TextField label="Its id or name" name="name" initial={log.name} options={names[kind]} required />
        <ChoiceField label="What happened" name="type" initial={filters.type} options={{ "": "all", ...types }} />
        <TextField label="Who did it" name="actor" initial={filters.actor} options={who} />
        <div className="actions"><button type="submit" className="primary">Show</button></div>
      </form>
      {log.name === "" ? <p className="empty">Choose a log.</p> : <Log log={log} filters={filters} />}
    </>
  );
}

type LogProps = { log: LogName; filters: EventFilters; only?: { task_id: string } };

/** A log, newest first, or what of it is about one task; what happens next joins it. */
export function Log({ log, filters, only }: LogProps) {
  const [isFollowing, setFollowing] = useState(true);
  const pages = useEvents(log, filters);
  const loaded = pages.data?.pages[0];
  const [since, setSince] = useState<string>();
  if (since === undefined && loaded) setSince(loaded.events[0]?.timestamp ?? new Date(Date.now() - OVERLAP_MS).toISOString());
  const select = (events: Event[]) => (only ? events.filter((each) => each.task_id === only.task_id) : events);
  const newer = select(useNewEvents(log, filters, isFollowing ? since : undefined));
  const withNewer = (older: Event[]) => {
    const known = new Set(older.map(({ id }) => id));
    return [...newer.filter(({ id }) => !known.has(id)), ...older];
  };
  return (
    <>
      <label className="check">
        <input type="checkbox" checked={isFollowing} onChange={(event) => setFollowing(event.target.checked)} />
        Follow what happens
      </label>
      <List pages={pages} items={(page) => select(page.events)} also={newer.length} empty="Nothing has happened that this log still has.">
        {(events) => { const all = withNewer(events); return all.length > 0 && <><EventBars events={all} /><EventTable events={all} /></>; }}
      </List>
    </>
  );
}
