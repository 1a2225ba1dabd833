/** How sure it is which workflow is best: the Beta distribution of each one's score. */

export type Beta = { name: string; alpha: number; beta: number };

const WIDTH = 400;
const HEIGHT = 120;
const STEPS = 100;
const COLOURS = 6;

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
  const curves = workflows.map((each) => ({ ...each, ys: drawDensity(each) }));
  const highest = Math.max(...curves.flatMap(({ ys }) => ys));
  const toPoint = (y: number, at: number) => `${((at + 0.5) / STEPS) * WIDTH},${HEIGHT - (y / highest) * (HEIGHT - 4)}`;
  return (
    <figure className="curves">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" preserveAspectRatio="none"
        aria-label={`Beta curves of ${workflows.length} workflows, from score 0 to 1; the table has their figures`}>
        {curves.map(({ name, ys }, at) => (
          <polyline key={name} points={ys.map(toPoint).join(" ")} data-curve={at % COLOURS}><title>{name}</title></polyline>
        ))}
      </svg>
      <div className="axis" aria-hidden="true"><span>0</span><span>score</span><span>1</span></div>
    </figure>
  );
}
