/** What screens share: loading, errors, pages, tables. */

import { useInfiniteQuery, type UseInfiniteQueryResult, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";

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

type Page = { next?: string };
type Pages<P extends Page> = UseInfiniteQueryResult<{ pages: P[] }>;

/** Load a list page by page; `refresh` (ms) reloads it while only its first page is shown. */
export function usePages<P extends Page>(
  key: unknown[],
  load: (after: string | undefined) => Promise<P>,
  options: { enabled?: boolean; refresh?: number | false } = {},
): Pages<P> {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : (options.refresh ?? false)),
  }) as Pages<P>;
}

type ListProps<P extends Page, T> = {
  pages: Pages<P>;
  items: (page: P) => T[];
  empty: ReactNode;
  children: (items: T[]) => ReactNode;
};

/** Shows the pages of a list that are loaded, with a button for the next. */
export function List<P extends Page, T>({ pages, items, empty, children }: ListProps<P, T>) {
  if (pages.data === undefined) {
    return pages.isError ? <Problem error={pages.error} /> : <p role="status">Loading…</p>;
  }
  const all = pages.data.pages.flatMap(items);
  return (
    <>
      {pages.isError && <Problem error={pages.error} />}
      {all.length === 0 && !pages.hasNextPage ? <p className="empty">{empty}</p> : children(all)}
      <p className="count" role="status">
        {all.length.toLocaleString()} shown{pages.hasNextPage ? "; there is more." : "."}{" "}
        {pages.hasNextPage && (
          <button type="button" disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
            {pages.isFetchingNextPage ? "Loading…" : "Show more"}
          </button>
        )}
      </p>
    </>
  );
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
