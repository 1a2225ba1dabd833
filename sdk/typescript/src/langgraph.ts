/** `agent-memory/langgraph`: a checkpointer and a store for LangGraph.js. */

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  BaseStore,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PendingWrite,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  compareWritesSortKeys,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";

import { MemoryConflictError } from "./errors.js";
import type { Client, Entry } from "./index.js";

type Typed = [type: string, data: string];

interface Head {
  threadId: string;
  namespace: string;
  id: string;
  parent: string | undefined;
  /** Without the values of its channels, unless they expire with it. */
  checkpoint: Typed;
  metadata: Typed;
}

interface StoredWrite {
  taskId: string;
  taskPath: string;
  index: number;
  channel: string;
  value: Typed;
}

const AT_ONCE = 40; // checkpoints that one group of requests reads

export interface SaverOptions {
  /** The private space that holds the checkpoints; `langgraph-js`. */
  space?: string;
  /** The lifetime of checkpoints after a write: seconds, or an ISO 8601 duration. */
  ttl?: number | string;
  serde?: SerializerProtocol;
}

/**
 * LangGraph's checkpoints as objects in a private space of the caller.
 *
 *     const graph = builder.compile({ checkpointer: new AgentMemorySaver(new Client()) });
 */
export class AgentMemorySaver extends BaseCheckpointSaver {
  readonly #client: Client;
  readonly #name: string;
  readonly #ttl: { ttl?: number | string };

