/** What screens share: loading, errors, pages, tables. */

import { useInfiniteQuery, type UseInfiniteQueryResult, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { getSession, subscribe } from "../session/session";

export function Problem({ error }: { error: Error }) {
  const details = error instanceof ApiError ? error.errors : [];
  const title = error instanceof ApiError && error.status === 403 ? "You may not do or see this." : "This didn't work.";
  return (
    <div role="alert" className="problem">
      <strong>{title}</strong> {error.message}
      {error instanceof ApiError && <code> {error.code}</code>}
      {details.length > 0 && <ul>{details.map((each) => <li key={each.field}>{each.field}: {each.message}</li>)}</ul>}
    </div>
  );
}

/** Shows what a query has loaded, or that it loads, or why it can't. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{query.isError && <Problem error={query.error} />}{children(query.data)}</>;
  if (query.isError) return <Problem error={query.error} />;
  return <p role="status">Loading…</p>;
}

type Page = { next?: string; hidden?: boolean };
type Pages<P extends Page> = UseInfiniteQueryResult<{ pages: P[] }>;

/** How many pages stay in the document, however far somebody scrolls. */
const KEPT_PAGES = 3;

/** The cursor of the page before, by list and cursor. */
const previous = new Map<string, string>();

subscribe(() => {
  if (getSession().principal === undefined) previous.clear();
});

/** Load a list page by page; `refresh` (ms) reloads it while only its first page is shown. */
export function usePages<P extends Page>(
  key: unknown[],
  load: (after: string | undefined) => Promise<P>,
  options: { enabled?: boolean; refresh?: number | false } = {},
): Pages<P> {
  const name = (cursor: string) => JSON.stringify([...key, cursor]);
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => load(pageParam || undefined),
    initialPageParam: "",
    getNextPageParam: ({ next }, _pages, cursor) => {
      if (next !== undefined) previous.set(name(next), cursor);
      return next;
    },
    getPreviousPageParam: (_page, _pages, cursor) => previous.get(name(cursor)),
    maxPages: KEPT_PAGES,
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : (options.refresh ?? false)),
  }) as Pages<P>;
}

type ListProps<P extends Page, T> = {
  pages: Pages<P>;
  items: (page: P) => T[];
  empty: ReactNode;
  also?: number; // how many more the children show
  children: (items: T[]) => ReactNode;
};

/** Shows the pages of a list that are loaded. Scrolling loads the next; pages far above leave the document. */
export function List<P extends Page, T>({ pages, items, empty, also = 0, children }: ListProps<P, T>) {
  const { box, loadMore, loadEarlier } = useScrolling(pages);
  const end = useNearness(loadMore, pages.data);
  if (pages.data === undefined) {
    return pages.isError ? <Problem error={pages.error} /> : <p role="status">Loading…</p>;
  }
  const all = pages.data.pages.flatMap(items);
  const isHidden = pages.data.pages.some((page) => page.hidden);
  return (
    <div ref={box}>
      {pages.isError && <Problem error={pages.error} />}
      {pages.hasPreviousPage && (
        <button type="button" disabled={pages.isFetching} onClick={loadEarlier}>Show the ones before</button>
      )}
      {all.length + also > 0 || pages.hasNextPage ? children(all)
        : <p className="empty">{isHidden ? "There is something, but nothing that you may read." : empty}</p>}
      <p className="count" role="status" ref={end}>
        {all.length.toLocaleString()} shown{pages.hasNextPage || pages.hasPreviousPage ? "; there is more." : "."}{" "}
        {pages.hasNextPage && (
          <button type="button" disabled={pages.isFetching} onClick={loadMore}>
            {pages.isFetchingNextPage ? "Loading…" : "Show more"}
          </button>
        )}
      </p>
    </div>
  );
}

/** Load pages so that the rows in view stay where they are when others come or go above them. */
function useScrolling(pages: Pages<Page>) {
  const box = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ row: Element; top: number }>(undefined);
  const keep = (which: "first" | "last") => {
    const rows = box.current?.querySelectorAll("tbody tr, ol.messages > li");
    const row = rows?.[which === "first" ? 0 : rows.length - 1];
    anchor.current = row && { row, top: row.getBoundingClientRect().top };
  };
  useLayoutEffect(() => {
    const kept = anchor.current;
    anchor.current = undefined;
    if (kept?.row.isConnected) window.scrollBy({ top: kept.row.getBoundingClientRect().top - kept.top, behavior: "instant" });
  }, [pages.data]);
  return {
    box,
    loadMore: () => {
      if (pages.hasNextPage && !pages.isFetching) {
        keep("last");
        void pages.fetchNextPage();
      }
    },
    loadEarlier: () => {
      if (pages.hasPreviousPage && !pages.isFetching) {
        keep("first");
        void pages.fetchPreviousPage();
      }
    },
  };
}

/** Call a function when the reader has scrolled to an element, and again if that is still so with new data. */
function useNearness(onNear: () => void, data: unknown) {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const call = useRef(onNear);
  call.current = onNear;
  useEffect(() => {
    if (element === null) return;
    const observer = new IntersectionObserver(([seen]) => {
      if (seen?.isIntersecting && window.scrollY > 0) call.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [element, data]);
  return setElement;
}

/** A table that scrolls sideways by itself where the screen is narrow. */
export function Table({ label, head, children }: { label: string; head: string[]; children: ReactNode }) {
  return (
    <div className="table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead><tr>{head.map((each) => <th key={each} scope="col">{each}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Terms and what they are. */
export function Details({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <dl className="details">
      {rows.map(([term, value]) => <div key={term}><dt>{term}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}
