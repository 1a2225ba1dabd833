/** `client.tasks`: tasks that agents work on and hand over. */

import { Http, quoteSegment } from "./http.js";
import { orUndefined } from "./memory.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Task = Schemas["Task"];
export type TaskStatus = Task["status"];
export type TaskFields = Partial<Omit<Schemas["NewTaskBody"], "intent_id">>;
export type TaskChanges = Partial<Schemas["TaskChangeBody"]>;

export interface TaskListOptions extends Paging {
  status?: TaskStatus;
}

const PATH = "/api/v1/tasks";

export class Tasks {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Register a task; the caller coordinates it, unless it is an agent. */
  async create(intentId: string, fields: TaskFields = {}): Promise<Task> {
    return this.#http.send("POST", PATH, { body: { intent_id: intentId, ...fields } });
  }

  /** Return a task; undefined if there is none. */
  async get(id: string): Promise<Task | undefined> {
    return orUndefined(this.#http.send<Task>("GET", `${PATH}/${quoteSegment(id)}`));
  }

  /** List the tasks of an intent, newest first. */
  list(intentId: string, options: TaskListOptions = {}): Pages<Task> {
    return this.#list(`/api/v1/intents/${quoteSegment(intentId)}/tasks`, options);
  }

  /** List the open tasks that are assigned to an agent, newest first. */
  listAssigned(agentId: string, options: TaskListOptions = {}): Pages<Task> {
    return this.#list(`/api/v1/agents/${quoteSegment(agentId)}/tasks`, options);
  }

  #list(path: string, options: TaskListOptions): Pages<Task> {
    const { status, ...paging } = options;
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<Task>(path, { status, total: "none", limit, after });
    return new Pages(fetch, paging);
  }

  /** Hand a task over to another agent, with a note for it. */
  async handOver(task: Task | string, to: string, note?: string): Promise<Task> {
    const present = typeof task === "string" ? await this.get(task) : task;
    if (present === undefined) throw new TypeError(`there is no task ${String(task)}`);
    return this.update(present.id, present.version, { assigned_agent: to, ...(note === undefined ? {} : { note }) });
  }

  /**
   * Change a task at the version that was read.
   *
   * @throws MemoryConflictError if it is at another version.
   */
  async update(id: string, version: number, changes: TaskChanges): Promise<Task> {
    const headers = { "If-Match": String(version) };
    return this.#http.send("PATCH", `${PATH}/${quoteSegment(id)}`, { body: changes, headers });
  }
}