  constructor(client: Client, { space = "langgraph-js", ttl, serde }: SaverOptions = {}) {
    super(serde);
    if (space.includes("/")) throw new TypeError("space must not contain a slash");
    this.#client = client;
    this.#name = space;
    this.#ttl = ttl === undefined ? {} : { ttl };
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined;
    const id = getCheckpointId(config);
    const prefix = await toPrefix(readThread(config), readNamespace(config) ?? "");
    for await (const keys of this.#group(id ? prefix + toPlace(id) : prefix, 10)) {
      for (const [head, writes] of await this.#read([keys])) return this.#toTuple(head, writes);
    }
    return undefined;
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { before, filter = {} } = options;
    const threadId = config.configurable?.thread_id as string | undefined;
    const namespace = readNamespace(config);
    const prefix = threadId === undefined ? "t/" : await toPrefix(threadId, namespace);
    const id = getCheckpointId(config);
    const end = before === undefined ? undefined : getCheckpointId(before);
    let remaining = options.limit ?? Infinity;
    let group: string[][] = [];
    const flush = async () => {
      const found = await this.#read(group);
      group = [];
      const tuples: CheckpointTuple[] = [];
      for (const [head, writes] of found) {
        if ((id && head.id !== id) || (end && head.id >= end)) continue;
        if (namespace !== undefined && head.namespace !== namespace) continue;
        const metadata = (await this.#load(head.metadata)) as Record<string, unknown>;
        if (!Object.entries(filter).every(([name, value]) => metadata[name] === value)) continue;
        tuples.push(await this.#toTuple(head, writes));
      }
      return tuples;
    };
    for await (const keys of this.#group(prefix, 1000)) {
      group.push(keys);
      if (group.length < Math.min(AT_ONCE, remaining)) continue;
      for (const tuple of await flush()) {
        if (remaining-- <= 0) return;
        yield tuple;
      }
    }
    for (const tuple of await flush()) {
      if (remaining-- <= 0) return;
      yield tuple;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const threadId = readThread(config);
    const namespace = readNamespace(config) ?? "";
    const copied = copyCheckpoint(checkpoint);
    if (this.#isSharing) {
      const changed = Object.entries(newVersions).filter(([channel]) => copied.channel_values[channel] !== undefined);
      await Promise.all(
        changed.map(async ([channel, version]) => {
          const key = await toValueKey(threadId, namespace, channel, version);
          await this.#store(key, await this.#dump(copied.channel_values[channel]));
        }),
      );
      copied.channel_values = {};
    }
    const head: Head = {
      threadId,
      namespace,
      id: checkpoint.id,
      parent: getCheckpointId(config) || undefined,
      checkpoint: await this.#dump(copied),
      metadata: await this.#dump(metadata),
    };
    await this.#store(`${(await toPrefix(threadId, namespace)) + toPlace(checkpoint.id)}c`, head);
    return toConfig(threadId, namespace, checkpoint.id);
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ""): Promise<void> {
    const id = getCheckpointId(config);
    if (!id) throw new TypeError("the config of writes must name a checkpoint_id");
    const place = (await toPrefix(readThread(config), readNamespace(config) ?? "")) + toPlace(id);
    const stored: StoredWrite[] = await Promise.all(
      writes.map(async ([channel, value], position) => {
        const index = WRITES_IDX_MAP[channel] ?? position;
        return { taskId, taskPath, index, channel, value: await this.#dump(value) };
      }),
    );
    const key = `${place}w/${await hash(taskId)}`;
    const special = stored.filter((each) => each.index < 0);
    await Promise.all(special.map((each) => this.#store(key + each.index, [each])));
    const ordinary = stored.filter((each) => each.index >= 0);
    if (ordinary.length > 0) await this.#addWrites(key, ordinary);
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#client.objects.deleteAll(await this.#space(), await toThread(threadId));
  }

  /** Ordinary writes keep the first: those whose index is free are added. */
  async #addWrites(key: string, writes: StoredWrite[]): Promise<void> {
    for (;;) {
      const found = await this.#client.objects.get(await this.#space(), key);
      const before = found === undefined ? [] : (JSON.parse(decodeText(found.data)) as StoredWrite[]);
      const taken = new Set(before.map((each) => each.index));
      const added = writes.filter((each) => !taken.has(each.index));
      if (added.length === 0) return;
      try {
        await this.#store(key, [...before, ...added], found === undefined ? { onlyNew: true } : { version: found.version });
        return;
      } catch (error) {
        if (!(error instanceof MemoryConflictError)) throw error;
      }
    }
  }

  /** Yield the keys of each checkpoint and its writes, the newest of a namespace first. */
  async *#group(prefix: string, pageSize: number): AsyncGenerator<string[]> {
    let keys: string[] = [];
    let place = "";
    for await (const { key } of this.#client.objects.list(await this.#space(), prefix, { pageSize })) {
      if (!key.includes("/n/")) continue;
      const next = key.split("/").slice(0, 5).join("/");
      if (next !== place && keys.some(isHead)) yield keys;
      if (next !== place) keys = [];
      place = next;
      keys.push(key);
    }
    if (keys.some(isHead)) yield keys;
  }

  async #read(groups: string[][]): Promise<[Head, StoredWrite[]][]> {
    if (groups.length === 0) return [];
    const found = await this.#client.objects.getMany(await this.#space(), groups.flat());
    return groups.flatMap((keys): [Head, StoredWrite[]][] => {
      const parts = keys.flatMap((key) => {
        const data = found.get(key);
        return data === undefined ? [] : [[key, JSON.parse(decodeText(data))] as const];
      });
      const head = parts.find(([key]) => isHead(key))?.[1] as Head | undefined;
      const writes = parts.filter(([key]) => !isHead(key)).flatMap(([, each]) => each as StoredWrite[]);
      return head === undefined ? [] : [[head, writes]];
    });
  }

  async #toTuple(head: Head, writes: StoredWrite[]): Promise<CheckpointTuple> {
    const { threadId, namespace, parent } = head;
    const checkpoint = (await this.#load(head.checkpoint)) as Checkpoint;
    Object.assign(checkpoint.channel_values, await this.#loadValues(head, checkpoint.channel_versions));
    if (checkpoint.v < 4 && parent !== undefined) await this.#migratePendingSends(checkpoint, head);
    return {
      config: toConfig(threadId, namespace, head.id),
      checkpoint,
      metadata: (await this.#load(head.metadata)) as CheckpointMetadata,
      pendingWrites: await this.#loadWrites(writes),
      ...(parent === undefined ? {} : { parentConfig: toConfig(threadId, namespace, parent) }),
    };
  }

  /** A value is stored once for each version of its channel. */
  async #loadValues(head: Head, versions: ChannelVersions): Promise<Record<string, unknown>> {
    if (!this.#isSharing) return {};
    const named = await Promise.all(
      Object.entries(versions).map(async ([channel, version]) => {
        return [channel, await toValueKey(head.threadId, head.namespace, channel, version)] as const;
      }),
    );
    const found = await this.#client.objects.getMany(await this.#space(), named.map(([, key]) => key));
    const values: Record<string, unknown> = {};
    for (const [channel, key] of named) {
      const data = found.get(key);
      if (data !== undefined) values[channel] = await this.#load(JSON.parse(decodeText(data)) as Typed);
    }
    return values;
  }

  /** With a lifetime, a shared value would expire before the checkpoints that share it. */
  get #isSharing(): boolean {
    return this.#ttl.ttl === undefined;
  }

  /** Before version 4, what a step sends was kept in the writes of its parent. */
  async #migratePendingSends(checkpoint: Checkpoint, head: Head): Promise<void> {
    const place = (await toPrefix(head.threadId, head.namespace)) + toPlace(head.parent ?? "");
    const writes: StoredWrite[] = [];
    for await (const { key } of this.#client.objects.list(await this.#space(), `${place}w/`)) {
      const found = await this.#client.objects.get(await this.#space(), key);
      if (found !== undefined) writes.push(...(JSON.parse(decodeText(found.data)) as StoredWrite[]));
    }
    const sent = (await this.#loadWrites(writes)).filter(([, channel]) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions ?? {});
    checkpoint.channel_values = { ...checkpoint.channel_values, [TASKS]: sent.map(([, , value]) => value) };
    checkpoint.channel_versions = {
      ...checkpoint.channel_versions,
      [TASKS]: versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined),
    };
  }

  async #loadWrites(writes: StoredWrite[]): Promise<CheckpointPendingWrite[]> {
    const keyed = writes.map((each) => [writesSortKey(each.taskPath, each.taskId, each.index), each] as const);
    keyed.sort(([one], [other]) => compareWritesSortKeys(one, other));
    return Promise.all(
      keyed.map(async ([, each]): Promise<CheckpointPendingWrite> => [each.taskId, each.channel, await this.#load(each.value)]),
    );
  }

  async #dump(value: unknown): Promise<Typed> {
    const [type, data] = await this.serde.dumpsTyped(value);
    return [type, encodeBase64(data)];
  }

  async #load([type, data]: Typed): Promise<unknown> {
    return this.serde.loadsTyped(type, decodeBase64(data)) as Promise<unknown>;
  }

  async #store(key: string, document: unknown, only: { onlyNew?: true; version?: number } = {}): Promise<void> {
    const options = { contentType: "application/json", ...this.#ttl, ...only };
    await this.#client.objects.put(await this.#space(), key, JSON.stringify(document), options);
  }

  async #space(): Promise<string> {
    const { id } = await this.#client.principals.cachedMe();
    return `agents/${encodeURIComponent(id)}/${this.#name}`;
  }
}

function readThread(config: RunnableConfig): string {
  const threadId = config.configurable?.thread_id as string | undefined;
  if (threadId === undefined) throw new TypeError("the config must name a thread_id: { configurable: { thread_id: ... } }");
  return threadId;
}

/** Undefined means all namespaces, the empty text the root. */
function readNamespace(config: RunnableConfig): string | undefined {
  return config.configurable?.checkpoint_ns as string | undefined;
}

function toConfig(threadId: string, namespace: string, id: string): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: id } };
}

