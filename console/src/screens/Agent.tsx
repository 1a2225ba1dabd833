import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { EpisodicUsage } from "../ui/capacity";
import { Details, Loaded, Table } from "../ui/data";
import { Parts } from "../ui/parts";
import { toHref } from "../ui/location";
import { Name, Tags, Time } from "../ui/text";
import { EntryFilters, EntryList } from "./Memory";
import { TaskList } from "./Tasks";
import { Log } from "./Timeline";
import type { Entry } from "./entries";

const PARTS = { memory: "Memory", eviction: "Eviction order", tasks: "Tasks", log: "Log" };
const ORDERED = 1000;
const RANKS = { low: 0, normal: 1, high: 2 };

/** One agent: its capacity, its memory by tier, what is evicted first, its tasks and its log. */
export function AgentScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const shown = params.get("show") ?? "memory";
  return (
    <>
      <p><Name>{id}</Name></p>
      <AgentRoom id={id} />
      <Parts label="Parts of the agent" path={["agent", id]} shown={shown} parts={PARTS}>
        {shown === "memory" && <><EntryFilters path={["agent", id]} params={params} agent={id} /><EntryList params={params} agent={id} /></>}
        {shown === "eviction" && <EvictionOrder id={id} />}
        {shown === "tasks" && <TaskList agent={id} />}
        {shown === "log" && <Log log={{ log: "agent", name: id }} filters={{}} />}
      </Parts>
    </>
  );
}

function AgentRoom({ id }: { id: string }) {
  const params = { path: { agent_id: id } };
  const summary = useQuery({
    queryKey: ["summary", id],
    queryFn: () => read(api.GET("/api/v1/agents/{agent_id}/memory/summary", { params })),
    refetchInterval: 5_000,
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
            ["Limits outside tasks", `${working.max_entries.toLocaleString()} entries, ${working.max_total_size_kb.toLocaleString()} KB`],
            ["Always pinned namespaces", <Tags tags={episodic.pinned_namespaces} />],
          ]} />
        )}
      </Loaded>}
    </>
  );
}

/** An agent's counts by tier, and its capacity. */
export function AgentFigures({ summary: { working, episodic } }: { summary: Schemas["Summary"] }) {
  return (
    <Details rows={[
      ["Working", `${working.entry_count.toLocaleString()} entries, ${working.total_size_kb.toLocaleString()} KB, ${working.tasks_with_memory.length} tasks`],
      ["Episodic", <><EpisodicUsage of={episodic} />, {episodic.total_size_kb.toLocaleString()} KB</>],
      ["Episodes", episodic.oldest_entry ? <><Time>{episodic.oldest_entry}</Time> to <Time>{episodic.newest_entry}</Time></> : "none"],
    ]} />
  );
}

/** Compare as eviction does, as far as the API tells: by priority, then by age. */
function compareEviction(a: Entry, b: Entry): number {
  return RANKS[a.priority] - RANKS[b.priority] || a.updated_at.localeCompare(b.updated_at);
}

function EvictionOrder({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["eviction", id],
    queryFn: () => read(api.GET("/api/v1/memory", {
      params: { query: { agent_id: id, memory_type: "episodic", pinned: false, values: "omit", touch: false, total: "none", limit: ORDERED } },
    })),
  });
  return (
    <Loaded query={query}>
      {({ entries, next }) => entries.length === 0 ? <p className="empty">Nothing that you may read can be evicted.</p> : (
        <>
          <p>
            A full episodic memory evicts the lowest priority first, and of these what its agent has neither read nor written for the
            longest time. Reads aren&rsquo;t shown here: an entry that was read since its change comes later.
            {next !== undefined && ` These are the ${ORDERED.toLocaleString()} newest; there are more.`}
          </p>
          <Table label="Eviction order" head={["Rank", "Namespace", "Key", "Priority", "Changed"]}>
            {[...entries].sort(compareEviction).slice(0, 100).map((entry, at) => (
              <tr key={entry.id}>
                <td className="number">{at + 1}</td>
                <td><Name>{entry.namespace}</Name></td>
                <th scope="row"><a href={toHref(["entry", entry.id])}><Name>{entry.key}</Name></a></th>
                <td>{entry.priority}</td>
                <td><Time>{entry.updated_at}</Time></td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </Loaded>
  );
}
