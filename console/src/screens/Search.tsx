import { useMutation } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { Problem, Table } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { toHref } from "../ui/location";
import { Name, Tags } from "../ui/text";
import { useAgentIds, useNamespaceNames } from "./choices";
import { rememberHeads, TIERS } from "./entries";

const RESULTS = 20;

/** Search by meaning and words. What is searched for stands in no address. */
export function SearchScreen() {
  const agents = useAgentIds();
  const namespaces = useNamespaceNames();
  const search = useMutation({
    mutationFn: async (form: Record<string, string>) => {
      const found = await read(api.POST("/api/v1/memory/search", {
        body: {
          query: form.query ?? "",
          memory_type: form.memory_type as keyof typeof TIERS,
          namespace: form.namespace || undefined,
          agent_id: form.agent_id || undefined,
          top_k: RESULTS,
        },
      }));
      rememberHeads(found.results.map((each) => each.entry));
      return found.results;
    },
    gcTime: 0,
  });
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        search.mutate(readForm(event.currentTarget));
      }}>
        <TextField label="Search for" name="query" required isWide />
        <ChoiceField label="Tier" name="memory_type" initial="semantic" options={TIERS} />
        <TextField label="Namespace" name="namespace" options={namespaces} />
        <TextField label="Agent" name="agent_id" options={agents} />
        <div className="actions"><button type="submit" className="primary" disabled={search.isPending}>Search</button></div>
      </form>
      <p>What is confidential or restricted, and what was written a moment ago, isn&rsquo;t found.</p>
      {search.isError && <Problem error={search.error} />}
      {search.data && <Results results={search.data} />}
    </>
  );
}

function Results({ results }: { results: Schemas["SearchResult"][] }) {
  if (results.length === 0) return <p role="status" className="empty">Nothing that you may read fits.</p>;
  return (
    <Table label="Results" head={["Score", "Key", "Namespace", "Owner", "Tags", "Words and ids that match"]}>
      {results.map(({ entry, score, matched }) => (
        <tr key={entry.id}>
          <td className="number"><meter min={0} max={1} value={score} aria-label="Score" /> {score.toFixed(3)}</td>
          <th scope="row"><a href={toHref(["entry", entry.id])}><Name>{entry.key}</Name></a></th>
          <td><Name>{entry.namespace}</Name></td>
          <td><Name>{entry.agent_id}</Name></td>
          <td><Tags tags={entry.tags} /></td>
          <td><Tags tags={matched} /></td>
        </tr>
      ))}
    </Table>
  );
}
