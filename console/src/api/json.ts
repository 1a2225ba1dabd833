/** JSON whose numbers stay as they were written, and whose invisible characters can be seen. */

type Context = { source?: string };
type ExactJson = {
  parse(text: string, reviver: (key: string, value: unknown, context: Context) => unknown): unknown;
  rawJSON?(text: string): unknown;
};

const exact = JSON as unknown as ExactJson;

/** True if this browser can keep numbers such as 1.0 and 12345678901234567890 as they are. */
export const keepsNumbers = typeof exact.rawJSON === "function";

/** The members of the service's documents that hold what users stored. */
const VALUE_MEMBERS = new Set([
  "value", "content", "metadata", "input", "output", "error", "spec", "data", "before", "after",
]);

/** Parse a JSON text so that writing it again gives the same numbers. */
export function parseValue(text: string): unknown {
  const toRaw = exact.rawJSON;
  if (toRaw === undefined) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? toRaw.call(JSON, source)
      : value,
  );
}

/** Parse a document of the service: plain numbers, but for those in what users stored. */
export function parseDocument(text: string): unknown {
  return withValues(JSON.parse(text), parseValue(text));
}

function withValues(plain: unknown, exactly: unknown): unknown {
  if (plain === null || typeof plain !== "object") return plain;
  const from = plain as Record<string, unknown>;
  const to = exactly as Record<string, unknown>;
  for (const name of Object.keys(from)) {
    if (VALUE_MEMBERS.has(name)) from[name] = to[name];
    else withValues(from[name], to[name]);
  }
  return plain;
}

/** Render a value as indented JSON; it parses to the same value. */
export function renderValue(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

const INVISIBLE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** Write characters that show nothing, or turn text around, as JSON escapes such as \u202e. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
