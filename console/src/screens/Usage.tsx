/** The tenant's usage in this month, and its estimated cost. */

import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { DayBars } from "../ui/charts";
import { Loaded, Table } from "../ui/data";
import { Name } from "../ui/text";

type Day = Schemas["DayUsage"];

const DOLLARS = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumSignificantDigits: 3 });
const BYTES = new Intl.NumberFormat("en", { style: "unit", unit: "kilobyte", maximumFractionDigits: 1 });

export function UsageScreen() {
  const query = useQuery({
    queryKey: ["usage"],
    queryFn: () => read(api.GET("/api/v1/usage", { params: { query: { from: `${new Date().toISOString().slice(0, 7)}-01` } } })),
  });
  return <Loaded query={query}>{({ tenants }) => <>{tenants.map(({ tenant, days }) => <TenantUsage key={tenant} days={days} />)}</>}</Loaded>;
}

function TenantUsage({ days }: { days: Day[] }) {
  const last = days.at(-1);
  const cost = days.reduce((sum, { cost_usd }) => sum + cost_usd, 0);
  const requests = days.flatMap((day) => Object.entries(day.requests));
  return (
    <>
      <p className="figures">
        <Figure value={DOLLARS.format(cost)} label={T.usage.cost} />
        <Figure value={requests.reduce((sum, [, count]) => sum + count, 0).toLocaleString()} label={T.usage.requests} />
        <Figure value={sum(last?.items).toLocaleString()} label={T.usage.items} />
        <Figure value={BYTES.format(sum(last?.bytes) / 1000)} label={T.usage.bytes} />
      </p>
      <p className="hint">{T.usage.estimate}</p>
      <DayBars label={T.usage.costOfDay} days={days.map(({ day, cost_usd }) => ({ day, value: cost_usd }))} unit={(value) => DOLLARS.format(value)} />
      <div className="side-by-side">
        <Table label={T.usage.byOperation} head={[T.usage.operation, T.usage.requestsOf]}>
          {total(requests).map(([name, count]) => <tr key={name}><th scope="row"><Name>{name}</Name></th><td className="number">{count.toLocaleString()}</td></tr>)}
        </Table>
        <Table label={T.usage.byKind} head={[T.usage.kind, T.usage.itemsOf, T.usage.sizeOf]}>
          {Object.entries(last?.items ?? {}).map(([kind, count]) => (
            <tr key={kind}>
              <th scope="row"><Name>{kind}</Name></th>
              <td className="number">{count.toLocaleString()}</td>
              <td className="number">{BYTES.format((last?.bytes[kind] ?? 0) / 1000)}</td>
            </tr>
          ))}
        </Table>
      </div>
    </>
  );
}

function Figure({ value, label }: { value: string; label: string }) {
  return <span className="figure"><strong>{value}</strong> <span>{label}</span></span>;
}

function sum(counts: Record<string, number> = {}): number {
  return Object.values(counts).reduce((a, b) => a + b, 0);
}

/** Add up counts of the same name, the largest first. */
function total(counts: [string, number][]): [string, number][] {
  const found = new Map<string, number>();
  for (const [name, count] of counts) found.set(name, (found.get(name) ?? 0) + count);
  return [...found].sort((a, b) => b[1] - a[1]);
}
