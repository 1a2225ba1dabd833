/** Texts of others, shown as text: names, times, values. */

import { Fragment, useState, type ReactNode } from "react";
import { renderAgo } from "./ago";
import { showInvisible } from "../api/json";
import { T } from "../texts";

const FIRST_CHARACTERS = 20_000;
const SHORT = 16;
const MORE_CHARACTERS = 200_000;
export const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A name or a short text that somebody else chose. */
export function Name({ children }: { children: string }) {
  return <bdi className="name">{showInvisible(children)}</bdi>;
}

/** A long id, which may be broken anywhere. */
export function Id({ children }: { children: string }) {
  return <bdi className="name id">{showInvisible(children)}</bdi>;
}

/** The beginning of a long id, with all of it on hover. */
export function ShortId({ children }: { children: string }) {
  return <bdi className="name id" title={showInvisible(children)}>{showInvisible(children.slice(0, SHORT))}{children.length > SHORT && "…"}</bdi>;
}

export function Time({ children }: { children: string | null | undefined }) {
  if (!children) return <>–</>;
  return (
    <time dateTime={children} title={TIMES.format(new Date(children))}>
      {renderAgo(Date.parse(children))}
    </time>
  );
}

export function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return <>–</>;
  return (
    <ul className="tags">
      {tags.map((tag) => <li key={tag}><Name>{tag}</Name></li>)}
    </ul>
  );
}

/** A count with its noun: 1 entry, 2 entries. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** A text with places such as `{who}`, each filled with what is shown there. */
export function Sentence({ text, of }: { text: string; of: Record<string, ReactNode> }) {
  return <>{text.split(/\{(\w+)\}/).map((part, at) => <Fragment key={at}>{at % 2 === 0 ? part : of[part]}</Fragment>)}</>;
}

/** Details that are made when somebody opens them. */
export function Expandable({ summary, children }: { summary: ReactNode; children: () => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}

/** A long text, its invisible characters as JSON escapes, cut at first, with ways to see and to copy all of it. */
export function LongText({ text, label }: { text: string; label: string }) {
  const [shown, setShown] = useState(FIRST_CHARACTERS);
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(showInvisible(text)).then(() => setCopied(true));
  return (
    <figure className="value">
      <pre tabIndex={0} role="region" aria-label={label} dir="ltr">{showInvisible(text.slice(0, shown))}</pre>
      <div className="actions">
        {shown < text.length && (
          <button type="button" onClick={() => setShown(shown + MORE_CHARACTERS)}>
            {T.text.more(shown, text.length)}
          </button>
        )}
        {navigator.clipboard && <button type="button" onClick={copy}>{isCopied ? T.text.copied : T.text.copy}</button>}
      </div>
    </figure>
  );
}
