/** Charts by Recharts: tasks over time, events, curves, and costs. Each has its figures in words beside it. */

import { Bar, BarChart, CartesianGrid, Cell, Legend, Line, LineChart, ReferenceDot, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import type { ReactElement } from "react";

const CLOCK = new Intl.DateTimeFormat("en", { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const FINE_CLOCK = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 1, hour12: false });
const ONE_DAY = 86_400_000;
const SHORT_MS = 10_000;
export const COLOURS = ["var(--updated)", "var(--evicted)", "var(--created)", "var(--archived)", "var(--deleted)", "var(--expired)"];
const AXIS = { stroke: "var(--muted)", tick: { fill: "var(--muted)", fontSize: 12 }, tickLine: false } as const;
const TOOLTIP = {
  isAnimationActive: false,
  contentStyle: { background: "var(--panel)", border: "1px solid var(--line)", borderRadius: 6 },
  labelStyle: { color: "var(--text)" },
  itemStyle: { color: "var(--text)" },
  cursor: { fill: "var(--soft-line)", fillOpacity: 0.5 },
} as const;

/** Render a time on an axis of a length: the day, the time of day, or tenths of seconds. */
function renderTick(length: number) {
  return (time: number) => (length > ONE_DAY ? DAY : length > SHORT_MS ? CLOCK : FINE_CLOCK).format(time);
}

function Frame({ label, height, children }: { label: string; height: number; children: ReactElement }) {
  return (
    <figure className="chart" role="img" aria-label={label}>
      <ResponsiveContainer width="100%" height={height}>{children}</ResponsiveContainer>
    </figure>
  );
}

export type TaskBar = { id: string; name: string; status: string; start: number; end: number };
export type Mark = { name: string; time: number };
type TaskProps = { label: string; bars: TaskBar[]; marks: Mark[]; from: number; to: number };

/** One bar for each task from its start to its end, with a dot for each hand-over. */
export function TaskChart({ label, bars, marks, from, to }: TaskProps) {
  const data = bars.map((each) => ({ ...each, range: [each.start, each.end] }));
  const tick = renderTick(to - from);
  return (
    <Frame label={label} height={60 + 36 * bars.length}>
      <BarChart layout="vertical" data={data} margin={{ left: 8, right: 32 }} accessibilityLayer={false}>
        <CartesianGrid horizontal={false} stroke="var(--soft-line)" />
        <XAxis type="number" domain={[from, to]} tickFormatter={tick} allowDataOverflow {...AXIS} />
        <YAxis type="category" dataKey="name" width={150} {...AXIS} />
        <Tooltip {...TOOLTIP} formatter={(value, _name, item) => [(value as number[]).map(tick).join(" – "), (item.payload as TaskBar).status]} />
        <Bar dataKey="range" isAnimationActive={false} barSize={14} radius={4}>
          {data.map((each) => <Cell key={each.id} fill={STATUS_COLOURS[each.status] ?? "var(--updated)"} />)}
        </Bar>
        {marks.map(({ name, time }) => (
          <ReferenceDot key={`${name} ${time}`} x={time} y={name} r={7} fill="var(--evicted)" stroke="var(--panel)" className="hand-over" ifOverflow="visible" />
        ))}
      </BarChart>
    </Frame>
  );
}

const STATUS_COLOURS: Record<string, string> = {
  completed: "var(--created)", failed: "var(--deleted)", cancelled: "var(--expired)", blocked: "var(--evicted)", pending: "var(--expired)",
};

/** Stacked bars over time, one colour for each kind. */
export function StackedBars({ label, data, kinds, colours, width }: {
  label: string; data: ({ time: number } & Record<string, number>)[]; kinds: string[]; colours: Record<string, string>; width: number;
}) {
  const tick = renderTick((data.at(-1)?.time ?? 0) - (data[0]?.time ?? 0));
  return (
    <Frame label={label} height={140}>
      <BarChart data={data} margin={{ left: 0, right: 32 }} accessibilityLayer={false}>
        <CartesianGrid vertical={false} stroke="var(--soft-line)" />
        <XAxis dataKey="time" tickFormatter={tick} minTickGap={40} {...AXIS} />
        <YAxis allowDecimals={false} width={36} {...AXIS} />
        <Tooltip {...TOOLTIP} labelFormatter={(time) => `${tick(time as number)} – ${tick((time as number) + width)}`} />
        <Legend iconType="square" formatter={(value: string) => <span className="legend">{value}</span>} />
        {kinds.map((kind) => <Bar key={kind} dataKey={kind} stackId="all" fill={colours[kind]} isAnimationActive={false} maxBarSize={24} />)}
      </BarChart>
    </Frame>
  );
}

/** Curves over scores from 0 to 1. */
export function Curves({ label, xLabel, curves }: { label: string; xLabel: string; curves: { name: string; ys: number[] }[] }) {
  const steps = curves[0]?.ys.length ?? 0;
  const data = Array.from({ length: steps }, (_, at) => ({
    x: (at + 0.5) / steps, ...Object.fromEntries(curves.map(({ ys }, number) => [`y${number}`, ys[at]])),
  }));
  return (
    <Frame label={label} height={240}>
      <LineChart data={data} margin={{ left: 0, right: 16, bottom: 16 }} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--soft-line)" />
        <XAxis dataKey="x" type="number" domain={[0, 1]} label={{ value: xLabel, position: "insideBottom", offset: -8, fill: "var(--muted)" }} {...AXIS} />
        <YAxis width={36} tickFormatter={(y: number) => y.toFixed(1)} {...AXIS} />
        <Tooltip {...TOOLTIP} labelFormatter={(x) => `${xLabel} ${(x as number).toFixed(2)}`} formatter={(y) => (y as number).toFixed(2)} />
        {curves.map(({ name }, number) => (
          <Line key={name} name={name} dataKey={`y${number}`} stroke={COLOURS[number % COLOURS.length]} strokeWidth={2} dot={false} isAnimationActive={false} />
        ))}
      </LineChart>
    </Frame>
  );
}

/** One bar a day. */
export function DayBars({ label, days, unit }: { label: string; days: { day: string; value: number }[]; unit: (value: number) => string }) {
  return (
    <Frame label={label} height={220}>
      <BarChart data={days} margin={{ left: 8, right: 8 }} accessibilityLayer={false}>
        <CartesianGrid vertical={false} stroke="var(--soft-line)" />
        <XAxis dataKey="day" tickFormatter={(day: string) => DAY.format(Date.parse(day))} minTickGap={30} {...AXIS} />
        <YAxis width={72} tickFormatter={unit} {...AXIS} />
        <Tooltip {...TOOLTIP} formatter={(value) => [unit(value as number), label]} />
        <Bar dataKey="value" fill="var(--updated)" isAnimationActive={false} maxBarSize={24} />
      </BarChart>
    </Frame>
  );
}
