/** `client.recall`: one question to all memory that the caller may read. */

import { Http, quoteSegment } from "./http.js";
import { orUndefined, wasThere } from "./memory.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Recall = Schemas["Recall"];
export type RecallItem = Schemas["RecallItem"];
export type RecallReference = Schemas["RecallReference"];
/** The filters and limits of a recall. */
export type RecallOptions = Partial<Omit<Schemas["QuestionBody"], "query">>;

/** Asks the service. */
export class Recaller {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async ask(path: string, body: RecallOptions & { query?: string }): Promise<Recall> {
    return this.#http.send<Recall>("POST", path, { body });
  }

  async get(reference: string): Promise<RecallReference> {
    return this.#http.send<RecallReference>("GET", `/api/v1/recall/${quoteSegment(reference)}`);
  }

  listAnswers(item: RecallReference | string, paging: Paging): Pages<RecallReference> {
    const reference = typeof item === "string" ? item : item.reference;
    const path = `/api/v1/recall/${quoteSegment(reference)}/answers`;
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<RecallReference>(path, { total: "none", limit, after }, "answers");
    return new Pages(fetch, paging);
  }

  /** Delete an item by its source's own call; return true if it existed. */
  async forget(reference: string): Promise<boolean> {
    const item = await orUndefined(this.get(reference));
    if (item === undefined) return false;
    const query = item.source === "messages" ? { from: item.index, to: (item.index ?? 0) + 1 } : undefined;
    return wasThere(this.#http.send("DELETE", toPath(item), query === undefined ? {} : { query }));
  }
}

function toPath(item: RecallReference): string {
  const id = quoteSegment(item.id);
  if (item.source === "entries") return `/api/v1/memory/${id}`;
  if (item.source === "facts") return `/api/v1/facts/${id}`;
  if (item.source === "episodes") return `/api/v1/runs/${quoteSegment(item.run_id ?? "")}/episodes/${id}`;
  return `/api/v1/conversations/${quoteSegment(item.session_id ?? "")}/messages`;
}
