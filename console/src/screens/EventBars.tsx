import { TIMES } from "../ui/text";
import type { Event } from "./Events";

const COLUMNS = 40;
const HEIGHT = 60;

/** How many events of each type there were over time, as bars. */
export function EventBars({ events }: { events: Event[] }) {
  const times = events.map((event) => Date.parse(event.timestamp));
  const first = Math.min(...times);
  const width = Math.max(1000, Math.max(...times) - first + 1) / COLUMNS;
  const columns = new Map<number, Map<string, number>>();
  events.forEach((event, at) => {
    const column = Math.floor((times[at]! - first) / width);
    const counts = columns.get(column) ?? new Map<string, number>();
    columns.set(column, counts.set(event.type, (counts.get(event.type) ?? 0) + 1));
  });
  const sum = (counts: Map<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
  const highest = Math.max(...[...columns.values()].map(sum));
  const from = TIMES.format(first);
  const types = [...new Set(events.map((event) => event.type))].sort();
  return (
    <figure className="bars">
      <svg viewBox={`0 0 ${COLUMNS * 10} ${HEIGHT}`} role="img" aria-label={`${events.length} events since ${from}`} preserveAspectRatio="none">
        {[...columns].flatMap(([column, counts]) => {
          let base = HEIGHT;
          return [...counts].sort().map(([type, count]) => {
            const height = (count / highest) * HEIGHT;
            base -= height;
            return (
              <rect key={`${column} ${type}`} x={column * 10 + 1} y={base} width={8} height={height} data-type={type}>
                <title>{`${count} ${type} from ${TIMES.format(first + column * width)}`}</title>
              </rect>
            );
          });
        })}
      </svg>
      <figcaption>
        Since {from}, by type:{" "}
        {types.map((type) => <span key={type} className="event" data-type={type}>{type.replace("memory.", "")}</span>)}
      </figcaption>
    </figure>
  );
}
