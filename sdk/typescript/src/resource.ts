/** The base of the parts of a client. */

import { type Http, type QueryValue, type RequestOptions, quoteSegment } from "./http.js";
import { orUndefined, wasThere } from "./memory.js";
import { type Fetch, Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

export type Schemas = components["schemas"];
/** A body of which every field may be left out. */
export type Fields<Name extends keyof Schemas> = Partial<Schemas[Name]>;

/** A part of the client; it sends its requests through the client's connection. */
export abstract class Resource {
  protected readonly http: Http;

  constructor(http: Http) {
    this.http = http;
  }

  protected send<T>(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    return this.http.send<T>(method, path, body === undefined ? options : { ...options, body });
  }

  /** Send a change, only at a version if one is given. */
  protected change<T>(method: string, path: string, body: unknown, version: number | undefined): Promise<T> {
    return this.send<T>(method, path, body, { headers: atVersion(version) });
  }

  /** Return the resource at a path; undefined if there is none. */
  protected find<T>(path: string): Promise<T | undefined> {
    return orUndefined(this.send<T>("GET", path));
  }

  /** Delete the resource at a path; return true if it existed. */
  protected remove(path: string, version?: number): Promise<boolean> {
    return wasThere(this.change("DELETE", path, undefined, version));
  }

  /** List the resources at a path; without `member`, the answer is an array. */
  protected pages<T>(
    path: string,
    member: string | undefined,
    paging: Paging,
    query: Record<string, QueryValue> = {},
  ): Pages<T> {
    const fetch = (limit: number, after: string | undefined) =>
      this.http.getPage<T>(path, { total: "none", ...query, limit, after }, member);
    return new Pages(fetch, paging);
  }

  protected makePages<T>(fetch: Fetch<T>, paging: Paging): Pages<T> {
    return new Pages(fetch, paging);
  }
}

/** Split the options of a list into filters and paging. */
export function splitPaging<T extends Paging>(options: T): [Paging, Omit<T, keyof Paging>] {
  const { limit, pageSize, after, ...query } = options;
  const given = Object.entries({ limit, pageSize, after }).filter(([, value]) => value !== undefined);
  return [Object.fromEntries(given), query];
}

export function atVersion(version: number | undefined): Record<string, string> {
  return version === undefined ? {} : { "If-Match": String(version) };
}

/** Join the parts of a path, each quoted. */
export function toPath(base: string, ...names: string[]): string {
  return [base, ...names.map(quoteSegment)].join("/");
}

/** Return access by principal in the form of the service. */
export function toRules<T extends string>(access: Record<string, T>): { agent: string; access: T }[] {
  return Object.entries(access).map(([agent, each]) => ({ agent, access: each }));
}
