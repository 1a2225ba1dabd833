import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { TimeSlider, toTime, useSettled } from "../ui/ask";
import { FilterBar, type Filters } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { Empty, EntryItem } from "../ui/memory";
import { parseTime } from "../ui/time";
import { useAgentIds, useIntentIds, useNamespaceNames, useTaskIds } from "./choices";
import { rememberHeads, TIERS } from "./entries";

const PAGE = 100;
const HISTORY_DAYS = 30; // that a namespace keeps unless it says otherwise
const REFRESH_MS = 10_000;
const TIMES = ["today", "yesterday", "7d", "30d"];

type Query = {
  agent_id?: string; memory_type?: keyof typeof TIERS; namespace?: string; key?: string; tags?: string; tags_any?: string;
  pinned?: boolean; "scope.task_id"?: string; "scope.intent_id"?: string; updated_after?: string; updated_before?: string;
};

/** The memories that match the filters in the address, newest first; sensitive values stay on the server. */
export function MemoryScreen({ params }: { params: URLSearchParams }) {
  return (
    <>
      <EntryFilters path={["memory"]} params={params} />
      <PastEntries params={params} />
    </>
  );
}

/** The filters of memories; `agent`, where given, isn't one of them. */
export function EntryFilters({ path, params, agent }: { path: string[]; params: URLSearchParams; agent?: string }) {
  const get = (name: string) => params.get(name) ?? undefined;
  const agents = useAgentIds();
  const namespaces = useNamespaceNames();
  const intents = useIntentIds();
  const tasks = useTaskIds({ agent: agent ?? get("agent_id"), intent: get("intent_id") });
  const filters: Filters = {
    ...(agent === undefined ? { agent: { param: "agent_id", options: agents } } : {}),
    tag: { param: "tags", example: "promise" },
    after: { param: "updated_after", options: TIMES, example: "yesterday" },
    before: { param: "updated_before", options: TIMES },
    tier: { param: "memory_type", options: Object.keys(TIERS) },
    namespace: { param: "namespace", options: namespaces },
    key: { param: "key" },
    "any-tag": { param: "tags_any" },
    task: { param: "task_id", options: tasks },
    intent: { param: "intent_id", options: intents },
    pinned: { param: "pinned", options: ["true", "false"] },
  };
  return (
    <FilterBar path={path} params={params} filters={filters} />
  );
}

function readQuery(params: URLSearchParams, agent?: string): Query {
  const get = (name: string) => params.get(name) ?? undefined;
  const pinned = get("pinned");
  return {
    agent_id: agent ?? get("agent_id"),
    memory_type: get("memory_type") as Query["memory_type"],
    namespace: get("namespace"),
    key: get("key"),
    tags: get("tags"),
    tags_any: get("tags_any"),
    pinned: pinned === undefined ? undefined : pinned === "true",
    "scope.task_id": get("task_id"),
    "scope.intent_id": get("intent_id"),
    updated_after: parseTime(get("updated_after")),
    updated_before: parseTime(get("updated_before")),
  };
}

/** The memories as they are; those of one namespace also as they were on a day. */
function PastEntries({ params }: { params: URLSearchParams }) {
  const [daysAgo, setDaysAgo] = useState(0);
  const namespace = params.get("namespace");
  const hasPast = namespace !== null && !namespace.endsWith("*");
  const asOf = toTime(useSettled(hasPast ? daysAgo : 0));
  return (
    <>
      <div className="quiet">{hasPast ? <TimeSlider daysAgo={daysAgo} most={HISTORY_DAYS} onChange={setDaysAgo} /> : <span>{T.memory.pastHint}</span>}</div>
      <EntryList params={params} asOf={asOf} />
    </>
  );
}

type ListProps = { params: URLSearchParams; agent?: string; asOf?: string; isByButton?: boolean; person?: string };

/** The memories that match, page by page. */
export function EntryList({ params, agent, asOf, isByButton, person }: ListProps) {
  const query = readQuery(params, agent);
  const pages = usePages<Schemas["EntryPage"]>(["entries", agent, String(params), asOf], async (after) => {
    const page = await read(api.GET("/api/v1/memory", {
      params: {
        query: {
          ...query, as_of: asOf, tags: query.tags as never, tags_any: query.tags_any as never,
          values: "ordinary", touch: false, total: "none", limit: PAGE, after,
        },
      },
    }));
    rememberHeads(page.entries);
    return page;
  }, { refresh: REFRESH_MS });
  return (
    <List pages={pages} items={(page) => page.entries} isByButton={isByButton} empty={
      <Empty title={T.memory.none} hint={T.memory.noneHint} command={'agent-memory remember "Ada prefers email"'} />
    }>
      {(entries) => (
        <ul className="memories">{entries.map((entry) => <li key={entry.id}><EntryItem entry={entry} of={person} /></li>)}</ul>
      )}
    </List>
  );
}
