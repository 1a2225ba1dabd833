import { useState } from "react";
import { T } from "../texts";
import { FilterBar } from "../ui/filters";
import { List } from "../ui/list";
import { toHref } from "../ui/location";
import { Empty } from "../ui/memory";
import { Name } from "../ui/text";
import { parseTime } from "../ui/time";
import { useAgentIds, useIntentIds, useNamespaceNames, useWho } from "./choices";
import { EventBars } from "./EventBars";
import { EventTable, useEvents, useNewEvents, type Event, type EventFilters, type LogName } from "./Events";

const TYPES = ["created", "updated", "deleted", "archived", "evicted", "expired"].map((each) => `memory.${each}`);
const TIMES = ["today", "yesterday", "7d", "30d"];
const MOST_LOGS = 8; // of a kind
const OVERLAP_MS = 60_000; // by which clocks may differ

/** The events of the log in the address, newest first; new events are added. */
export function TimelineScreen({ params }: { params: URLSearchParams }) {
  const names = { agent: useAgentIds(), intent: useIntentIds(), namespace: useNamespaceNames() };
  const who = useWho();
  const get = (name: string) => params.get(name) ?? undefined;
  const log: LogName = { log: (get("log") ?? "agent") as LogName["log"], name: get("name") ?? names.agent[0] ?? "" };
  const filters: EventFilters = { type: get("type") as Event["type"] | undefined, actor: get("actor"), from: parseTime(get("from")), to: parseTime(get("to")) };
  return (
    <>
      <nav className="quiet" aria-label={T.activity.logs}>
        {T.activity.logs}
        {(Object.keys(names) as LogName["log"][]).flatMap((kind) => names[kind].slice(0, MOST_LOGS).map((name) => (
          <a key={`${kind} ${name}`} href={toHref(["timeline"], { log: kind, name })} aria-current={kind === log.log && name === log.name ? "true" : undefined}><Name>{name}</Name></a>
        )))}
      </nav>
      <FilterBar path={["timeline"]} params={params} filters={{
        [log.log]: { param: "name", options: names[log.log] }, type: { param: "type", options: TYPES }, by: { param: "actor", options: who },
        after: { param: "from", options: TIMES, example: "yesterday" }, before: { param: "to", options: TIMES },
      }} />
      {log.name === "" ? <Empty title={T.activity.none} hint={T.activity.noneHint} command='agent-memory remember "Ada prefers email"' /> : <Log log={log} filters={filters} />}
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
        {T.activity.follow}
      </label>
      <List pages={pages} items={(page) => select(page.events)} also={newer.length} empty={T.activity.nothing}>
        {(events) => { const all = withNewer(events); return all.length > 0 && <><EventBars events={all} /><EventTable events={all} /></>; }}
      </List>
    </>
  );
}
