/** `client.states`: what agents keep for an owner. */

import { Http, quoteSegment } from "./http.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

export type State = components["schemas"]["State"];

export class States {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** List an agent's states for all owners, those of one owner together; others get what they own. */
  listAll(agentId: string, paging: Paging = {}): Pages<State> {
    const path = `/api/v1/agents/${quoteSegment(agentId)}/state`;
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<State>(path, { total: "none", limit, after }, "states");
    return new Pages(fetch, paging);
  }
}
