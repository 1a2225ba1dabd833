/** `client.forUser`: the memory of one user of your app. */

import type { Conversations, Said } from "./conversations.js";
import { MemoryAccessError, MemoryNotFoundError } from "./errors.js";
import { refuseNames, USER_HINTS } from "./hints.js";
import type { Http } from "./http.js";
import type { Entry, EntryFields, JsonObject, Memory, RememberOptions, SearchResult, UpdateOptions } from "./memory.js";
import type { Pages, Paging } from "./pages.js";
import type { Recall, RecallOptions } from "./recall.js";
import type { components } from "./schema.js";

export interface InNamespace {
  /** Groups the user's entries; `memory` by default. */
  namespace?: string;
}

/** The parts of a client that a user's memory needs. */
export interface Verbs {
  readonly memory: Memory;
  readonly conversations: Conversations;
  recall(query: string, options?: RecallOptions): Promise<Recall>;
  forget(reference: string): Promise<boolean>;
}

/** The numbers of what was deleted. */
export interface Forgotten {
  entries: number;
  conversations: number;
  states: number;
  facts: number;
  objects: number;
  /** Items that a reference named. */
  items: number;
}

const COUNTED = ["entries", "conversations", "states", "facts", "objects"] as const;

export interface UserQueryOptions extends Paging {
  /** Only entries of this namespace; by default, of all of the user's namespaces. */
  namespace?: string;
  tags?: readonly string[];
}

/**
 * The memory of one user of your app, under the app's own key; any number of users.
 *
 * Entries are semantic, in the user's namespaces: `users/<user>/<namespace>`, the same as those
 * of the Python client. The prefix has to be private, which `memory.admin` sets once for all users;
 * until then every write is refused.
 */
export class UserMemory {
  static {
    refuseNames(this, USER_HINTS);
  }

  readonly #http: Http;
  readonly #client: Verbs;
  readonly #private: Set<string>;
  readonly #rule: string;
  readonly #root: string;

  constructor(
    http: Http,
    client: Verbs,
    readonly userId: string,
    prefix: string,
    knownPrivate: Set<string>,
  ) {
    if (!userId || !prefix) throw new TypeError("userId and prefix must be texts of at least one character");
    this.#http = http;
    this.#client = client;
    this.#private = knownPrivate;
    this.#rule = `${prefix}/*`;
    this.#root = `${prefix}/${quoteUser(userId)}/`;
  }

  /** Store what you learned about the user; the same text is stored once. */
  async remember(memory: string | JsonObject, options: Omit<RememberOptions, "user_id"> = {}): Promise<Entry> {
    if (this.#rule !== "users/*") throw new TypeError("the service remembers users below users/: use put");
    return this.#client.memory.remember(memory, { ...options, user_id: this.userId });
  }

  /** Create or replace an entry of the user. */
  async put(key: string, value: JsonObject, options: EntryFields & InNamespace = {}): Promise<Entry> {
    const { namespace = "memory", ...fields } = options;
    await this.#assertPrivate();
    return this.#client.memory.put(this.#root + namespace, key, value, { memoryType: "semantic", ...fields });
  }

  /** Return the value of an entry of the user; undefined if there is none. */
  async get<T extends JsonObject = JsonObject>(
    key: string,
    { namespace = "memory" }: InNamespace = {},
  ): Promise<T | undefined> {
    return this.#client.memory.get<T>(this.#root + namespace, key, { memoryType: "semantic" });
  }

  /** Read the value, and write the result of the function; no update is lost. */
  async update<T extends JsonObject = JsonObject>(
    key: string,
    change: (value: T) => T,
    options: Pick<UpdateOptions, "initial" | "deadlineMs"> & InNamespace = {},
  ): Promise<Entry> {
    const { namespace = "memory", ...rest } = options;
    await this.#assertPrivate();
    return this.#client.memory.update<T>(this.#root + namespace, key, change, { memoryType: "semantic", ...rest });
  }

  /** Delete an entry of the user; return true if it existed. */
  async delete(key: string, { namespace = "memory" }: InNamespace = {}): Promise<boolean> {
    return this.#client.memory.delete(this.#root + namespace, key, { memoryType: "semantic" });
  }

  /** List the user's entries, newest first. */
  query({ namespace = "*", ...options }: UserQueryOptions = {}): Pages<Entry> {
    return this.#client.memory.query({ ...options, namespace: this.#root + namespace, memoryType: "semantic" });
  }

  /** Find the user's entries by meaning, words and ids, best first. */
  async search(query: string, options: { topK?: number; minScore?: number } = {}): Promise<SearchResult[]> {
    return this.#client.memory.search(query, { ...options, namespace: `${this.#root}*`, memoryType: "semantic" });
  }

  /** Append what was said to a conversation of the user, and create it if there is none. */
  async say(sessionId: string, said: Said, { join = false }: { join?: boolean } = {}): Promise<void> {
    return this.#client.conversations.say(sessionId, said, { userId: this.userId, join });
  }

  /** Ask all that is stored about the user one question. */
  async recall(query: string, options: Omit<RecallOptions, "user_id"> = {}): Promise<Recall> {
    return this.#client.recall(query, { ...options, user_id: this.userId });
  }

  /**
   * Delete the item that a reference names; without one, all that is stored about the user: entries,
   * facts, conversations, states, objects, and what was learned from them.
   */
  async forget(reference?: string): Promise<Forgotten> {
    const found: Forgotten = { entries: 0, conversations: 0, states: 0, facts: 0, objects: 0, items: 0 };
    if (reference !== undefined) {
      found.items = Number(await this.#client.forget(reference));
      return found;
    }
    if (this.#rule !== "users/*") {
      const query = { namespace: `${this.#root}*`, memory_type: "semantic" };
      found.entries = (await this.#http.send<{ deleted: number }>("DELETE", "/api/v1/memory/batch", { query })).deleted;
    }
    for (;;) {
      const body = { user_id: this.userId };
      const done = await this.#http.send<components["schemas"]["Forgotten"]>("POST", "/api/v1/forget", { body });
      for (const name of COUNTED) found[name] += done[name];
      if (done.complete) return found;
    }
  }

  /** Refuse to write where others of the tenant could read; checked once by a client. */
  async #assertPrivate(): Promise<void> {
    if (this.#private.has(this.#rule)) return;
    const path = `/api/v1/memory/namespaces/${encodeURIComponent(this.#rule)}`;
    const found = await this.#http.send<components["schemas"]["Namespace"]>("GET", path).catch((error) => {
      if (error instanceof MemoryNotFoundError) return undefined;
      if (!(error instanceof MemoryAccessError)) throw error;
      throw new MemoryAccessError(
        `this key may not use the namespaces ${this.#rule}; allow it, with a key that has memory.admin: ` +
          `agent-memory namespaces set '${this.#rule}' --allow AGENT=write`,
      );
    });
    if (found?.permissions.default !== "none") {
      throw new MemoryAccessError(
        `the namespaces ${this.#rule} aren't private yet; set this once, with a key that has memory.admin: ` +
          `agent-memory namespaces set '${this.#rule}' --default none --allow AGENT=write`,
      );
    }
    this.#private.add(this.#rule);
  }
}

/** Quote a name as the Python client does, so that both find the same entries. */
function quoteUser(name: string): string {
  const marks = name === "." || name === ".." ? /[.]/g : /[!'()*]/g;
  return encodeURIComponent(name).replace(marks, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}
