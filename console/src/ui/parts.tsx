/** The parts of a screen, as links; one is shown at a time. */

import { useEffect, useRef, type ReactNode } from "react";
import { toHref } from "./location";

type LinksProps = { label: string; shown: string; children: ReactNode };

/** A row of links; where it is wider than the screen, it is scrolled so far that the current one is seen. */
export function PartLinks({ label, shown, children }: LinksProps) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = row.current?.querySelector<HTMLElement>("[aria-current]");
    if (row.current && current) row.current.scrollLeft = current.offsetLeft - row.current.offsetLeft - (row.current.clientWidth - current.offsetWidth) / 2;
  }, [shown]);
  return <nav ref={row} className="parts" aria-label={label}>{children}</nav>;
}

type Props = { label: string; path: string[]; shown: string; parts: Record<string, string>; children: ReactNode };

export function Parts({ label, path, shown, parts, children }: Props) {
  return (
    <>
      <PartLinks label={label} shown={shown}>
        {Object.entries(parts).map(([part, title]) => (
          <a key={part} href={toHref(path, { show: part })} aria-current={part === shown ? "page" : undefined}>{title}</a>
        ))}
      </PartLinks>
      {children}
    </>
  );
}
