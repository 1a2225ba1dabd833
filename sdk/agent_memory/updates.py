"""Decide on updates by functions: the new value, its validity, the next attempt."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from agent_memory.exceptions import AgentMemoryError, MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Entry

_SHORTEST_BOUND, _LONGEST_BOUND = 0.01, 2.0  # seconds
_LEAST_ATTEMPTS = 16  # pauses that fit into the remaining time: a long-waiting update comes first

Value = dict[str, Any]


class Retry:
    """The pauses between the attempts of one update, until its deadline.

    A pause is random, up to a bound that begins with the duration of the first attempt and doubles:
    so writers of one entry collide less, on a fast service and on a slow one.

    Args:
        deadline: seconds from now.
    """

    def __init__(self, deadline: float) -> None:
        self._began = time.monotonic()
        self._end = self._began + deadline
        self._longest = 0.0

    def next_pause(self, refusal: AgentMemoryError) -> float:
        """Return the seconds to wait before the next attempt.

        Raises:
            AgentMemoryError: the last error, if the deadline would pass before the next attempt.
        """
        now = time.monotonic()
        remaining = self._end - now
        if remaining <= _SHORTEST_BOUND:
            raise refusal
        self._longest = min(2 * self._longest or now - self._began, _LONGEST_BOUND)
        bound = min(max(self._longest, _SHORTEST_BOUND), remaining / _LEAST_ATTEMPTS)
        return random.uniform(0, bound)  # noqa: S311 - no secret


def compute_value(
    fn: Callable[[Value], Value], found: Entry | None, initial: Value | None
) -> Value:
    """Return the result of the function for an entry's value, or for the initial one.

    Raises:
        MemoryNotFoundError: raised when there is no entry, and no initial value.
        TypeError: raised when the function returns no dict.
    """
    if found is None and initial is None:
        raise MemoryNotFoundError("there is no entry to update; give initial")
    value: Any = fn(dict(initial or {}) if found is None else found.value)
    if not isinstance(value, Mapping):
        raise TypeError(
            f"the function of an update returned {type(value).__name__}, not a dict: "
            "return the new value, as in lambda value: value | {...}"
        )
    return dict(value)


def assert_in_scope(found: Entry | None, scope: Mapping[str, str]) -> None:
    """Check that an entry, if any, has the scope of an update.

    Raises:
        MemoryConflictError: raised when the entry has another scope.
    """
    own = {} if found is None else {"task_id": found.task_id, "intent_id": found.intent_id}
    if found is not None and any(own.get(name) != id for name, id in scope.items()):
        raise MemoryConflictError(
            "the entry under this namespace and key has another scope",
            problem={"current": found.raw, "current_version": found.version},
        )
