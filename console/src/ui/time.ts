/** Times that people type. */

const RELATIVE = /^(\d+)\s*([mhdw])$/;
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Read a time that somebody typed: `yesterday`, `7d`, or a date. */
export function parseTime(text: string | undefined, now = Date.now()): string | undefined {
  if (text === undefined || text === "") return undefined;
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  if (text === "today") return midnight.toISOString();
  if (text === "yesterday") return new Date(midnight.getTime() - UNITS.d!).toISOString();
  const relative = RELATIVE.exec(text);
  if (relative) return new Date(now - Number(relative[1]) * UNITS[relative[2]!]!).toISOString();
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}
