/** The parts of a screen, as links; one is shown at a time. */

import type { ReactNode } from "react";
import { toHref } from "./location";

type Props = { label: string; path: string[]; shown: string; parts: Record<string, string>; children: ReactNode };

export function Parts({ label, path, shown, parts, children }: Props) {
  return (
    <>
      <nav className="parts" aria-label={label}>
        {Object.entries(parts).map(([part, title]) => (
          <a key={part} href={toHref(path, { show: part })} aria-current={part === shown ? "page" : undefined}>{title}</a>
        ))}
      </nav>
      {children}
    </>
  );
}
