/** The shared parts of screens: loading, errors, tables. */

import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { showInvisible } from "../api/json";
import { T } from "../texts";

export function Problem({ error }: { error: Error }) {
  const details = error instanceof ApiError ? error.errors : [];
  const title = error instanceof ApiError && error.status === 403 ? T.problem.denied : T.problem.failed;
  return (
    <div role="alert" className="problem">
      <strong>{title}</strong> {showInvisible(error.message)}
      {error instanceof ApiError && <code> {error.code}</code>}
      {details.length > 0 && <ul>{details.map((each) => <li key={each.field}>{showInvisible(`${each.field}: ${each.message}`)}</li>)}</ul>}
    </div>
  );
}

/** The outline of what is being loaded. */
export function Loading() {
  return (
    <div role="status" className="skeleton">
      <span className="visually-hidden">{T.list.loading}</span>
      <i /><i /><i />
    </div>
  );
}

/** Shows what a query has loaded, or that it loads, or why it can't. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{query.isError && <Problem error={query.error} />}{children(query.data)}</>;
  if (query.isError) return <Problem error={query.error} />;
  return <Loading />;
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
