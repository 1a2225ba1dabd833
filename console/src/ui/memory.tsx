/** Memory as text: what it says first, and one quiet line of where it is from. */

import { Hovercard, useHovercardStore } from "@ariakit/react";
import { memo, useEffect, useState, type FocusEvent, type PointerEvent, type ReactNode } from "react";
import { renderValue, showInvisible } from "../api/json";
import type { Schemas } from "../api/client";
import { T, toWord } from "../texts";
import { toHref } from "./location";
import { Expandable, LongText, Name, Time } from "./text";
import { Uses } from "./uses";

type Entry = Schemas["Entry"];

const MOST_CHARACTERS = 400;
const MOST_READABLE = 2_000;
const HOVER_MS = 300;
/** The fields of values that are texts, the first of them first. */
export const TEXT_FIELDS = ["text", "content", "summary", "message", "title"];
const USERS = /^users\/([^/]+)\//;

/** Render a JSON value for reading: its text, or its fields in one line. */
export function describe(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  if (isRaw(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return value.slice(0, 20).map(describe).join(", ");
  const fields = Object.entries(value).slice(0, 20);
  const text = TEXT_FIELDS.map((name) => (value as Record<string, unknown>)[name]).find((each) => typeof each === "string");
  const others = fields.filter(([name, each]) => each !== text || !TEXT_FIELDS.includes(name));
  const rest = others.map(([name, each]) => `${name.replace(/(?<=[a-z\d])_(?=[a-z\d])/gi, " ")}: ${describeInner(each)}`).join(", ");
  return text === undefined ? rest || "{}" : rest === "" ? String(text) : `${String(text)} (${rest})`;
}

function describeInner(value: unknown): string {
  return value !== null && typeof value === "object" && !isRaw(value) && !Array.isArray(value) ? `{${describe(value)}}` : describe(value);
}

/** A number that is kept as it was written. */
function isRaw(value: object): boolean {
  return (JSON as unknown as { isRawJSON?: (value: unknown) => boolean }).isRawJSON?.(value) ?? false;
}

/** Cut a text for a list. */
export function cut(text: string, most = MOST_CHARACTERS): string {
  return showInvisible(text.length > most ? `${text.slice(0, most)} …` : text);
}

/** The person whom a namespace is about: `users/<person>/…`. */
export function findPerson(namespace: string): string | undefined {
  const found = USERS.exec(namespace)?.[1];
  try {
    return found && decodeURIComponent(found);
  } catch {
    return found;
  }
}

type ItemProps = { text: string; href?: string; children: ReactNode; actions?: ReactNode };

/** One memory of any kind: its text, then a quiet line. */
export function Item({ text, href, children, actions }: ItemProps) {
  return (
    <>
      <p className="said" dir="auto">{href ? <a href={href}>{cut(text)}</a> : cut(text)}</p>
      <div className="quiet">{children}{actions}</div>
    </>
  );
}

/** An entry as a list shows it; `of` is the person whose list it is. */
export const EntryItem = memo(function EntryItem({ entry, of }: { entry: Entry; of?: string }) {
  const isSensitive = entry.sensitivity === "confidential" || entry.sensitivity === "restricted";
  const text = entry.value !== undefined ? describe(entry.value) : entry.key;
  const person = findPerson(entry.namespace);
  return (
    <Item text={text} href={toHref(["entry", entry.id])}>
      {isSensitive && <span className="badge">{toWord(entry.sensitivity ?? "")}</span>}
      {person !== undefined && person !== of && <a href={toHref(["person", person])}><Name>{person}</Name></a>}
      <span><Name>{entry.namespace}</Name> / <Name>{entry.key}</Name></span>
      <Author entry={entry} />
      <Time>{entry.version === 1 ? entry.occurred_at : entry.updated_at}</Time>
      {entry.tags.map((tag) => <span key={tag} className="tag"><Name>{tag}</Name></span>)}
      {entry.pinned && <span className="tag">{T.memory.pinned}</span>}
    </Item>
  );
});

/** The author of a memory; on hover or focus, its origin. The card is made when somebody comes near: a long list scrolls more smoothly. */
function Author({ entry }: { entry: Entry }) {
  const [anchor, setAnchor] = useState<HTMLElement>();
  const come = (event: PointerEvent<HTMLElement> | FocusEvent<HTMLElement>) => setAnchor(event.currentTarget);
  const author = entry.curated_by ?? entry.created_by;
  return (
    <>
      <a className="origin" href={toHref(["agent", author])} onPointerEnter={come} onFocus={come}>{T.memory.by} <Name>{author}</Name></a>
      {anchor && <OriginCard entry={entry} anchor={anchor} onHide={() => setAnchor(undefined)} />}
    </>
  );
}

/** Shows itself beside its anchor after a moment, until the pointer or the focus has left both. */
function OriginCard({ entry, anchor, onHide }: { entry: Entry; anchor: HTMLElement; onHide: () => void }) {
  const { task_id, intent_id } = entry.scope;
  const card = useHovercardStore({ placement: "bottom-start", setOpen: (isOpen) => { if (!isOpen) onHide(); } });
  useEffect(() => {
    card.setAnchorElement(anchor);
    const timer = setTimeout(card.show, HOVER_MS);
    const leave = () => { if (!card.getState().open) onHide(); }; // else the card looks at where the pointer goes
    const blur = ({ relatedTarget }: globalThis.FocusEvent) => { if (!card.getState().contentElement?.contains(relatedTarget as Node | null)) onHide(); };
    anchor.addEventListener("pointerleave", leave);
    anchor.addEventListener("blur", blur);
    return () => {
      clearTimeout(timer);
      anchor.removeEventListener("pointerleave", leave);
      anchor.removeEventListener("blur", blur);
    };
  }, [card, anchor, onHide]);
  return (
    <Hovercard store={card} className="menu origin-card" gutter={4} aria-label={T.memory.origin} unmountOnHide>
      <dl className="plain-details">
        <div><dt>{T.memory.stored}</dt><dd><Time>{entry.created_at}</Time> {T.memory.by} <Name>{entry.created_by}</Name></dd></div>
        {entry.version > 1 && <div><dt>{T.memory.corrected}</dt><dd><Time>{entry.updated_at}</Time>{entry.curated_by && <> {T.memory.by} <Name>{entry.curated_by}</Name></>}</dd></div>}
        {entry.occurred_at !== entry.created_at && <div><dt>{T.memory.speaksOf}</dt><dd><Time>{entry.occurred_at}</Time></dd></div>}
        {task_id && <div><dt>{T.work.task}</dt><dd><a href={toHref(["task", task_id])}><Name>{task_id}</Name></a></dd></div>}
        {intent_id && <div><dt>{T.work.intent}</dt><dd><a href={toHref(["intent", intent_id])}><Name>{intent_id}</Name></a></dd></div>}
        <div><dt>{T.memory.kept}</dt><dd>{entry.expires_at ? <Time>{entry.expires_at}</Time> : T.memory.forGood[entry.memory_type]}</dd></div>
      </dl>
      <Uses reference={`e.${entry.id}`} />
    </Hovercard>
  );
}

/** A value as text, with its exact JSON on demand. */
export function Readable({ label, value }: { label: string; value: unknown }) {
  return (
    <>
      <p className="said" dir="auto">{cut(describe(value), MOST_READABLE)}</p>
      <Expandable summary={T.memory.json}>{() => <LongText label={label} text={renderValue(value)} />}</Expandable>
    </>
  );
}

/** The next step where a list is empty, with the command that does it. */
export function Empty({ title, hint, command }: { title: string; hint?: string; command?: string }) {
  return (
    <div className="empty">
      <p><strong>{title}</strong></p>
      {hint && <p>{hint}</p>}
      {command && <p><code>{command}</code></p>}
    </div>
  );
}
