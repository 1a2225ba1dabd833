"""Read responses: as a document, as a reason to retry, or as an exception."""

import json
import random
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from operator import itemgetter
from typing import Any, TypeVar

import httpx

from agent_memory.exceptions import (
    AgentMemoryError,
    AuthenticationError,
    ConversationNotOwned,
    IdempotencyConflictError,
    InvalidAnswerError,
    MemoryAccessError,
    MemoryCapacityError,
    MemoryConflictError,
    MemoryNotFoundError,
    RunClosedError,
    ServiceUnavailableError,
    TaskClosedError,
    TaskReassignedError,
    ThrottledError,
    TooLargeError,
    ValidationError,
)

_BY_CODE: dict[str, type[AgentMemoryError]] = {
    "CAPACITY_EXCEEDED": MemoryCapacityError,
    "QUOTA_EXCEEDED": MemoryCapacityError,
    "IDEMPOTENCY_CONFLICT": IdempotencyConflictError,
    "RUN_CLOSED": RunClosedError,
    "TASK_CLOSED": TaskClosedError,
    "CONVERSATION_NOT_OWNED": ConversationNotOwned,
    "TASK_REASSIGNED": TaskReassignedError,
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
_OBJECT_SIZE = "X-Object-Size"  # the media type of objects' bytes
_PASSING = frozenset({502, 503, 504})
_OF_GATEWAYS = frozenset({401, 403, 429})  # proxies in front of the service return these
FIRST_DELAY, LONGEST_DELAY, LONGEST_WAIT = 0.1, 5.0, 60.0  # seconds


Parsed = TypeVar("Parsed")


def is_transient(response: httpx.Response) -> bool:
    """Return whether the same call may succeed in a moment: 429 `THROTTLED`, 502, 503, 504."""
    if response.status_code == 429:
        return _problem(response).get("code") in ("THROTTLED", None)
    return response.status_code in _PASSING


def is_not_json(response: httpx.Response) -> bool:
    """Tell whether a success did not come from the service: its body is neither empty nor JSON."""
    if not response.is_success or not response.content or _OBJECT_SIZE in response.headers:
        return False
    try:
        json.loads(response.content)
    except ValueError:
        return True
    return False


def compute_delay(attempt: int, response: httpx.Response | None) -> float:
    """Return the seconds until the next attempt: Retry-After with jitter."""
    longest = min(FIRST_DELAY * 2**attempt, LONGEST_DELAY)
    jitter = random.uniform(longest / 2, longest)  # noqa: S311 - no secret
    return max(jitter, _retry_after(response))


def _retry_after(response: httpx.Response | None) -> float:
    """Return the seconds that Retry-After asks for, also by a date; 0 without it."""
    headers = httpx.Headers() if response is None else response.headers
    text, sent = headers.get("Retry-After", ""), headers.get("Date", "")
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT)
    try:
        wait = parsedate_to_datetime(text) - parsedate_to_datetime(sent)
    except ValueError:
        return 0.0
    return min(wait.total_seconds(), LONGEST_WAIT)


def to_error(response: httpx.Response, *, may_have_happened: bool) -> AgentMemoryError:
    """Return the exception for a response."""
    problem = _problem(response)
    status, code = response.status_code, problem.get("code")
    named = code is not None or {"error", "message"} <= problem.keys()  # `error` is OpenWOP's
    if not named and status < 500 and status not in _OF_GATEWAYS:
        return to_invalid_answer_error(response, may_have_happened=may_have_happened)
    kind = _BY_CODE.get(str(code)) or _BY_STATUS.get(status)
    if kind is None:
        kind = ServiceUnavailableError if status >= 500 else InvalidAnswerError
    message = problem.get("message") or problem.get("detail") or f"the response was HTTP {status}"
    return kind(
        str(message),
        status=status,
        code=code if isinstance(code, str) else None,
        request_id=response.headers.get("X-Request-Id"),
        problem=problem,
        may_have_happened=may_have_happened,
    )


def to_invalid_answer_error(
    response: httpx.Response, *, may_have_happened: bool
) -> InvalidAnswerError:
    """Return the exception for a response that is not from the service."""
    return InvalidAnswerError(
        f"the response with HTTP {response.status_code} is not from the memory service; check "
        "server_url, and proxies in between",
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


def parse(kind: Callable[[Any], Parsed], document: Any) -> Parsed:
    """Parse a document by `kind`.

    Raises:
        InvalidAnswerError: the document isn't of that kind, so it is not from the service.
    """
    try:
        return kind(document)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidAnswerError(
            "the response is not from the memory service, or from a version that this client does "
            "not support; check server_url",
            may_have_happened=True,
        ) from None


def parse_object(answer: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of a response; an empty one if its body is empty.

    Raises:
        InvalidAnswerError: raised when the body is no JSON object.
    """
    return parse(_object, answer.json() if answer.content else {})


def get_member(document: Any, name: str) -> Any:
    """Return a member that a document of the service has.

    Raises:
        InvalidAnswerError: raised when the document lacks the member.
    """
    return parse(itemgetter(name), document)


def parse_position(page: Mapping[str, Any]) -> str | None:
    """Return the position of the next page; None on the last one.

    Raises:
        InvalidAnswerError: raised when the position is malformed.
    """
    following = page.get("next")
    return None if following is None else parse(_text, following)


def parse_items(documents: Any) -> list[dict[str, Any]]:
    """Return a list of documents.

    Raises:
        InvalidAnswerError: raised when it is no list of JSON objects.
    """
    return [parse(_object, each) for each in parse(_list, documents)]


def _list(documents: Any) -> list[Any]:
    if not isinstance(documents, list):
        raise TypeError
    return documents


def _text(document: Any) -> str:
    if not isinstance(document, str):
        raise TypeError
    return document


def _object(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise TypeError
    return document


def may_be_own_write(
    refusal: MemoryConflictError | MemoryNotFoundError, version: int | None
) -> bool:
    """Tell whether a lost attempt may have been carried out before others wrote or deleted.

    If it was carried out, and no other write followed, the retry gets the same response. So if only
    one version follows the version to replace, another writer made it, and the attempt was not
    carried out. If several versions follow, the attempt may have made one of them.

    Args:
        version: the version that the call replaces; None for a create.
    """
    if not refusal.may_have_happened or isinstance(refusal, MemoryNotFoundError):
        return refusal.may_have_happened
    return refusal.current_version != (version or 0) + 1
