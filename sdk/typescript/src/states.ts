/** `client.states`: values that agents keep for an owner. */

import type { Paging, Pages } from "./pages.js";
import { Resource, type Schemas, toPath } from "./resource.js";

export type State = Schemas["State"];
export type StateHead = Schemas["StateHead"];

export interface StateOptions {
  /** `confidential` and `restricted` values are stored encrypted. */
  sensitivity?: State["sensitivity"];
  /** Replace only this version; 0: only if there is none. */
  version?: number;
}

type Values = Record<string, unknown>;

export class States extends Resource {
  /** Store a value, up to 4 MB; return its version. */
  async put(
    agentId: string,
    ownerId: string,
    key: string,
    value: unknown,
    { version, ...fields }: StateOptions = {},
  ): Promise<number> {
    return (await this.change<State>("PUT", ofOwner(agentId, ownerId, key), { value, ...fields }, version)).version;
  }

  /** Return a value; undefined if there is none. */
  async get(agentId: string, ownerId: string, key: string): Promise<unknown> {
    return (await this.find<{ value: unknown }>(ofOwner(agentId, ownerId, key)))?.value;
  }

  /** Return all values for an owner, by key. */
  async getAll(agentId: string, ownerId: string): Promise<Values> {
    const path = ofOwner(agentId, ownerId);
    const [first, next] = await this.#read(path, undefined);
    const found = { ...first };
    for (let after = next; after !== undefined; ) {
      const [page, following] = await this.#read(path, after);
      Object.assign(found, { ...page, ...found });
      after = following;
    }
    // Entries that were written during the read have moved to the front.
    return next === undefined ? found : { ...found, ...(await this.#read(path, undefined))[0] };
  }

  async #read(path: string, after: string | undefined): Promise<[Values, string | undefined]> {
    const page = await this.http.send<{ states: Values; next?: string }>("GET", path, { query: { total: "none", after } });
    return [page.states, page.next];
  }

  /** Delete a value; return true if it existed. */
  async delete(agentId: string, ownerId: string, key: string): Promise<boolean> {
    return this.remove(ofOwner(agentId, ownerId, key));
  }

  /** List the states for an owner without their values, the last updated first. */
  list(agentId: string, ownerId: string, paging: Paging = {}): Pages<StateHead> {
    return this.pages(ofOwner(agentId, ownerId), "heads", paging, { values: "omit" });
  }

  /** List an agent's states for all owners, grouped by owner; others see only states that they own. */
  listAll(agentId: string, paging: Paging = {}): Pages<State> {
    return this.pages(`${toPath("/api/v1/agents", agentId)}/state`, "states", paging);
  }
}

function ofOwner(agentId: string, ownerId: string, ...key: string[]): string {
  if (ownerId.includes("/")) throw new TypeError("an owner's id must not contain a slash");
  return toPath(`${toPath("/api/v1/agents", agentId)}/state`, ownerId, ...key);
}
