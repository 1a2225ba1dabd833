/** The errors of calls. */

export interface Failure {
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  problem?: Record<string, unknown>;
  mayHaveHappened?: boolean;
}

/** The base of all errors of this package. */
export class AgentMemoryError extends Error {
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** The service's code, such as `VERSION_MISMATCH`. */
  readonly code: string | undefined;
  /** Names the request in the service's logs. */
  readonly requestId: string | undefined;
  /** The problem document (RFC 9457); empty if there is none. */
  readonly problem: Record<string, unknown>;
  /** True if an earlier attempt of this call may have taken effect, although its answer was lost. */
  readonly mayHaveHappened: boolean;

  constructor(message: string, failure: Failure = {}) {
    super(message);
    this.name = new.target.name;
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.problem = failure.problem ?? {};
    this.mayHaveHappened = failure.mayHaveHappened ?? false;
  }
}

/** The present state is another one: another version, or an unexpected entry (409). */
export class MemoryConflictError extends AgentMemoryError {
  /** The present version. */
  get currentVersion(): number | undefined {
    const version = this.problem["current_version"];
    return typeof version === "number" ? version : undefined;
  }

  /** The present entry, if the caller may read it. */
  get current(): Record<string, unknown> | undefined {
    const current = this.problem["current"];
    return typeof current === "object" && current !== null
      ? (current as Record<string, unknown>)
      : undefined;
  }
}

/** The Idempotency-Key was used with another body (409). */
export class IdempotencyConflictError extends AgentMemoryError {}
/** The task has ended (409). */
export class TaskClosedError extends AgentMemoryError {}
/** The run was completed or has failed (409). */
export class RunClosedError extends AgentMemoryError {}
/** The task was reassigned (409). */
export class TaskReassignedError extends AgentMemoryError {}
/** A limit (429 `CAPACITY_EXCEEDED`), or the tenant's (429 `QUOTA_EXCEEDED`), is reached; `problem.limit` is its name. */
export class MemoryCapacityError extends AgentMemoryError {}
/** The principal may not do this (403). */
export class MemoryAccessError extends AgentMemoryError {}
/** The conversation belongs to another principal (409, or 403 if you don't take part in it): use another session id, or join it. */
export class ConversationNotOwned extends MemoryAccessError {}
/** The resource does not exist (404). */
export class MemoryNotFoundError extends AgentMemoryError {}
/** The API key is invalid (401). */
export class AuthenticationError extends AgentMemoryError {}
/** The request is malformed (400); `problem.errors` has the fields. */
export class ValidationError extends AgentMemoryError {}
/** The value, batch or body is too large (413). */
export class TooLargeError extends AgentMemoryError {}
/** The service throttles this client, also after retries (429 `THROTTLED`). */
export class ThrottledError extends AgentMemoryError {}
/** The service or its gateway failed, also after retries (5xx). */
export class ServiceUnavailableError extends AgentMemoryError {}
/** There was no answer, also after retries. */
export class ConnectionFailedError extends AgentMemoryError {}
/** The answer isn't one of the service: no JSON, or of another shape. */
export class InvalidAnswerError extends AgentMemoryError {}

type ErrorClass = new (message: string, failure?: Failure) => AgentMemoryError;

const BY_CODE: Record<string, ErrorClass> = {
  VERSION_MISMATCH: MemoryConflictError,
  ENTRY_EXISTS: MemoryConflictError,
  IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
  RUN_CLOSED: RunClosedError,
  TASK_CLOSED: TaskClosedError,
  CONVERSATION_NOT_OWNED: ConversationNotOwned,
  TASK_REASSIGNED: TaskReassignedError,
  CAPACITY_EXCEEDED: MemoryCapacityError,
  QUOTA_EXCEEDED: MemoryCapacityError,
  THROTTLED: ThrottledError,
};
const BY_STATUS: Record<number, ErrorClass> = {
  400: ValidationError,
  401: AuthenticationError,
  403: MemoryAccessError,
  404: MemoryNotFoundError,
  409: MemoryConflictError,
  413: TooLargeError,
  422: ValidationError,
  428: ValidationError,
  429: ThrottledError,
};

/** The statuses of proxies and gateways, whose errors have their own form. */
const OF_GATEWAYS = new Set([401, 403, 429]);

/** Return the error of an answer. */
export function toError(response: Response, text: string, mayHaveHappened: boolean): AgentMemoryError {
  const problem = parseProblem(text);
  const { status } = response;
  const code = typeof problem["code"] === "string" ? problem["code"] : undefined;
  const failure: Failure = {
    status,
    code,
    requestId: response.headers.get("x-request-id") ?? undefined,
    problem,
    mayHaveHappened: mayHaveHappened || status >= 500,
  };
  const isNamed = code !== undefined || ("error" in problem && "message" in problem); // the latter is OpenWOP's
  if (!isNamed && status < 500 && !OF_GATEWAYS.has(status)) {
    const said = `what answered with HTTP ${status} isn't the memory service; check serverUrl`;
    return new InvalidAnswerError(said, failure);
  }
  const kind = BY_CODE[code ?? ""] ?? BY_STATUS[status] ?? (status >= 500 ? ServiceUnavailableError : InvalidAnswerError);
  const message = problem["message"] ?? problem["detail"] ?? `the answer was HTTP ${status}`;
  return new kind(String(message), failure);
}

function parseProblem(text: string): Record<string, unknown> {
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === "object" && problem !== null ? (problem as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
