/** Requests with retries, jitter and Idempotency-Keys. */

import {
  AgentMemoryError,
  ConnectionFailedError,
  InvalidAnswerError,
  ThrottledError,
  toError,
} from "./errors.js";
import type { Page } from "./pages.js";
import type { components } from "./schema.js";

export interface ClientOptions {
  /** The address of the service; by default `AGENT_MEMORY_URL`, or else http://127.0.0.1:8080. */
  serverUrl?: string | undefined;
  /** The principal's key; by default `AGENT_MEMORY_API_KEY`, or else the key of the service that runs in this folder. */
  apiKey?: string | undefined;
  /** The timeout of one attempt in milliseconds; 30,000 by default. */
  timeoutMs?: number;
  /** The number of retries after a transient failure; 4 by default. */
  maxRetries?: number;
  /** The timeout of a call with all its attempts in milliseconds; by default, no limit. */
  deadlineMs?: number | undefined;
  /** Sends the requests; the global `fetch` by default. */
  fetch?: typeof fetch;
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  content?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
const PASSING = new Set([502, 503, 504]);
const ELSEWHERE = 307;
const LOOPBACK = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/;
const IDEMPOTENT_BY_KEY = new Set(["POST", "PUT", "PATCH"]);

/** Sends requests to one service with one key. */
export class Http {
  readonly serverUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #deadlineMs: number | undefined;
  readonly #fetch: typeof fetch;
  #me: Promise<components["schemas"]["Principal"]> | undefined;