async function toThread(threadId: string): Promise<string> {
  return `t/${await hash(threadId)}/`;
}

/** Return the prefix of the keys of checkpoints: of one namespace, or of all. */
async function toPrefix(threadId: string, namespace: string | undefined): Promise<string> {
  const checkpoints = `${await toThread(threadId)}n/`;
  return namespace === undefined ? checkpoints : `${checkpoints}${await hash(namespace)}/`;
}

async function toValueKey(
  threadId: string,
  namespace: string,
  channel: string,
  version: string | number,
): Promise<string> {
  return `${await toThread(threadId)}v/${await hash(JSON.stringify([namespace, channel, version]))}`;
}

/** Objects are listed by key: the later id, by its bytes, comes first. */
function toPlace(id: string): string {
  const inverted = [...new TextEncoder().encode(id)].map((byte) => (255 - byte).toString(16).padStart(2, "0"));
  return `${inverted.join("")}z/`;
}

function isHead(key: string): boolean {
  return key.endsWith("/c");
}

/** Replace a name of any length by 32 hexadecimal digits. */
async function hash(name: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name)));
  return [...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function encodeBase64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
}

function decodeText(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

export interface StoreOptions {
  /** The prefix of the names of its namespaces in the service; `langgraph` by default, as for the Python store. */
  root?: string;
  /** `episodic` (the caller's own) or `semantic` (shared). */
  memoryType?: "episodic" | "semantic";
  /** The lifetime of an item after a write: seconds, or an ISO 8601 duration. */
  ttl?: number | string;
}

const NOT_INDEXED = "not-indexed";
const MOST_RANKED = 100;
const MOST_ASKED = 8_192; // characters of a query

/**
 * LangGraph's items as entries of the service, the same as those of the Python store.
 *
 * Items are the caller's own, and never evicted. A search with `query` gives the items that fit best first,
 * with their scores; the service embeds them. Values have up to 65,536 bytes of JSON.
 */
export class AgentMemoryStore extends BaseStore {
  readonly #client: Client;
  readonly #root: string;
  readonly #tier: "episodic" | "semantic";
  readonly #fields: { pinned?: boolean; ttl?: number | string };

  constructor(client: Client, { root = "langgraph", memoryType = "episodic", ttl }: StoreOptions = {}) {
    super();
    if (root.includes("/")) throw new TypeError("root must not contain a slash");
    this.#client = client;
    this.#root = root;
    this.#tier = memoryType;
    this.#fields = { ...(memoryType === "episodic" ? { pinned: true } : {}), ...(ttl === undefined ? {} : { ttl }) };
  }

  /** Carry out operations: the reads first, then the last put of each item. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    const results = await Promise.all(
      operations.map(async (each) => {
        if ("namespacePrefix" in each) return this.#search(each);
        if ("value" in each) return void puts.set(JSON.stringify([each.namespace, each.key]), each);
        if ("key" in each) return this.#get(each);
        return this.#listNamespaces(each);
      }),
    );
    for (const each of puts.values()) await this.#put(each);
    return results.map((each) => each ?? null) as OperationResults<Op>;
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const entry = await this.#client.memory.getEntry(this.#name(namespace), key, { memoryType: this.#tier });
    return entry === undefined ? null : this.#toItem(entry);
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
    const name = this.#name(namespace);
    if (value === null) {
      await this.#client.memory.delete(name, key, { memoryType: this.#tier });
      return;
    }
    const tags = index === false ? [NOT_INDEXED] : [];
    await this.#client.memory.put(name, key, value, { memoryType: this.#tier, tags, ...this.#fields });
  }

  async #search({ namespacePrefix, filter = {}, limit = 10, offset = 0, query }: SearchOperation): Promise<SearchItem[]> {
    const namespace = `${this.#name(namespacePrefix)}*`;
    const scores = new Map<string, number>();
    const found = new Map<string, Entry>();
    if (query?.trim()) {
      const options = { memoryType: this.#tier, namespace, topK: MOST_RANKED };
      for (const { entry, score } of await this.#client.memory.search(query.slice(0, MOST_ASKED), options)) {
        if (entry.tags.includes(NOT_INDEXED)) continue;
        scores.set(entry.id, score);
        found.set(entry.id, entry);
      }
    }
    const wanted = (each: Entry) => matches(each.value as Record<string, unknown>, filter);
    const isEnough = () => [...found.values()].filter(wanted).length >= offset + limit;
    if (!isEnough()) {
      for await (const entry of this.#client.memory.query({ namespace, memoryType: this.#tier })) {
        if (!found.has(entry.id)) found.set(entry.id, entry);
        if (isEnough()) break;
      }
    }
    const selected = [...found.values()].filter(wanted).slice(offset, offset + limit);
    return selected.map((each) => {
      const score = scores.get(each.id);
      return { ...this.#toItem(each), ...(score === undefined ? {} : { score }) };
    });
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const found = new Map<string, string[]>();
    const query = { namespace: `${this.#root}/*`, memoryType: this.#tier };
    for await (const { namespace } of this.#client.memory.query(query)) {
      const labels = this.#labels(namespace);
      if (!matchConditions.every((each) => meets(each, labels))) continue;
      const shown = labels.slice(0, maxDepth);
      found.set(shown.join(":"), shown);
    }
    const sorted = [...found.entries()].sort(([one], [other]) => one.localeCompare(other));
    return sorted.map(([, labels]) => labels).slice(offset, offset + limit);
  }

  #toItem(entry: Entry): Item {
    return {
      value: entry.value as Record<string, unknown>,
      key: entry.key,
      namespace: this.#labels(entry.namespace),
      createdAt: new Date(entry.created_at),
      updatedAt: new Date(entry.updated_at),
    };
  }

  #name(labels: readonly string[]): string {
    const escaped = labels.map((each) => `${each.replaceAll("~", "~0").replaceAll("/", "~1")}/`);
    return `${this.#root}/${escaped.join("")}`;
  }

  #labels(namespace: string): string[] {
    const parts = namespace.slice(this.#root.length + 1, -1).split("/");
    return parts.map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
}

function meets({ matchType, path }: MatchCondition, labels: string[]): boolean {
  if (path.length > labels.length) return false;
  const start = matchType === "prefix" ? 0 : labels.length - path.length;
  return path.every((each, at) => each === "*" || each === labels[start + at]);
}

/** Tell whether a value has what LangGraph's filter asks for, by its own rules. */
function matches(value: Record<string, unknown>, filter: Record<string, unknown>): boolean {
  return Object.entries(filter).every(([name, wanted]) => fits(value[name], wanted));
}

const OPERATORS: Record<string, (found: unknown, wanted: unknown) => boolean> = {
  $eq: (found, wanted) => found === wanted,
  $ne: (found, wanted) => found !== wanted,
  $gt: (found, wanted) => Number(found) > Number(wanted),
  $gte: (found, wanted) => Number(found) >= Number(wanted),
  $lt: (found, wanted) => Number(found) < Number(wanted),
  $lte: (found, wanted) => Number(found) <= Number(wanted),
  $in: (found, wanted) => Array.isArray(wanted) && wanted.includes(found),
  $nin: (found, wanted) => !Array.isArray(wanted) || !wanted.includes(found),
};

function fits(found: unknown, wanted: unknown): boolean {
  const operators = typeof wanted === "object" && wanted !== null ? Object.entries(wanted) : [];
  const named = operators.filter(([name]) => name.startsWith("$"));
  if (named.length === 0) return found === wanted;
  return named.every(([name, operand]) => OPERATORS[name]?.(found, operand) ?? false);
}
