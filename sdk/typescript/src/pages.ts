/** The items of a list, fetched a page at a time. */

/** The part of a list that a call returns, and the size of its pages. */
export interface Paging {
  /** The maximum number of items; all by default. */
  limit?: number;
  /** The number of items that one request fetches, up to 1,000; 100 by default. */
  pageSize?: number;
  /** `next` of an earlier page of the same list, to continue after it. */
  after?: string;
}

export interface Page<T> {
  items: T[];
  /** The value of `after` for the next page; undefined on the last page. */
  next: string | undefined;
}

export type Fetch<T> = (limit: number, after: string | undefined) => Promise<Page<T>>;

const PAGE_SIZE = 100;

/**
 * The result of a list. Iterate with `for await`; each iteration reads the list again.
 *
 *     for await (const entry of client.memory.query({ namespace: "invoices" })) …  // all of them
 *     const page = await client.memory.query({ namespace: "invoices", pageSize: 20 }).firstPage();
 *     const rest = client.memory.query({ namespace: "invoices", after: page.next });
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #fetch: Fetch<T>;
  readonly #limit: number;
  readonly #pageSize: number;
  readonly #after: string | undefined;

  constructor(fetch: Fetch<T>, paging: Paging = {}) {
    this.#fetch = fetch;
    this.#limit = paging.limit ?? Infinity;
    this.#pageSize = paging.pageSize ?? PAGE_SIZE;
    this.#after = paging.after;
  }

  /** Yield the pages, each with its `items` and the position of the `next` one. */
  async *pages(): AsyncGenerator<Page<T>> {
    let after = this.#after;
    let remaining = this.#limit;
    while (remaining > 0) {
      const page = await this.#fetch(Math.min(this.#pageSize, remaining), after);
      yield page;
      after = page.next;
      if (after === undefined) return;
      remaining -= page.items.length;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Return the first page, by one request. */
  async firstPage(): Promise<Page<T>> {
    for await (const page of this.pages()) return page;
    return { items: [], next: undefined };
  }

  /** Return all items. */
  async list(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
