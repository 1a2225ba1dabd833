import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { Details, List, Loaded, Problem, Table, usePages } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { Name, Time } from "../ui/text";
import { useAgentIds, usePrincipals } from "./principals";

/** The tenant at a glance: agents with their counts and room, and the shared namespaces. */
export function OverviewScreen() {
  const caller = usePrincipal();
  const principals = usePrincipals();
  const agents = useAgentIds();
  return (
    <>
      <section aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        {principals.isError && <Problem error={principals.error} />}
        {agents.length === 0 && !principals.isFetching && (
          <p className="empty">
            {can(caller, "memory.admin") ? "This tenant has no agents yet." : "Listing agents needs memory.admin; look at one by its id:"}
          </p>
        )}
        <ul className="cards">{agents.map((id) => <li key={id}><AgentCard id={id} /></li>)}</ul>
        {principals.data?.next && <p>These are the newest principals&rsquo; agents; find others by id.</p>}
        <form className="filters" onSubmit={(event) => {
          event.preventDefault();
          goTo(toHref(["memory"], readForm(event.currentTarget)));
        }}>
          <TextField label="Agent’s id" name="agent_id" required />
          <div className="actions"><button type="submit">Show its memory</button></div>
        </form>
      </section>
      <section aria-labelledby="namespaces">
        <h2 id="namespaces">Namespaces</h2>
        <Namespaces />
      </section>
    </>
  );
}

function AgentCard({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["summary", id],
    queryFn: () => read(api.GET("/api/v1/agents/{agent_id}/memory/summary", { params: { path: { agent_id: id } } })),
    refetchInterval: 10_000,
  });
  return (
    <article className="card">
      <h3><a href={toHref(["memory"], { agent_id: id })}><Name>{id}</Name></a></h3>
      <Loaded query={query}>{(summary) => <AgentFigures summary={summary} />}</Loaded>
      <p className="actions">
        <a href={toHref(["tasks"], { agent_id: id })}>Tasks</a>
        <a href={toHref(["timeline"], { log: "agent", name: id })}>Timeline</a>
      </p>
    </article>
  );
}

function AgentFigures({ summary: { working, episodic } }: { summary: Schemas["Summary"] }) {
  const room = `${episodic.entry_count.toLocaleString()} of ${episodic.capacity.toLocaleString()} entries`;
  return (
    <Details rows={[
      ["Working", `${working.entry_count.toLocaleString()} entries, ${working.total_size_kb.toLocaleString()} KB, ${working.tasks_with_memory.length} tasks`],
      ["Episodic", <>
        <meter min={0} max={episodic.capacity} high={episodic.capacity * 0.8} value={episodic.entry_count} aria-label={`Episodic capacity: ${room}`} />
        {" "}{room}, {episodic.pinned_count.toLocaleString()} pinned, {episodic.total_size_kb.toLocaleString()} KB
      </>],
      ["Episodes from", <Time>{episodic.oldest_entry}</Time>],
      ["to", <Time>{episodic.newest_entry}</Time>],
    ]} />
  );
}

function Namespaces() {
  const pages = usePages(["namespaces"], (after) =>
    read(api.GET("/api/v1/memory/namespaces", { params: { query: { after, total: "none", limit: 50 } } })),
  );
  return (
    <List pages={pages} items={(page) => page.namespaces} empty="There is no namespace that you may read.">
      {(namespaces) => (
        <Table label="Namespaces" head={["Namespace", "Others may", "Exceptions", "Changed", ""]}>
          {namespaces.map(({ namespace, permissions, updated_at }) => (
            <tr key={namespace}>
              <th scope="row"><a href={toHref(["memory"], { namespace, memory_type: "semantic" })}><Name>{namespace}</Name></a></th>
              <td>{permissions.default}</td>
              <td className="number">{permissions.allow.length}</td>
              <td><Time>{updated_at}</Time></td>
              <td>
                <a href={toHref(["access"], { kind: "namespace", id: namespace })}>Access</a>{" "}
                <a href={toHref(["timeline"], { log: "namespace", name: namespace })}>Timeline</a>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}
