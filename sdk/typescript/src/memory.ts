/** `client.memory`: entries of the three tiers. */

import { MemoryConflictError, MemoryNotFoundError } from "./errors.js";
import { MEMORY_HINTS, refuseNames } from "./hints.js";
import { Http, quoteSegment, sleep } from "./http.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Entry = Schemas["Entry"];
export type EntryVersion = Schemas["EntryVersion"];
export type MemoryType = Entry["memory_type"];
/** Any JSON object; an interface of yours is one, too. */
export type JsonObject = Record<string, any>;
export type EntryFields = Partial<
  Pick<
    Schemas["NewEntryBody"],
    "tags" | "ttl" | "expires_at" | "occurred_at" | "pinned" | "priority" | "sensitivity" | "scope"
  >
>;

export interface RememberOptions extends Pick<EntryFields, "tags" | "ttl" | "sensitivity" | "occurred_at"> {
  /** The user whom it is about; by default, it belongs to the caller. */
  user_id?: string;
  /** The entry's name; by default, it is derived from the words. */
  key?: string;
  /** Its source; stored in the value. */
  source?: string;
}

export interface PutOptions extends EntryFields {
  /** The tier; `working` by default. */
  memoryType?: MemoryType;
  /** Replace only this version; 0: only if there is none. */
  version?: number;
}

export interface GetOptions {
  memoryType?: MemoryType;
  /** The owner of the entry; by default, the caller's entry, or else the shared one. */
  agentId?: string;
}

export interface QueryOptions extends GetOptions, Paging {
  namespace?: string;
  key?: string;
  tags?: readonly string[];
  tagsAny?: readonly string[];
  taskId?: string;
  intentId?: string;
  pinned?: boolean;
  /** RFC 3339: only entries that were updated after, or before, this time. */
  updatedAfter?: string;
  updatedBefore?: string;
  /** False does not count as a use for the order of eviction. */
  touch?: boolean;
}

export interface UpdateOptions extends Omit<PutOptions, "version"> {
  /** The argument of the function if there is no entry; the entry is created. */
  initial?: JsonObject;
  /** The time to try in milliseconds; 30,000 by default. */
  deadlineMs?: number;
}

export interface SearchOptions {
  memoryType?: MemoryType;
  namespace?: string;
  agentId?: string;
  tags?: readonly string[];
  /** The maximum number of results; 5 by default. */
  topK?: number;
  /** Leave out results with a lower score; compare scores of one answer only. */
  minScore?: number;
}

export type SearchResult = Schemas["SearchResult"];

const PATH = "/api/v1/memory";

/** Entries of all three tiers. */
export class Memory {
  static {
    refuseNames(this, MEMORY_HINTS);
  }

  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Create or replace the entry under namespace and key; the last writer wins.
   *
   *     await client.memory.put("cache", "rates", { eur: 1.08 }, { ttl: 3600 });
   *
   * @throws MemoryConflictError if `version` is given, and another one is there.
   */
  async put(namespace: string, key: string, value: JsonObject, options: PutOptions = {}): Promise<Entry> {
    const { memoryType = "working", version, ...fields } = options;
    const body = { namespace, key, value, memory_type: memoryType, ...fields };
    return this.#http.send("PUT", PATH, { body, headers: renderPrecondition(version) });
  }

  /**
   * Store a text or a value in shared memory where it belongs; the same text is stored once.
   *
   *     await client.memory.remember("Invoices go out on Fridays", { tags: ["billing"] });
   */
  async remember(memory: string | JsonObject, options: RememberOptions = {}): Promise<Entry> {
    const content = typeof memory === "string" ? { text: memory } : { value: memory };
    return this.#http.send("POST", "/api/v1/remember", { body: { ...content, ...options } });
  }

  /** Return the value; undefined if there is none. */
  async get<T extends JsonObject = JsonObject>(
    namespace: string,
    key: string,
    options: GetOptions = {},
  ): Promise<T | undefined> {
    return (await this.getEntry(namespace, key, options))?.value as T | undefined;
  }

