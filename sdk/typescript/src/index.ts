/** The TypeScript client of the Agent Memory service. */

import { Conversations, type Said, type SayOptions } from "./conversations.js";
import { ClientOptions, Http, RequestOptions } from "./http.js";
import type { Entry, JsonObject, RememberOptions } from "./memory.js";
import { Memory } from "./memory.js";
import { OpenWop } from "./openwop.js";
import { Recaller, type Recall, type RecallOptions, type RecallReference } from "./recall.js";
import { Strategies } from "./strategies.js";
import { States } from "./states.js";
import { Tasks } from "./tasks.js";
import { UserMemory } from "./user_memory.js";

export * from "./errors.js";
export type {
  AllConversationsOptions,
  Conversation,
  ConversationFields,
  ConversationListOptions,
  Message,
  NewMessage,
  Said,
  SayOptions,
} from "./conversations.js";
export type { ClientOptions, RequestOptions } from "./http.js";
export type {
  Entry,
  EntryFields,
  GetOptions,
  JsonObject,
  MemoryType,
  PutOptions,
  RememberOptions,
  QueryOptions,
  SearchOptions,
  SearchResult,
  UpdateOptions,
} from "./memory.js";
export type { OpenWop, OwnMemory } from "./openwop.js";
export type { Recall, RecallItem, RecallOptions, RecallReference } from "./recall.js";
export { Pages, type Page, type Paging } from "./pages.js";
export type { components, paths } from "./schema.js";
export type { State, States } from "./states.js";
export type { Forgotten, InNamespace, UserMemory, UserQueryOptions } from "./user_memory.js";
export type { Strategies, Strategy, StrategyFields, StrategyStatus } from "./strategies.js";
export type { Task, TaskChanges, TaskFields, TaskListOptions, TaskStatus } from "./tasks.js";

/**
 * A client of the Agent Memory service; make one for a process.
 *
 *     const client = new Client();  // by AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY
 *     await client.memory.put("invoices", "batch", { completed: 23 });
 */
export class Client {
  readonly memory: Memory;
  readonly tasks: Tasks;
  readonly conversations: Conversations;
  readonly states: States;
  readonly strategies: Strategies;
  readonly openwop: OpenWop;
  readonly #http: Http;
  readonly #recaller: Recaller;
  readonly #privatePrefixes = new Set<string>();

  constructor(options: ClientOptions = {}) {
    this.#http = new Http(options);
    this.memory = new Memory(this.#http);
    this.tasks = new Tasks(this.#http);
    this.conversations = new Conversations(this.#http);
    this.states = new States(this.#http);
    this.strategies = new Strategies(this.#http);
    this.openwop = new OpenWop(this.#http);
    this.#recaller = new Recaller(this.#http);
  }

  /**
   * Return the memory of one user of your app, private to whom the prefix is open to.
   *
   *     await client.forUser("ada@example.com").put("tone", { formal: true });
   *
   * @param prefix what the namespaces of all users begin with.
   */
  forUser(userId: string, prefix = "users"): UserMemory {
    return new UserMemory(this.#http, this, userId, prefix, this.#privatePrefixes);
  }

  /** Store a text or a value in the caller's own memory; the same text is stored once. */
  async remember(memory: string | JsonObject, options: RememberOptions = {}): Promise<Entry> {
    return this.memory.remember(memory, options);
  }

  /**
   * Ask all memory that the caller may read one question.
   *
   *     const { text } = await client.recall("What did we promise in March?", { max_tokens: 500 });
   */
  async recall(query: string, options: RecallOptions = {}): Promise<Recall> {
    return this.#recaller.ask("/api/v1/recall", { query, ...options });
  }

  /** Return the item that a reference of a recall names. */
  async getRecalled(reference: string): Promise<RecallReference> {
    return this.#recaller.get(reference);
  }

  /** Append what was said to a conversation of the caller, and create it if there is none. */
  async say(sessionId: string, said: Said, options: SayOptions = {}): Promise<void> {
    return this.conversations.say(sessionId, said, options);
  }

  /** Delete the item that a reference of a recall names; return whether there was one. */
  async forget(reference: string): Promise<boolean> {
    return this.#recaller.forget(reference);
  }

  /** Send any call of the service, with this client's retries and errors; return its document. */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    return this.#http.send<T>(method, path, options);
  }
}
