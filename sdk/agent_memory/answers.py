"""What an answer means: a document, another attempt, or an exception (contract §3)."""

import json
import random
from typing import Any

import httpx

from agent_memory.exceptions import (
    AgentMemoryError,
    AuthenticationError,
    IdempotencyConflictError,
    InvalidAnswerError,
    MemoryAccessError,
    MemoryCapacityError,
    MemoryConflictError,
    MemoryNotFoundError,
    RunClosedError,
    ServiceUnavailableError,
    TaskClosedError,
    ThrottledError,
    TooLargeError,
    ValidationError,
)

_BY_CODE: dict[str, type[AgentMemoryError]] = {
    "CAPACITY_EXCEEDED": MemoryCapacityError,
    "IDEMPOTENCY_CONFLICT": IdempotencyConflictError,
    "RUN_CLOSED": RunClosedError,
    "TASK_CLOSED": TaskClosedError,
    "THROTTLED": ThrottledError,
}
_BY_STATUS: dict[int, type[AgentMemoryError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: MemoryAccessError,
    404: MemoryNotFoundError,
    409: MemoryConflictError,
    413: TooLargeError,
    422: ValidationError,
    428: ValidationError,
    429: ThrottledError,
}
_PASSING = frozenset({502, 503, 504})
_OF_GATEWAYS = frozenset({401, 403, 429})  # what may stand before the service answers these
FIRST_DELAY, LONGEST_DELAY, LONGEST_WAIT = 0.1, 5.0, 60.0  # seconds


def passes(response: httpx.Response) -> bool:
    """Whether the same call may succeed in a moment: 429 `THROTTLED`, 502, 503, 504."""
    if response.status_code == 429:
        return _problem(response).get("code") in ("THROTTLED", None)
    return response.status_code in _PASSING


def is_garbage(response: httpx.Response) -> bool:
    """Whether a success isn't one of the service's: its body is neither empty nor JSON."""
    if not response.is_success or not response.content:
        return False
    try:
        json.loads(response.content)
    except ValueError:
        return True
    return False


def delay(attempt: int, response: httpx.Response | None) -> float:
    """Seconds until the next attempt: what the service asks for, and never in step with others."""
    longest = min(FIRST_DELAY * 2**attempt, LONGEST_DELAY)
    jitter = random.uniform(longest / 2, longest)  # noqa: S311 - no secret
    return max(jitter, _retry_after(response))


def _retry_after(response: httpx.Response | None) -> float:
    text = "" if response is None else response.headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT) if text.isascii() and text.isdigit() else 0.0


def error_of(response: httpx.Response, *, may_have_happened: bool) -> AgentMemoryError:
    """The exception that an answer stands for."""
    problem = _problem(response)
    status, code = response.status_code, problem.get("code")
    named = code is not None or {"error", "message"} <= problem.keys()  # the latter is OpenWOP's
    if not named and status < 500 and status not in _OF_GATEWAYS:
        return garbage(response, may_have_happened=may_have_happened)
    kind = _BY_CODE.get(str(code)) or _BY_STATUS.get(status)
    if kind is None:
        kind = ServiceUnavailableError if status >= 500 else InvalidAnswerError
    message = problem.get("message") or problem.get("detail") or f"the answer was HTTP {status}"
    return kind(
        str(message),
        status=status,
        code=code if isinstance(code, str) else None,
        request_id=response.headers.get("X-Request-Id"),
        problem=problem,
        may_have_happened=may_have_happened,
    )


def garbage(response: httpx.Response, *, may_have_happened: bool) -> InvalidAnswerError:
    """The exception for an answer that isn't the service's."""
    return InvalidAnswerError(
        f"what answered with HTTP {response.status_code} isn't the memory service: its body isn't "
        "what that answers; check server_url, and proxies on the way",
        status=response.status_code,
        request_id=response.headers.get("X-Request-Id"),
        may_have_happened=may_have_happened,
    )


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        problem = json.loads(response.content)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