  constructor(options: ClientOptions) {
    const { serverUrl, apiKey } = resolveService(options);
    this.serverUrl = serverUrl;
    if (!/^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/.test(this.serverUrl)) {
      throw new TypeError("serverUrl must be like https://memory.example.com");
    }
    if (!/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError(
        "give apiKey, or set AGENT_MEMORY_API_KEY; keys are made of visible ASCII characters. " +
          "`agent-memory serve` keeps one in its folder, which a client in the same folder finds",
      );
    }
    this.#apiKey = apiKey;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxRetries = options.maxRetries ?? 4;
    this.#deadlineMs = options.deadlineMs;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Return another client of the same service with other options. */
  withOptions(options: Omit<ClientOptions, "serverUrl" | "apiKey">): Http {
    return new Http({
      serverUrl: this.serverUrl,
      apiKey: this.#apiKey,
      timeoutMs: this.#timeoutMs,
      maxRetries: this.#maxRetries,
      deadlineMs: this.#deadlineMs,
      fetch: this.#fetch,
      ...options,
    });
  }

  /** Return the caller, as it was when this client first asked. */
  getMe(): Promise<components["schemas"]["Principal"]> {
    this.#me ??= this.send<components["schemas"]["Principal"]>("GET", "/api/v1/me");
    this.#me.catch(() => (this.#me = undefined));
    return this.#me;
  }

  /** Return bytes, or the address where they are. */
  async getBytes(path: string): Promise<{ data: Uint8Array; headers: Headers; location: string | undefined }> {
    const { document, headers } = await this.#send<Uint8Array>("GET", path, {}, parseBytes);
    return { data: document, headers, location: headers.get("location") ?? undefined };
  }

  /** Send bytes to, or get them from, an address that the service returned; the key stays here. */
  transfer(method: string, url: string, data?: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
    const body = data === undefined ? {} : { body: data as BodyInit };
    return this.#fetch(url, { method, headers, redirect: "error", ...body });
  }

  /** Send a request; return the document of its answer, undefined if the answer is empty. */
  async send<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    return (await this.#send<T>(method, path, options)).document;
  }

  /**
   * Return a page of a list.
   *
   * @param member the member of the answer that has the items; without it the answer is an array.
   */
  async getPage<T>(path: string, query: Record<string, QueryValue>, member?: string): Promise<Page<T>> {
    const { document, headers } = await this.#send<unknown>("GET", path, { query });
    if (member === undefined) {
      return { items: document as T[], next: headers.get("x-next") ?? undefined };
    }
    const page = document as Record<string, unknown>;
    return { items: page[member] as T[], next: page.next as string | undefined };
  }

  async #send<T>(
    method: string,
    path: string,
    options: RequestOptions,
    parse: Parse<T> = parseDocument,
  ): Promise<Answer<T>> {
    const url = this.serverUrl + path + renderQuery(options.query ?? {});
    const request: RequestInit = { ...this.#buildRequest(method, options), redirect: "manual" };
    const end = Date.now() + (this.#deadlineMs ?? Infinity);
    let mayHaveHappened = false;
    for (let attempt = 0; ; attempt += 1) {
      const timeoutMs = Math.max(1, Math.min(this.#timeoutMs, end - Date.now()));
      const outcome: Outcome<T> = await this.#attempt(url, request, options.signal, mayHaveHappened, parse, timeoutMs);
      if (!("error" in outcome)) return outcome;
      const delay = computeDelay(attempt, outcome.retryAfter);
      if (attempt >= this.#maxRetries || !outcome.isPassing || Date.now() + delay >= end) throw outcome.error;
      mayHaveHappened ||= outcome.mayHaveHappened;
      await sleep(delay, options.signal);
    }
  }

  #buildRequest(method: string, options: RequestOptions): RequestInit {
    const headers: Record<string, string> = { "X-API-Key": this.#apiKey, ...options.headers };
    if (IDEMPOTENT_BY_KEY.has(method)) headers["Idempotency-Key"] ??= crypto.randomUUID();
    if (options.content !== undefined) return { method, headers, body: options.content as BodyInit };
    if (options.body === undefined) return { method, headers };
    headers["Content-Type"] = "application/json";
    return { method, headers, body: JSON.stringify(options.body) };
  }

  async #attempt<T>(
    url: string,
    request: RequestInit,
    signal: AbortSignal | undefined,
    mayHaveHappened: boolean,
    parse: Parse<T>,
    timeoutMs: number,
  ): Promise<Outcome<T>> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signals = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    let response: Response;
    let bytes: ArrayBuffer;
    try {
      response = await this.#fetch(url, { ...request, signal: signals });
      bytes = await response.arrayBuffer();
    } catch (cause) {
      signal?.throwIfAborted();
      const error = new ConnectionFailedError(`no answer from ${this.serverUrl}: ${String(cause)}`, {
        mayHaveHappened: true,
      });
      return { error, isPassing: true, mayHaveHappened: true, retryAfter: null };
    }
    const isElsewhere = response.status === ELSEWHERE && (parse as unknown) === parseBytes;
    if (response.ok || isElsewhere) return parse(response, new Uint8Array(bytes));
    const error = toError(response, new TextDecoder().decode(bytes), mayHaveHappened);
    return {
      error,
      isPassing: PASSING.has(response.status) || error instanceof ThrottledError,
      mayHaveHappened: PASSING.has(response.status),
      retryAfter: response.headers.get("retry-after"),
    };
  }
}

interface Answer<T> {
  document: T;
  headers: Headers;
}

type Outcome<T> =
  | Answer<T>
  | {
      error: AgentMemoryError;
      isPassing: boolean;
      mayHaveHappened: boolean;
      retryAfter: string | null;
    };

type Parse<T> = (response: Response, bytes: Uint8Array) => Outcome<T>;

function parseBytes(response: Response, bytes: Uint8Array): Outcome<Uint8Array> {
  return { document: bytes, headers: response.headers };
}

function parseDocument<T>(response: Response, bytes: Uint8Array): Outcome<T> {
  try {
    const text = new TextDecoder().decode(bytes);
    const document = (text === "" ? undefined : JSON.parse(text)) as T;
    return { document, headers: response.headers };
  } catch {
    const said = "what answered isn't the memory service: its body is no JSON; check serverUrl";
    const error = new InvalidAnswerError(said, { status: response.status, mayHaveHappened: true });
    return { error, isPassing: false, mayHaveHappened: true, retryAfter: null };
  }
}

/**
 * Return a name as a part of a path.
 *
 * @throws TypeError for `.` and `..`: `fetch` takes them for folders, however they are written.
 */
export function quoteSegment(name: string): string {
  if (!name) throw new TypeError("a name or an id must have at least one character");
  if (name === "." || name === "..") throw new TypeError(`${name} can't be a part of a path`);
  return encodeURIComponent(name);
}

function renderQuery(query: Record<string, QueryValue>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, renderValue(value)]))}`;
}

function renderValue(value: QueryValue): string {
  if (Array.isArray(value) && value.some((each) => each.includes(","))) {
    throw new TypeError("a tag in a query must not contain a comma, which separates tags");
  }
  return String(value);
}

/** Return milliseconds until the next attempt: as the service asks, and at least a jitter. */
function computeDelay(attempt: number, retryAfter: string | null): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
  const jitter = longest * (0.5 + Math.random() / 2);
  return Math.max(jitter, Math.min(readRetryAfter(retryAfter ?? ""), LONGEST_WAIT_MS));
}

/** Return the milliseconds that Retry-After asks for, as a number of seconds or as a date; 0 without it. */
function readRetryAfter(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now() || 0;
}

/** Wait; reject with the signal's reason if it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/**
 * Return the address of the service and the key for it.
 *
 * A key of the data folder is only ever sent to the folder's own address, which is this machine's.
 */
function resolveService(options: ClientOptions): { serverUrl: string; apiKey: string } {
  const environment = readEnvironment();
  const asked = (options.serverUrl ?? (environment.AGENT_MEMORY_URL || undefined))?.replace(/\/+$/, "");
  const apiKey = options.apiKey ?? environment.AGENT_MEMORY_API_KEY;
  if (apiKey === undefined) {
    const folder = environment.AGENT_MEMORY_DATA || ".agent-memory";
    const serverUrl = readFile(`${folder}/address`) ?? "";
    const key = readFile(`${folder}/api-key`);
    if (key && LOOPBACK.test(serverUrl) && (asked ?? serverUrl) === serverUrl) return { serverUrl, apiKey: key };
  }
  return { serverUrl: asked ?? "http://127.0.0.1:8080", apiKey: apiKey ?? "" };
}

interface Runtime {
  env?: Record<string, string | undefined>;
  geteuid?: () => number;
  getBuiltinModule?: (name: string) => { readFileSync: Read; statSync: (path: string) => { uid: number } };
}

type Read = (path: string, encoding: string) => string;

/** Return the environment's variables; none where the runtime has none, as in a browser. */
function readEnvironment(): Record<string, string | undefined> {
  return (globalThis as { process?: Runtime }).process?.env ?? {};
}

/** Return a file of this user; undefined if there is none, or no file system. */
function readFile(path: string): string | undefined {
  try {
    const { process } = globalThis as { process?: Runtime };
    const files = process?.getBuiltinModule?.("node:fs");
    const isOwn = process?.geteuid === undefined || files?.statSync(path).uid === process.geteuid();
    return isOwn ? files?.readFileSync(path, "ascii").trim() : undefined;
  } catch {
    return undefined;
  }
}
