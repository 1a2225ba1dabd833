"""Failures in the terminal: one line on stderr, and an exit code.

0    done
1    refused: not found, not allowed, a limit is reached, a value is too large
2    usage: an argument, a file, a profile or a value that can't be right
3    conflict: something else is there, or another version of it
4    the key is not a good one
5    the server can't be reached, is overloaded, or answered nonsense
130  Ctrl-C
141  the reader of the output has closed it
143  SIGTERM
"""

from agent_memory import exceptions

REFUSED, USAGE, CONFLICT, UNAUTHENTICATED, UNAVAILABLE = 1, 2, 3, 4, 5
INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143

_BY_SERVICE_ALONE = frozenset({400, 404, 405, 409, 413, 422})
_BY_STATUS = {400: USAGE, 401: UNAUTHENTICATED, 409: CONFLICT, 428: CONFLICT}


class Failure(Exception):
    """A command can't continue; the message has the reason and the remedy.

    Attributes:
        exit_code: of the command.
    """

    exit_code = REFUSED

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code or self.exit_code


class UsageFailure(Failure):
    """An argument, file or profile of the user is invalid."""

    exit_code = USAGE


def to_exit_code(error: exceptions.AgentMemoryError) -> int:
    """Return the exit code after an error of the client."""
    if isinstance(error, exceptions.ThrottledError) or error.status is None or _is_foreign(error):
        return UNAVAILABLE
    return _BY_STATUS.get(error.status, REFUSED if 400 <= error.status < 500 else UNAVAILABLE)


def render_message(error: exceptions.AgentMemoryError) -> str:
    """Return the text of an error for a terminal, without any value or key."""
    if _is_foreign(error):
        return f"HTTP {error.status} is not from the memory service; check the URL"
    parts = [str(error)]
    parts += [f"({error.code})"] if error.code else []
    parts += [f"[request {error.request_id}]"] if error.request_id else []
    return " ".join(parts)


def _is_foreign(error: exceptions.AgentMemoryError) -> bool:
    """Return whether another server rejected the request: not in the service's form.

    Errors of gateways are not in this form either, but have other statuses.
    """
    return isinstance(error, exceptions.InvalidAnswerError) and error.status in _BY_SERVICE_ALONE
