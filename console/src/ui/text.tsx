/** Texts of others, shown as text: names, times, values. */

import { useState } from "react";
import { showInvisible } from "../api/json";

const FIRST_CHARACTERS = 20_000;
const MORE_CHARACTERS = 200_000;

/** A name or a short text that somebody else chose. */
export function Name({ children }: { children: string }) {
  return <bdi className="name">{showInvisible(children)}</bdi>;
}

/** A long id, which may be broken anywhere. */
export function Id({ children }: { children: string }) {
  return <bdi className="name id">{showInvisible(children)}</bdi>;
}

export function Time({ children }: { children: string | null | undefined }) {
  if (!children) return <>–</>;
  return (
    <time dateTime={children} title={children}>
      {new Date(children).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })}
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

/** A long text, cut at first, with ways to see and to copy all of it. */
export function LongText({ text, label }: { text: string; label: string }) {
  const [shown, setShown] = useState(FIRST_CHARACTERS);
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <figure className="value">
      <pre tabIndex={0} role="region" aria-label={label} dir="ltr">{text.slice(0, shown)}</pre>
      <div className="actions">
        {shown < text.length && (
          <button type="button" onClick={() => setShown(shown + MORE_CHARACTERS)}>
            Show more ({shown.toLocaleString()} of {text.length.toLocaleString()} characters)
          </button>
        )}
        {navigator.clipboard && <button type="button" onClick={copy}>{isCopied ? "Copied" : "Copy"}</button>}
      </div>
    </figure>
  );
}
