/** `client.tasks`: tasks that agents work on and hand over. */

import { quoteSegment } from "./http.js";
import { orUndefined } from "./memory.js";
import type { Pages, Paging } from "./pages.js";
import { Resource, type Schemas, splitPaging, toPath } from "./resource.js";

export type Grant = Schemas["Grant"];
export type TaskContext = Schemas["TaskContext"];
export type Task = Schemas["Task"];
export type TaskStatus = Task["status"];
export type TaskFields = Partial<Omit<Schemas["NewTaskBody"], "intent_id">>;
export type TaskChanges = Partial<Schemas["TaskChangeBody"]>;

export interface TaskListOptions extends Paging {
  status?: TaskStatus;
}

const PATH = "/api/v1/tasks";

export interface TaskContextOptions {
  episodic_limit?: number;
  tags?: readonly string[];
  max_kb?: number;
}

/** The next assignee of a task, and a note for it. */
export interface HandOver {
  to: string;
  note?: string;
}

export class Tasks extends Resource {
  /** Register a task; the caller coordinates it, unless it is an agent. */
  async create(intentId: string, fields: TaskFields = {}): Promise<Task> {
    return this.http.send("POST", PATH, { body: { intent_id: intentId, ...fields } });
  }

  /** Return a task; undefined if there is none. */
  async get(id: string): Promise<Task | undefined> {
    return orUndefined(this.http.send<Task>("GET", `${PATH}/${quoteSegment(id)}`));
  }

  /** List the tasks of an intent, newest first. */
  list(intentId: string, options: TaskListOptions = {}): Pages<Task> {
    return this.#list(`/api/v1/intents/${quoteSegment(intentId)}/tasks`, options);
  }

  /** List the open tasks that are assigned to an agent, by default the caller, newest first. */
  listAssigned(agentId?: string, options: TaskListOptions = {}): Pages<Task> {
    const [paging, query] = splitPaging(options);
    const fetch = async (limit: number, after: string | undefined) => {
      const agent = agentId ?? (await this.http.getMe()).id;
      const path = `${toPath("/api/v1/agents", agent)}/tasks`;
      return this.http.getPage<Task>(path, { ...query, total: "none", limit, after });
    };
    return this.makePages(fetch, paging);
  }

  #list(path: string, options: TaskListOptions): Pages<Task> {
    const [paging, query] = splitPaging(options);
    return this.pages(path, undefined, paging, { ...query });
  }

  /** Report a task as done. */
  async complete(id: string, output: unknown = null): Promise<Task> {
    return this.#end(id, { status: "completed", output } as TaskChanges);
  }

  /** Report a task as failed. */
  async fail(id: string, error: unknown = null): Promise<Task> {
    return this.#end(id, { status: "failed", error } as TaskChanges);
  }

  async #end(id: string, changes: TaskChanges): Promise<Task> {
    const { version } = await this.http.send<Task>("GET", toPath(PATH, id));
    return this.update(id, version, changes);
  }

  /** Grant another principal access to a task's memory. */
  async grant(id: string, principal: string, access: Grant["access"] = "read", expiresAt?: string): Promise<void> {
    const body = { access, ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
    await this.send("PUT", toPath(`${toPath(PATH, id)}/grants`, principal), body);
  }

  /** List the grants on a task's memory. */
  listGrants(id: string, paging: Paging = {}): Pages<Grant> {
    return this.pages(`${toPath(PATH, id)}/grants`, "grants", paging);
  }

  /** Revoke a grant. */
  async revoke(id: string, principal: string): Promise<void> {
    await this.send("DELETE", toPath(`${toPath(PATH, id)}/grants`, principal));
  }

  /** Return a task's memory, packed for a context window. */
  async getContext(id: string, options: TaskContextOptions = {}): Promise<TaskContext> {
    return this.http.send("GET", `${toPath(PATH, id)}/context`, { query: { ...options } });
  }

  /** Hand a task over to another agent, with a note for it. */
  async handOver(task: Task | string, to: string | HandOver, note?: string): Promise<Task> {
    if (typeof to !== "string") return this.handOver(task, to.to, to.note);
    const present = typeof task === "string" ? await this.get(task) : task;
    if (present === undefined) throw new TypeError(`there is no task ${String(task)}`);
    return this.update(present.id, present.version, { assigned_agent: to, ...(note === undefined ? {} : { note }) });
  }

  /**
   * Change a task at the version that was read.
   *
   * @throws MemoryConflictError if it has another version.
   */
  async update(id: string, version: number, changes: TaskChanges): Promise<Task> {
    const headers = { "If-Match": String(version) };
    return this.http.send("PATCH", `${PATH}/${quoteSegment(id)}`, { body: changes, headers });
  }
}
