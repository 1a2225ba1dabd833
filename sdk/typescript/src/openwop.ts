/** `client.openwop`: the memory layer of OpenWOP, for runs that can be replayed. */

import type { Http } from "./http.js";
import { MemoryNotFoundError } from "./errors.js";
import type { Paging, Pages } from "./pages.js";
import { Resource, type Fields, type Schemas, splitPaging, toPath } from "./resource.js";

export type OwnMemory = Schemas["OwnMemory"];
export type MemoryEntry = Schemas["MemoryEntry"];
export type MemoryRunState = Schemas["MemoryRunState"];
export type SeenMemoryEntry = Schemas["SeenMemoryEntry"];
export type MemoryRunFields = Omit<Fields<"NewMemoryRunBody">, "secrets"> & { secrets?: Record<string, string> };

export interface MemoryListOptions extends Paging {
  tag?: string;
}

export interface MemoryRankOptions extends MemoryListOptions {
  /** With `rank: "relevance"`, entries are sorted by their match with it. */
  query?: string;
  rank?: "relevance";
  /** The maximum number of tokens of a page's contents. */
  tokenBudget?: number;
}

export interface MemoryEntryFields {
  tags?: readonly string[];
  /** RFC 3339. */
  expiresAt?: string;
}

/** Memory as it is now; in a run, as it was when the run started. */
export class OpenWop extends Resource {
  readonly runId: string | undefined;

  constructor(http: Http, runId?: string) {
    super(http);
    this.runId = runId;
  }

  /**
   * Start a run: its reads see the memory as it is at this moment, and its secrets are never stored.
   *
   *     const run = await client.openwop.start({ agent: "planner", secrets: { stripe: "sk_live_..." } });
   */
  async start(fields: MemoryRunFields): Promise<MemoryRun> {
    const { secrets, ...given } = fields;
    const body = { ...given, ...(secrets === undefined ? {} : { secrets: toSecrets(secrets) }) };
    return new MemoryRun(this.http, await this.send<Schemas["StartedMemoryRun"]>("POST", "/v1/runs", body));
  }

  /** Start a run that sees what another run saw. */
  async replay(runId: string, fields: Omit<MemoryRunFields, "agent" | "scope"> = {}): Promise<MemoryRun> {
    return this.start({ ...fields, replayOf: runId });
  }

  /** Return the state of a run. */
  async getState(runId: string): Promise<MemoryRunState> {
    return this.send("GET", toPath("/v1/runs", runId));
  }

  /** List the caller's runs, newest first. */
  listRuns(paging: Paging = {}): Pages<MemoryRunState> {
    return this.pages("/v1/runs", "runs", paging);
  }

  /** List the memories of the caller and of its agent type, newest first. */
  listMemories(paging: Paging = {}): Pages<OwnMemory> {
    return this.pages("/v1/memories", "memories", paging);
  }

  /** Return the reference of a memory; it is created if there is none. */
  async getReference(agent: string, scope?: string): Promise<string> {
    const body = { agent, ...(scope === undefined ? {} : { scope }) };
    return (await this.send<Schemas["NamedMemory"]>("POST", "/v1/memories", body)).memoryRef;
  }

  /** Delete a run with its snapshot. */
  async deleteRun(runId: string): Promise<void> {
    await this.send("DELETE", toPath("/v1/runs", runId));
  }

  /** List the entries that a run sees, with their authors and deletions. */
  listSeen(runId: string, options: MemoryListOptions & { memoryRef?: string } = {}): Pages<SeenMemoryEntry> {
    const [paging, query] = splitPaging(options);
    return this.pages(`${toPath("/v1/runs", runId)}/entries`, "entries", paging, { ...query });
  }

  /** List the entries of a memory, newest first. */
  list(memoryRef: string, options: MemoryRankOptions = {}): Pages<MemoryEntry> {
    const [paging, query] = splitPaging(options);
    return this.pages(toPath("/v1/memory", memoryRef), "entries", paging, { ...query, runId: this.runId });
  }

  /** Return an entry; undefined if there is none. */
  async get(memoryRef: string, id: string): Promise<MemoryEntry | undefined> {
    try {
      const query = { runId: this.runId };
      const path = toPath("/v1/memory", memoryRef, id);
      return (await this.http.send<Schemas["FoundMemoryEntry"]>("GET", path, { query })).entry as MemoryEntry;
    } catch (error) {
      if (error instanceof MemoryNotFoundError && "entry" in error.problem) return undefined;
      throw error;
    }
  }

  /** Store an entry. */
  async put(memoryRef: string, content: string, fields: MemoryEntryFields = {}): Promise<MemoryEntry> {
    const run = this.runId === undefined ? {} : { runId: this.runId };
    return this.send("POST", toPath("/v1/memory", memoryRef), { content, tags: [], ...fields, ...run });
  }

  /** Delete an entry; return true if it existed. */
  async delete(memoryRef: string, id: string): Promise<boolean> {
    const query = { runId: this.runId };
    const path = toPath("/v1/memory", memoryRef, id);
    return (await this.http.send<Schemas["MemoryEntryDeleted"]>("DELETE", path, { query })).deleted;
  }
}

/** A run on one or several memories. */
export class MemoryRun extends OpenWop {
  readonly memoryRef: string;
  readonly memoryRefs: readonly string[];
  readonly snapshotAt: string;

  constructor(http: Http, started: Schemas["StartedMemoryRun"]) {
    super(http, started.runId);
    this.memoryRef = started.memoryRef;
    this.memoryRefs = started.memoryRefs ?? [started.memoryRef];
    this.snapshotAt = started.snapshotAt;
  }

  /** Name further secrets that the run must not store. */
  async addSecrets(secrets: Record<string, string>): Promise<void> {
    await this.send("POST", `${toPath("/v1/runs", this.runId ?? "")}/secrets`, { secrets: toSecrets(secrets) });
  }

  /** End the run; it can be replayed as long as its snapshot is kept. */
  async end(): Promise<void> {
    await this.send("POST", `${toPath("/v1/runs", this.runId ?? "")}/end`);
  }
}

function toSecrets(secrets: Record<string, string>): { label: string; value: string }[] {
  return Object.entries(secrets).map(([label, value]) => ({ label, value }));
}
