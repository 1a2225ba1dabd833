/** The certainty about which workflow is best: the Beta distribution of each one's score. */

import { T } from "../texts";
import { Curves } from "../ui/charts";
import { cut } from "../ui/memory";

export type Beta = { name: string; alpha: number; beta: number };

const STEPS = 100;
const LABEL = 60; // characters

/** The density of a Beta distribution up to a constant factor, as a logarithm. */
function logDensity({ alpha, beta }: Beta, x: number): number {
  return (alpha - 1) * Math.log(x) + (beta - 1) * Math.log(1 - x);
}

/** Return the density at equal steps of x; the area below it is 1. */
export function drawDensity(each: Beta): number[] {
  const xs = Array.from({ length: STEPS }, (_, at) => (at + 0.5) / STEPS);
  const logs = xs.map((x) => logDensity(each, x));
  const highest = Math.max(...logs);
  const shape = logs.map((log) => Math.exp(log - highest));
  const area = shape.reduce((a, b) => a + b, 0) / STEPS;
  return shape.map((y) => y / area);
}

/** The spread of a Beta distribution: its standard deviation. */
export function computeSpread({ alpha, beta }: Beta): number {
  const sum = alpha + beta;
  return Math.sqrt((alpha * beta) / (sum * sum * (sum + 1)));
}

export function BetaCurves({ workflows }: { workflows: Beta[] }) {
  const curves = workflows.map((each) => ({ name: cut(each.name, LABEL), ys: drawDensity(each) }));
  return <Curves label={T.procedures.chart(workflows.length)} xLabel={T.procedures.score} curves={curves} />;
}
