import { T } from "../texts";

/** From which share of a limit on something counts as near it. */
export const NEAR = 0.8;

type Episodic = { entry_count: number; capacity: number; pinned_count: number };

/** The used part of an agent's episodic capacity, as a meter and in words. */
export function EpisodicUsage({ of: { entry_count, capacity, pinned_count } }: { of: Episodic }) {
  const usage = T.capacity.used(entry_count, capacity);
  return (
    <>
      <meter min={0} max={capacity} high={capacity * NEAR} value={entry_count} aria-label={T.capacity.label(usage)} />
      {" "}{usage}, {T.capacity.pinned(pinned_count)}
    </>
  );
}
