/** The items of a list, fetched a page at a time. */

export interface Page<T> {
  items: T[];
  /** Give it as `after` to go on; undefined on the last page. */
  next: string | undefined;
}

type Fetch<T> = (limit: number, after: string | undefined) => Promise<Page<T>>;

const PAGE_SIZE = 100;

/** Loop over it with `for await`, as often as you like; `list()` gives all items at once. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #fetch: Fetch<T>;
  readonly #limit: number;
  readonly #after: string | undefined;

  constructor(fetch: Fetch<T>, options: { limit?: number; after?: string } = {}) {
    this.#fetch = fetch;
    this.#limit = options.limit ?? Infinity;
    this.#after = options.after;
  }

  /** Yield the pages, each with its `items` and the position of the `next` one. */
  async *pages(): AsyncGenerator<Page<T>> {
    let after = this.#after;
    let remaining = this.#limit;
    while (remaining > 0) {
      const page = await this.#fetch(Math.min(PAGE_SIZE, remaining), after);
      yield page;
      after = page.next;
      if (after === undefined) return;
      remaining -= page.items.length;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Return all items. */
  async list(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
