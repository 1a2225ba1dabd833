/** The TypeScript client of the Agent Memory service. */

import { Conversations, type Said, type SayOptions } from "./conversations.js";
import {
  Agents,
  Audit,
  Consolidation,
  Deletions,
  Events,
  Intents,
  Namespaces,
  Principals,
  Strategies,
  Tenants,
  Workflows,
  WorkingValues,
} from "./administration.js";
import { Facts } from "./facts.js";
import { type ClientOptions, Http, type RequestOptions } from "./http.js";
import { Objects } from "./objects.js";
import { Pages, type Paging } from "./pages.js";
import { Procedures } from "./procedures.js";
import { Runs } from "./runs.js";
import type { components } from "./schema.js";
import type { Entry, JsonObject, RememberOptions } from "./memory.js";
import { CLIENT_HINTS, refuseNames } from "./hints.js";
import { Memory } from "./memory.js";
import { OpenWop } from "./openwop.js";
import { Recaller, type Recall, type RecallOptions, type RecallReference } from "./recall.js";
import { States } from "./states.js";
import { type HandOver, type Task, Tasks } from "./tasks.js";
import { UserMemory } from "./user_memory.js";

export * from "./errors.js";
export type {
  AllConversationsOptions,
  Conversation,
  ConversationHead,
  ConversationMessage,
  ConversationFields,
  AtRevision,
  ConversationListOptions,
  ConversationSearchOptions,
  NewMessage,
  Said,
  SayOptions,
  Uses,
} from "./conversations.js";
export type { ClientOptions, RequestOptions } from "./http.js";
export type {
  Entry,
  EntryFields,
  EntryVersion,
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
export type {
  AccessQuestion,
  AuditRecord,
  Deletion,
  EventFilters,
  LogEvent,
  LogFilters,
  Namespace,
  NamespaceAccess,
  NewPrincipal,
  Permission,
  Principal,
  Strategy,
  StrategyFields,
} from "./administration.js";
export type { Fact, FactFields, FactFilters, FactPeriod, FactQuery, FactRecallOptions, RecalledFact } from "./facts.js";
export type { ObjectHead, PutObjectOptions, Space, StoredObject } from "./objects.js";
export type {
  MemoryEntry,
  MemoryEntryFields,
  MemoryListOptions,
  MemoryRunFields,
  MemoryRunState,
  OpenWop,
  MemoryRun,
  OwnMemory,
  SeenMemoryEntry,
} from "./openwop.js";
export type { Workflow, WorkflowFields, SelectedWorkflow } from "./procedures.js";
export type { Episode, EpisodeFields, Run, RunFields, RunFilters, RunQuery } from "./runs.js";
export type { Recall, RecallItem, RecallOptions, RecallReference } from "./recall.js";
export { Pages, type Page, type Paging } from "./pages.js";
export type { components, paths } from "./schema.js";
export type { State, StateHead, StateOptions, States } from "./states.js";
export type { Forgotten, InNamespace, UserMemory, UserQueryOptions } from "./user_memory.js";
export type {
  Grant,
  HandOver,
  Task,
  TaskChanges,
  TaskContext,
  TaskContextOptions,
  TaskFields,
  TaskListOptions,
  TaskStatus,
} from "./tasks.js";

/** The parts for administrators, under one name. */
export interface Admin {
  readonly principals: Principals;
  readonly namespaces: Namespaces;
  readonly agents: Agents;
  readonly tenants: Tenants;
  readonly strategies: Strategies;
  readonly consolidation: Consolidation;
  readonly deletions: Deletions;
  readonly audit: Audit;
}

/** The parts that follow a specification, under one name. */
export interface Protocols {
  readonly intents: Intents;
  readonly openwop: OpenWop;
  readonly procedures: Procedures;
  readonly runs: Runs;
  readonly states: States;
  readonly workflows: Workflows;
  readonly workingValues: WorkingValues;
}

/**
 * A client of the Agent Memory service; create one for each process.
 *
 *     const client = new Client();  // by AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY
 *     await client.remember("Invoices go out on Fridays");
 *     console.log((await client.recall("When do invoices go out?")).text);
 */
export class Client {
  static {
    refuseNames(this, CLIENT_HINTS);
  }

  readonly memory: Memory;
  readonly tasks: Tasks;
  readonly conversations: Conversations;
  readonly facts: Facts;
  readonly objects: Objects;
  readonly events: Events;
  readonly admin: Admin;
  readonly protocols: Protocols;
  readonly principals: Principals;
  readonly namespaces: Namespaces;
  readonly agents: Agents;
  readonly tenants: Tenants;
  readonly strategies: Strategies;
  readonly consolidation: Consolidation;
  readonly deletions: Deletions;
  readonly audit: Audit;
  readonly intents: Intents;
  readonly openwop: OpenWop;
  readonly procedures: Procedures;
  readonly runs: Runs;
  readonly states: States;
  readonly workflows: Workflows;
  readonly workingValues: WorkingValues;
  readonly #http: Http;
  readonly #recaller: Recaller;
  readonly #privatePrefixes = new Set<string>();

  constructor(options: ClientOptions = {}) {
    const http = options instanceof Http ? options : new Http(options);
    this.#http = http;
    this.#recaller = new Recaller(http);
    this.memory = new Memory(http);
    this.tasks = new Tasks(http);
    this.conversations = new Conversations(http);
    this.facts = new Facts(http);
    this.objects = new Objects(http);
    this.events = new Events(http);
    this.admin = {
      principals: (this.principals = new Principals(http)),
      namespaces: (this.namespaces = new Namespaces(http)),
      agents: (this.agents = new Agents(http)),
      tenants: (this.tenants = new Tenants(http)),
      strategies: (this.strategies = new Strategies(http)),
      consolidation: (this.consolidation = new Consolidation(http)),
      deletions: (this.deletions = new Deletions(http)),
      audit: (this.audit = new Audit(http)),
    };
    this.protocols = {
      intents: (this.intents = new Intents(http)),
      openwop: (this.openwop = new OpenWop(http)),
      procedures: (this.procedures = new Procedures(http)),
      runs: (this.runs = new Runs(http)),
      states: (this.states = new States(http)),
      workflows: (this.workflows = new Workflows(http)),
      workingValues: (this.workingValues = new WorkingValues(http)),
    };
  }

  /** Return a client with other options for the same service. */
  withOptions(options: Omit<ClientOptions, "serverUrl" | "apiKey">): Client {
    return new Client(this.#http.withOptions(options) as unknown as ClientOptions);
  }

  /** Return the extensions, limits and retention of this installation. */
  async getCapabilities(): Promise<components["schemas"]["Capabilities"]> {
    return this.#http.send("GET", "/api/v1/capabilities");
  }

  /** Hand a task over to another agent, with a note for it. */
  async handOver(task: Task | string, to: string | HandOver, note?: string): Promise<Task> {
    return this.tasks.handOver(task, to, note);
  }

  /**
   * Return the memory of one user of your app.
   *
   *     await client.forUser("ada@example.com").put("tone", { formal: true });
   *
   * @param prefix the prefix of the namespaces of all users.
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

  /** List the messages whose `uses` name an item, newest first. */
  listAnswers(item: RecallReference | string, paging: Paging = {}): Pages<RecallReference> {
    return this.#recaller.listAnswers(item, paging);
  }

  /** Append what was said to a conversation of the caller, and create it if there is none. */
  async say(sessionId: string, said: Said, options: SayOptions = {}): Promise<void> {
    return this.conversations.say(sessionId, said, options);
  }

  /** Delete the item that a reference of a recall names; return true if it existed. */
  async forget(reference: string): Promise<boolean> {
    return this.#recaller.forget(reference);
  }

  /** Send any request to the service, with this client's retries and errors; return its document. */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    return this.#http.send<T>(method, path, options);
  }
}
