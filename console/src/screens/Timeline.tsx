import { useState } from "react";
import { List } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { EventBars } from "./EventBars";
import { EventTable, useEvents, type Event, type EventFilters, type LogName } from "./Events";
import { useAgentIds } from "./principals";

const LOGS = { agent: "agent", intent: "intent", namespace: "namespace" };
const TYPES = ["created", "updated", "deleted", "archived", "evicted", "expired"];
const FOLLOW_MS = 2_000;

/** What happened, newest first, from the log in the address; it follows what happens next. */
export function TimelineScreen({ params }: { params: URLSearchParams }) {
  const agents = useAgentIds();
  const [isFollowing, setFollowing] = useState(true);
  const get = (name: string) => params.get(name) ?? undefined;
  const log: LogName = { log: (get("log") ?? "agent") as LogName["log"], name: get("name") ?? agents[0] ?? "" };
  const filters: EventFilters = { type: get("type") as Event["type"] | undefined, actor: get("actor") };
  const pages = useEvents(log, filters, isFollowing && FOLLOW_MS);
  const types = Object.fromEntries(TYPES.map((each) => [`memory.${each}`, each]));
  return (
    <>
      <form className="filters" key={log.name} onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["timeline"], readForm(event.currentTarget)));
      }}>
        <ChoiceField label="Log of" name="log" initial={log.log} options={LOGS} />
        <TextField label="Its id or name" name="name" initial={log.name} options={agents} required />
        <ChoiceField label="What happened" name="type" initial={filters.type} options={{ "": "all", ...types }} />
        <TextField label="Who did it" name="actor" initial={filters.actor} />
        <div className="actions"><button type="submit" className="primary">Show</button></div>
      </form>
      <label className="check">
        <input type="checkbox" checked={isFollowing} onChange={(event) => setFollowing(event.target.checked)} />
        Follow what happens
      </label>
      {log.name === "" ? <p className="empty">Choose a log.</p> : (
        <List pages={pages} items={(page) => page.events} empty="Nothing has happened that this log still has.">
          {(events) => <><EventBars events={events} /><EventTable events={events} /></>}
        </List>
      )}
    </>
  );
}