  /** Return the caller's entry under this namespace and key, or else the shared one. */
  async getEntry(namespace: string, key: string, options: GetOptions = {}): Promise<Entry | undefined> {
    if (options.memoryType !== undefined || options.agentId !== undefined) {
      for await (const entry of this.query({ ...options, namespace, key })) {
        if (entry.namespace === namespace) return entry; // a query takes a final `*` for a prefix
      }
      return undefined;
    }
    const own = await this.getEntry(namespace, key, { agentId: await this.#ownId() });
    return own ?? (await this.getEntry(namespace, key, { memoryType: "semantic" }));
  }

  /** Return the entry with this id; undefined if there is none. */
  async getById(id: string): Promise<Entry | undefined> {
    return orUndefined(this.#http.send<Entry>("GET", `${PATH}/${quoteSegment(id)}`));
  }

  /**
   * List the entries that match, newest first, a page at a time.
   *
   *     for await (const entry of client.memory.query({ namespace: "invoices" })) …
   */
  query(options: QueryOptions = {}): Pages<Entry> {
    const asked = { ...toFilters(options), touch: options.touch, total: "none" };
    return new Pages(async (limit, after) => {
      asked.agent_id ??= options.taskId === undefined ? await this.#owner(options.memoryType) : undefined;
      return this.#http.getPage<Entry>(PATH, { ...asked, limit, after }, "entries");
    }, options);
  }

  /**
   * Read the value, and write the result of the function at the version that was read.
   *
   * If another writer is faster, the function is given the newer value, with growing pauses, until
   * the write succeeds or the deadline has passed. No update is lost, and none is made twice.
   *
   *     await client.memory.update("jobs", "count", (v) => ({ n: v.n + 1 }), { initial: { n: 0 } });
   *
   * @throws MemoryConflictError if the deadline has passed, or if an answer was lost and others wrote
   *   since, so that it isn't known whether this update was carried out (`mayHaveHappened`).
   * @throws MemoryNotFoundError if there is no entry, and no `initial`.
   */
  async update<T extends JsonObject = JsonObject>(
    namespace: string,
    key: string,
    change: (value: T) => T,
    options: UpdateOptions = {},
  ): Promise<Entry> {
    const { initial, deadlineMs = 30_000, memoryType, ...fields } = options;
    const end = Date.now() + deadlineMs;
    for (let attempt = 0; ; attempt += 1) {
      let found: Entry | undefined;
      try {
        found = await this.getEntry(namespace, key, memoryType === undefined ? {} : { memoryType });
        if (found !== undefined) {
          const value = assertObject(change(found.value as T));
          return await this.#patch(found, { value, ...omitScope(fields) });
        }
        if (initial === undefined) throw new MemoryNotFoundError("there is no entry; give initial");
        const value = assertObject(change(initial as T));
        return await this.#create(namespace, key, { value, memory_type: memoryType ?? "working", ...fields });
      } catch (error) {
        if (!isRace(error) || mayBeOwnWrite(error, found?.version) || Date.now() >= end) throw error;
        await sleep(Math.random() * Math.min(10 * 2 ** attempt, 1_000));
      }
    }
  }

  /** Delete the caller's own entry, or the shared one with `memoryType: "semantic"`; return true if it existed. */
  async delete(namespace: string, key: string, options: GetOptions & { version?: number } = {}): Promise<boolean> {
    const { version, memoryType, agentId } = options;
    const isAnyTier = memoryType === undefined && agentId === undefined;
    const found = await this.getEntry(namespace, key, isAnyTier ? { agentId: await this.#ownId() } : options);
    if (found === undefined) return false;
    const headers = renderPrecondition(version);
    return wasThere(this.#http.send("DELETE", `${PATH}/${quoteSegment(found.id)}`, { headers }));
  }

  /** Create an entry, or update its present version. */
  async set(namespace: string, key: string, value: JsonObject, options: PutOptions = {}): Promise<Entry> {
    const { memoryType, version, ...fields } = options;
    const found = await this.getEntry(namespace, key, { agentId: await this.#ownId(), ...named({ memoryType }) });
    if (found === undefined) {
      return this.#create(namespace, key, { value, memory_type: memoryType ?? "working", ...fields });
    }
    return this.#patch({ ...found, version: version ?? found.version }, { value, ...omitScope(fields) });
  }

  /** Create several entries, all or none. */
  async batch(entries: readonly Schemas["NewEntryBody"][]): Promise<Entry[]> {
    return (await this.#http.send<{ entries: Entry[] }>("POST", `${PATH}/batch`, { body: { entries } })).entries;
  }

  /** Delete the entries that match; return their number. */
  async deleteBatch(options: Omit<QueryOptions, keyof Paging | "touch">): Promise<number> {
    const query = { ...toFilters(options), agent_id: options.agentId ?? (await this.#owner(options.memoryType)) };
    return (await this.#http.send<{ deleted: number }>("DELETE", `${PATH}/batch`, { query })).deleted;
  }

  /** Return an agent's memory in figures; by default, the caller's. */
  async summary(agentId?: string): Promise<Schemas["MemorySummary"]> {
    return this.#http.send("GET", `/api/v1/agents/${quoteSegment(agentId ?? (await this.#ownId()))}/memory/summary`);
  }

  /** List the versions of an entry, newest first. */
  history(id: string, paging: Paging = {}): Pages<EntryVersion> {
    const path = `${PATH}/${quoteSegment(id)}/history`;
    return new Pages((limit, after) => this.#http.getPage<EntryVersion>(path, { limit, after }, "versions"), paging);
  }

  /** Return an entry as of a version or a time (RFC 3339); undefined if there is none. */
  async getPast(id: string, past: { version?: number; asOf?: string }): Promise<Entry | undefined> {
    const query = { version: past.version, as_of: past.asOf };
    return orUndefined(this.#http.send<Entry>("GET", `${PATH}/${quoteSegment(id)}`, { query }));
  }

  /** Write the value of an earlier version again, as a new version. */
  async restore(id: string, version: number): Promise<Entry> {
    const present = await this.#http.send<Entry>("GET", `${PATH}/${quoteSegment(id)}`);
    const headers = { "If-Match": String(present.version) };
    return this.#http.send("POST", `${PATH}/${quoteSegment(id)}/restore`, { body: { version }, headers });
  }

  /** Remove the earlier versions of an entry; the entry stays. */
  async removeHistory(id: string): Promise<void> {
    await this.#http.send("DELETE", `${PATH}/${quoteSegment(id)}/history`);
  }

  /** Find entries by meaning, words and ids, best first, each with its score. */
  async search(query: string, options: SearchOptions = {}): Promise<SearchResult[]> {
    const { memoryType, topK = 5 } = options;
    const own: MemoryType[] = ["working", "episodic"];
    const all = options.agentId === undefined ? [...own, "semantic" as const] : own;
    const found = await Promise.all(
      (memoryType === undefined ? all : [memoryType]).map((tier) => this.#search(query, tier, topK, options)),
    );
    return found.flat().sort((one, other) => other.score - one.score).slice(0, topK);
  }

  async #search(query: string, tier: MemoryType, topK: number, options: SearchOptions): Promise<SearchResult[]> {
    const body = {
      query,
      memory_type: tier,
      namespace: options.namespace,
      agent_id: options.agentId ?? (await this.#owner(tier)),
      tags: options.tags,
      top_k: topK,
      min_score: options.minScore,
    };
    const found = await this.#http.send<{ results: SearchResult[] }>("POST", `${PATH}/search`, { body });
    return found.results;
  }

  /** Private memory has an owner: by default, the caller. */
  async #owner(tier: MemoryType | undefined): Promise<string | undefined> {
    return tier === "working" || tier === "episodic" ? this.#ownId() : undefined;
  }

  async #ownId(): Promise<string> {
    return (await this.#http.getMe()).id;
  }

  #create(namespace: string, key: string, fields: object): Promise<Entry> {
    return this.#http.send("POST", PATH, { body: { namespace, key, ...fields } });
  }

  #patch(entry: Entry, changes: object): Promise<Entry> {
    const headers = { "If-Match": String(entry.version) };
    return this.#http.send("PATCH", `${PATH}/${quoteSegment(entry.id)}`, { body: changes, headers });
  }
}

function toFilters(options: QueryOptions) {
  return {
    namespace: options.namespace,
    key: options.key,
    memory_type: options.memoryType,
    agent_id: options.agentId,
    tags: options.tags,
    tags_any: options.tagsAny,
    "scope.task_id": options.taskId,
    "scope.intent_id": options.intentId,
    pinned: options.pinned,
    updated_after: options.updatedAfter,
    updated_before: options.updatedBefore,
  };
}

function named(options: { memoryType: MemoryType | undefined }): GetOptions {
  return options.memoryType === undefined ? {} : { memoryType: options.memoryType };
}

type Race = MemoryConflictError | MemoryNotFoundError;

/** Return whether another writer was faster. */
function isRace(error: unknown): error is Race {
  return error instanceof MemoryConflictError || (error instanceof MemoryNotFoundError && error.status === 404);
}

/**
 * Return whether a lost attempt may have been carried out before others wrote.
 *
 * Had it been carried out and nothing since, its retry would have been answered as the first time. So
 * if just one version came after the one that it was to replace, that is somebody else's.
 */
function mayBeOwnWrite(error: Race, version: number | undefined): boolean {
  if (!error.mayHaveHappened || error instanceof MemoryNotFoundError) return error.mayHaveHappened;
  return error.currentVersion !== (version ?? 0) + 1;
}

function assertObject<T>(value: T): T {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("the function must return the new value, a JSON object");
  }
  return value;
}

/** An entry keeps the scope that it was created in. */
function omitScope({ scope: _scope, ...fields }: EntryFields): EntryFields {
  return fields;
}

function renderPrecondition(version: number | undefined): Record<string, string> {
  if (version === undefined) return {};
  return version === 0 ? { "If-None-Match": "*" } : { "If-Match": String(version) };
}

/** Return the result of a call; undefined if the resource does not exist. */
export async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof MemoryNotFoundError) return undefined;
    throw error;
  }
}

/** Return true if a deletion removed something, or may have, because its answer was lost. */
export async function wasThere(deletion: Promise<unknown>): Promise<boolean> {
  try {
    await deletion;
    return true;
  } catch (error) {
    if (error instanceof MemoryNotFoundError) return error.mayHaveHappened;
    throw error;
  }
}
