/** `client.strategies`: what is learned from conversations. */

import { Http, quoteSegment } from "./http.js";
import { orUndefined, wasThere } from "./memory.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Strategy = Schemas["Strategy"];
export type StrategyStatus = Schemas["StrategyStatus"];
export type StrategyFields = Partial<Omit<Schemas["NewStrategyBody"], "kind">>;

const PATH = "/api/v1/strategies";

export class Strategies {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Set what is learned from conversations. The same again changes nothing.
   *
   *     await client.strategies.put("facts", "facts", { trigger: { messages: 10, idle: "PT5M" } });
   */
  async put(name: string, kind: Strategy["kind"], fields: StrategyFields = {}): Promise<Strategy> {
    return this.#http.send("PUT", toPath(name), { body: { kind, ...fields } });
  }

  /** Return a strategy; undefined if there is none. */
  async get(name: string): Promise<Strategy | undefined> {
    return orUndefined(this.#http.send<Strategy>("GET", toPath(name)));
  }

  /** Return what a strategy has done, and what waits. */
  async getStatus(name: string): Promise<StrategyStatus> {
    return this.#http.send("GET", `${toPath(name)}/status`);
  }

  /** Delete a strategy; return whether there was one. What it has learned stays. */
  async delete(name: string): Promise<boolean> {
    return wasThere(this.#http.send("DELETE", toPath(name)));
  }

  /** List all strategies, by their names. */
  list(paging: Paging = {}): Pages<Strategy> {
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<Strategy>(PATH, { total: "none", limit, after }, "strategies");
    return new Pages(fetch, paging);
  }
}

const toPath = (name: string): string => `${PATH}/${quoteSegment(name)}`;
