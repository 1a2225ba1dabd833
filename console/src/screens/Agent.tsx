import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { usePrincipal } from "../session/session";
import { T } from "../texts";
import { EpisodicUsage } from "../ui/capacity";
import { Details, Loaded } from "../ui/data";
import { List, usePages } from "../ui/list";
import { Parts } from "../ui/parts";
import { toHref } from "../ui/location";
import { describe, Item } from "../ui/memory";
import { Name, Sentence, Tags, Time } from "../ui/text";
import { useAgents } from "./choices";
import { EntryFilters, EntryList } from "./Memory";
import { TaskList } from "./Tasks";
import { Log } from "./Timeline";
import { rememberHeads } from "./entries";
import { NextTurn } from "./NextTurn";

const PARTS = { memory: T.agents.knows, next: T.agents.next, eviction: T.agents.evicted, tasks: T.agents.tasks, log: T.agents.log };
const PAGE = 100;
const REFRESH_MS = 5_000;

/** One agent: its capacity, its memory by tier, what is evicted first, its tasks and its log. */
export function AgentScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const shown = params.get("show") ?? "memory";
  return (
    <>
      <p className="subject"><Name>{id}</Name></p>
      <AgentTypeLinks id={id} />
      <AgentRoom id={id} />
      <Parts label={T.agents.parts} path={["agent", id]} shown={shown} parts={PARTS}>
        {shown === "memory" && <><EntryFilters path={["agent", id]} params={params} agent={id} /><EntryList params={params} agent={id} /></>}
        {shown === "next" && <NextTurn id={id} />}
        {shown === "eviction" && <EvictionOrder id={id} />}
        {shown === "tasks" && <TaskList agent={id} />}
        {shown === "log" && <Log log={{ log: "agent", name: id }} filters={{}} />}
      </Parts>
    </>
  );
}

/** The things that all agents of its type share: their runs, what they learned, the next agent's memory. */
function AgentTypeLinks({ id }: { id: string }) {
  const caller = usePrincipal();
  const listed = useAgents().find((each) => each.agent_id === id);
  const type = caller.id === id ? caller.agent_type : listed?.agent_type;
  if (!type) return null;
  return (
    <p className="actions">
      <span><Sentence text={T.agents.ofType} of={{ type: <Name>{type}</Name> }} /></span>
      <a href={toHref(["episodes", type])}>{T.runs.nextRecalls}</a>
      <a href={toHref(["facts"], { agent_type: type })}>{T.agents.learned}</a>
      <a href={toHref(["runs"], { agent_type: type })}>{T.terms.runs}</a>
      <a href={toHref(["procedures"], { agent_type: type })}>{T.screens.procedures}</a>
    </p>
  );
}

function AgentRoom({ id }: { id: string }) {
  const params = { path: { agent_id: id } };
  const summary = useQuery({
    queryKey: ["summary", id],
    queryFn: () => read(api.GET("/api/v1/agents/{agent_id}/memory/summary", { params })),
    refetchInterval: REFRESH_MS,
  });
  const settings = useQuery({
    queryKey: ["settings", id],
    queryFn: () => read(api.GET("/api/v1/agents/{agent_id}/memory/config", { params })),
  });
  return (
    <>
      <Loaded query={summary}>{(found) => <AgentFigures summary={found} />}</Loaded>
      {!summary.isError && <Loaded query={settings}>
        {({ episodic, working }) => (
          <Details rows={[
            [T.agents.limits, `${T.agents.entries(working.max_entries)}, ${T.terms.kilobytes(working.max_total_size_kb)}`],
            [T.agents.pinnedNamespaces, <Tags tags={episodic.pinned_namespaces} />],
          ]} />
        )}
      </Loaded>}
    </>
  );
}

/** An agent's counts by tier, and its capacity. */
export function AgentFigures({ summary: { working, episodic } }: { summary: Schemas["MemorySummary"] }) {
  return (
    <Details rows={[
      [T.agents.workingTier, `${T.agents.entries(working.entry_count)}, ${T.terms.kilobytes(working.total_size_kb)}, ${T.agents.tasksOf(working.tasks_with_memory.length)}`],
      [T.agents.episodicTier, <><EpisodicUsage of={episodic} />, {T.terms.kilobytes(episodic.total_size_kb)}</>],
      [T.terms.episodes, episodic.oldest_entry ? <Sentence text={T.agents.span} of={{ from: <Time>{episodic.oldest_entry}</Time>, until: <Time>{episodic.newest_entry}</Time> }} /> : T.terms.none],
    ]} />
  );
}

/** The next entries that are evicted, in this order, each with its text; the list follows changes. */
function EvictionOrder({ id }: { id: string }) {
  const pages = usePages(["eviction", id], async (after) => {
    const params = { path: { agent_id: id }, query: { after, limit: PAGE } };
    const page = await read(api.GET("/api/v1/agents/{agent_id}/memory/eviction", { params }));
    rememberHeads(page.entries);
    return page;
  }, { refresh: REFRESH_MS });
  const texts = useQuery({
    queryKey: ["entries", "texts", id],
    queryFn: async () => {
      const query = { agent_id: id, memory_type: "episodic", values: "ordinary", touch: false, total: "none", limit: 500 } as const;
      const { entries } = await read(api.GET("/api/v1/memory", { params: { query } }));
      return new Map(entries.flatMap(({ id, value }) => (value === undefined ? [] : [[id, describe(value)]])));
    },
  });
  return (
    <>
      <p className="hint">{T.agents.evictedIntro}</p>
      <List pages={pages} items={(page) => page.entries} empty={T.agents.evictedNone}>
        {(entries) => (
          <ol className="memories">
            {entries.map((entry) => (
              <li key={entry.id}>
                <Item text={texts.data?.get(entry.id) ?? entry.key} href={toHref(["entry", entry.id])}>
                  <span><Name>{entry.namespace}</Name> / <Name>{entry.key}</Name></span>
                  <span>{T.agents.priority(entry.priority)}</span>
                  <span>{T.agents.used} <Time>{entry.last_accessed_at}</Time></span>
                </Item>
              </li>
            ))}
          </ol>
        )}
      </List>
    </>
  );
}
