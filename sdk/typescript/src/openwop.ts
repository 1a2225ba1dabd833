/** `client.openwop`: the memory layer of OpenWOP. */

import type { Http } from "./http.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

export type OwnMemory = components["schemas"]["Memory"];

export class OpenWop {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** List the memories of the caller and of its agent type, the last one first. */
  listMemories(paging: Paging = {}): Pages<OwnMemory> {
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<OwnMemory>("/v1/memories", { total: "none", limit, after }, "memories");
    return new Pages(fetch, paging);
  }
}
