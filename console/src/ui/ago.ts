/** Times relative to now: 2 hr. ago. */

const SHORT = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
const FAR_SECONDS = 30 * 86_400;

/** Render how long ago a time was; a time that is a month away is a date. */
export function renderAgo(time: number, now = Date.now()): string {
  const seconds = Math.round((time - now) / 1000);
  if (Math.abs(seconds) < 10) return "now";
  if (Math.abs(seconds) > FAR_SECONDS) return DATE.format(time);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return SHORT.format(Math.trunc(seconds / size), unit);
}
