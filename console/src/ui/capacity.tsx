/** From which share of a limit on something counts as near it. */
export const NEAR = 0.8;

type Episodic = { entry_count: number; capacity: number; pinned_count: number };

/** How much of an agent's episodic capacity is used, as a meter and in words. */
export function EpisodicUsage({ of: { entry_count, capacity, pinned_count } }: { of: Episodic }) {
  const usage = `${entry_count.toLocaleString()} of ${capacity.toLocaleString()} entries`;
  return (
    <>
      <meter min={0} max={capacity} high={capacity * NEAR} value={entry_count} aria-label={`Episodic capacity: ${usage}`} />
      {" "}{usage}, {pinned_count.toLocaleString()} pinned
    </>
  );
}
