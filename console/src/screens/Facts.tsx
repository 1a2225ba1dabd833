import { useMutation } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { Problem, Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Id, Name, Tags, Time } from "../ui/text";
import { useAgentTypes } from "./choices";

const FILTERS = { subject: "Subject", predicate: "Predicate", agent_type: "Agent type", learned_from_run_id: "Learned in run" };
type Recalled = Schemas["RecalledFact"];

/** What agents have learned, from whom and where. What is searched for stands in no address. */
export function FactsScreen({ params }: { params: URLSearchParams }) {
  const types = useAgentTypes();
  const filters = Object.fromEntries(Object.keys(FILTERS).map((name) => [name, params.get(name) ?? undefined]));
  const pages = usePages(["facts", filters], (after) =>
    read(api.GET("/api/v1/facts", { params: { query: { ...filters, after, total: "none", limit: 100 } } })),
  );
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["facts"], readForm(event.currentTarget)));
      }}>
        {Object.entries(FILTERS).map(([name, label]) => (
          <TextField key={name} label={label} name={name} initial={filters[name]} options={name === "agent_type" ? types : undefined} />
        ))}
        <div className="actions"><button type="submit" className="primary">Filter</button></div>
      </form>
      <List pages={pages} items={(page) => page.facts} isByButton empty="No fact fits.">
        {(facts) => <FactTable label="Facts" facts={facts} />}
      </List>
      <h2>What would be recalled?</h2>
      <Recall />
    </>
  );
}

function Recall() {
  const recall = useMutation({
    mutationFn: (form: Record<string, string>) => read(api.POST("/api/v1/facts/recall", { body: { query: form.query ?? "", top_k: 10 } })),
    gcTime: 0,
  });
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        recall.mutate(readForm(event.currentTarget));
      }}>
        <TextField label="For the words" name="query" required isWide />
        <div className="actions"><button type="submit" disabled={recall.isPending}>Recall</button></div>
      </form>
      {recall.isError && <Problem error={recall.error} />}
      {recall.data && (recall.data.facts.length === 0
        ? <p role="status" className="empty">No fact fits.</p>
        : <FactTable label="Recalled facts" facts={recall.data.facts} />)}
    </>
  );
}

function FactTable({ label, facts }: { label: string; facts: (Schemas["Fact"] & Partial<Recalled>)[] }) {
  const isScored = facts.some(({ score }) => score !== undefined);
  return (
    <Table label={label} head={[...(isScored ? ["Score", "Matched"] : []), "Subject", "Predicate", "Object", "Confidence", "Learned", "By", "In runs"]}>
      {facts.map((fact) => (
        <tr key={fact.fact_id}>
          {isScored && <><td className="number">{fact.score?.toFixed(3)}</td><td><Tags tags={fact.matched ?? []} /></td></>}
          <th scope="row"><Name>{fact.subject ?? "–"}</Name></th>
          <td><Name>{fact.predicate ?? "–"}</Name></td>
          <td><Name>{fact.object ?? "–"}</Name></td>
          <td><meter min={0} max={1} value={fact.confidence} aria-label="Confidence" /> {fact.confidence}</td>
          <td>{fact.learned_count === 1 ? "once" : `${fact.learned_count.toLocaleString()} times`}, first <Time>{fact.first_learned_at}</Time></td>
          <td><Name>{fact.learned_by}</Name></td>
          <td>{fact.learned_from_run_ids.length === 0 ? "–" : fact.learned_from_run_ids.map((run) => <a key={run} href={toHref(["run", run])}><Id>{run}</Id></a>)}</td>
        </tr>
      ))}
    </Table>
  );
}
