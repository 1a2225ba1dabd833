/** Requests with retries, jitter and Idempotency-Keys. */

import {
  AgentMemoryError,
  ConnectionFailedError,
  InvalidAnswerError,
  ThrottledError,
  toError,
} from "./errors.js";
import type { Page } from "./pages.js";

export interface ClientOptions {
  /** Where the service is; else `AGENT_MEMORY_URL`, else http://127.0.0.1:8080. */
  serverUrl?: string | undefined;
  /** The principal's key; else `AGENT_MEMORY_API_KEY`. */
  apiKey?: string | undefined;
  /** Milliseconds for which one attempt may last; 30,000. */
  timeoutMs?: number;
  /** How often a call that failed in passing is sent again; 4. */
  maxRetries?: number;
  /** Sends the requests; the global `fetch` unless given. */
  fetch?: typeof fetch;
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Ends the call early; then it rejects with the signal's reason. */
  signal?: AbortSignal;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
const PASSING = new Set([502, 503, 504]);
const IDEMPOTENT_BY_KEY = new Set(["POST", "PUT", "PATCH"]);

/** Sends requests to one service with one key. */
export class Http {
  readonly serverUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    const environment = readEnvironment();
    const serverUrl = options.serverUrl ?? (environment.AGENT_MEMORY_URL || "http://127.0.0.1:8080");
    const apiKey = options.apiKey ?? environment.AGENT_MEMORY_API_KEY ?? "";
    this.serverUrl = serverUrl.replace(/\/+$/, "");
    if (!/^https?:\/\//.test(this.serverUrl)) {
      throw new TypeError("serverUrl is like https://memory.example.com");
    }
    if (!/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError("give apiKey, or set AGENT_MEMORY_API_KEY; keys are made of visible ASCII characters");
    }
    this.#apiKey = apiKey;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxRetries = options.maxRetries ?? 4;
    this.#fetch = options.fetch ?? fetch;
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

  async #send<T>(method: string, path: string, options: RequestOptions): Promise<Answer<T>> {
    const url = this.serverUrl + path + renderQuery(options.query ?? {});
    const request = this.#buildRequest(method, options);
    let mayHaveHappened = false;
    for (let attempt = 0; ; attempt += 1) {
      const outcome: Outcome<T> = await this.#attempt<T>(url, request, options.signal, mayHaveHappened);
      if (!("error" in outcome)) return outcome;
      if (attempt >= this.#maxRetries || !outcome.isPassing) throw outcome.error;
      mayHaveHappened ||= outcome.mayHaveHappened;
      await sleep(computeDelay(attempt, outcome.retryAfter), options.signal);
    }
  }

  #buildRequest(method: string, options: RequestOptions): RequestInit {
    const headers: Record<string, string> = { "X-API-Key": this.#apiKey, ...options.headers };
    if (IDEMPOTENT_BY_KEY.has(method)) headers["Idempotency-Key"] ??= crypto.randomUUID();
    if (options.body === undefined) return { method, headers, redirect: "error" };
    headers["Content-Type"] = "application/json";
    return { method, headers, body: JSON.stringify(options.body), redirect: "error" };
  }

  async #attempt<T>(
    url: string,
    request: RequestInit,
    signal: AbortSignal | undefined,
    mayHaveHappened: boolean,
  ): Promise<Outcome<T>> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signals = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(url, { ...request, signal: signals });
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      const error = new ConnectionFailedError(`no answer from ${this.serverUrl}: ${String(cause)}`, {
        mayHaveHappened: true,
      });
      return { error, isPassing: true, mayHaveHappened: true, retryAfter: null };
    }
    if (response.ok) return parseDocument<T>(response, text);
    const error = toError(response, text, mayHaveHappened);
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

function parseDocument<T>(response: Response, text: string): Outcome<T> {
  try {
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
    throw new TypeError("a query separates tags by commas, so it can't ask for one that holds one");
  }
  return String(value);
}

/** Return milliseconds until the next attempt: what the service asks for, at least a jitter. */
function computeDelay(attempt: number, retryAfter: string | null): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
  const jitter = longest * (0.5 + Math.random() / 2);
  const asked = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : 0;
  return Math.max(jitter, Math.min(asked, LONGEST_WAIT_MS));
}

/** Wait; reject with the signal's reason if it is aborted meanwhile. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Return the environment's variables; none where the runtime has none, as in a browser. */
function readEnvironment(): Record<string, string | undefined> {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env ?? {};
}
