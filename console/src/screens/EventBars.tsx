import { StackedBars } from "../ui/charts";
import { T } from "../texts";
import { TIMES } from "../ui/text";
import type { Event } from "./Events";

const COLUMNS = 40;
const COLOURS = Object.fromEntries(["created", "updated", "deleted", "archived", "evicted", "expired"].map((each) => [each, `var(--${each})`]));

/** The number of events of each type over time, as bars. */
export function EventBars({ events }: { events: Event[] }) {
  const times = events.map((event) => Date.parse(event.timestamp));
  const first = Math.min(...times);
  const width = Math.max(1000, Math.max(...times) - first + 1) / COLUMNS;
  const kinds = [...new Set(events.map(toKind))].sort();
  const data = Array.from({ length: COLUMNS }, (_, at) => ({
    time: first + at * width, ...Object.fromEntries(kinds.map((kind) => [kind, 0])),
  })) as ({ time: number } & Record<string, number>)[];
  events.forEach((event, at) => {
    const column = data[Math.floor((times[at]! - first) / width)]!;
    column[toKind(event)]! += 1;
  });
  return <StackedBars label={T.activity.chart(events.length, TIMES.format(first))} data={data} kinds={kinds} colours={COLOURS} width={width} />;
}

function toKind({ type }: Event): string {
  return type.replace("memory.", "");
}
