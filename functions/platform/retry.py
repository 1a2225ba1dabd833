"""Retry operations that fail because of other requests' writes: attempts, waits, a deadline."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import ParamSpec, TypeVar

from functions.platform.errors import Throttled

P = ParamSpec("P")
T = TypeVar("T")

_ATTEMPTS = 10
_FIRST_WAIT, _LONGEST_WAIT, _DEADLINE = 0.01, 0.4, 20.0  # seconds


@dataclass
class Backoff:
    """Limit the attempts of one operation, and space them.

    Use one for each operation: `while True`, try, and `wait()` if another request's write made the
    attempt fail.

    Args:
        reason: why attempts fail, for the error's message: "others are writing this fact".
        attempts: the number of attempts, including the first one.
        first_wait: the upper bound of the first wait, in seconds; it doubles with each.
        longest_wait: the upper bound of all waits, in seconds.
    """

    reason: str
    attempts: int = field(default=_ATTEMPTS, kw_only=True)
    first_wait: float = field(default=_FIRST_WAIT, kw_only=True)
    longest_wait: float = field(default=_LONGEST_WAIT, kw_only=True)
    _failed: int = field(default=0, init=False)
    _deadline: float = field(default_factory=lambda: time.monotonic() + _DEADLINE, init=False)

    def wait(self) -> None:
        """Wait before the next attempt, for a random part of a growing bound."""
        self._failed += 1
        if self._failed >= self.attempts or time.monotonic() > self._deadline:
            raise Throttled(f"{self.reason}; try again in a second")
        bound = min(self.first_wait * 2 ** min(self._failed - 1, 16), self.longest_wait)
        time.sleep(random.uniform(0, bound))  # noqa: S311 - jitter, not a secret


def retry_on(
    error: type[Exception] | tuple[type[Exception], ...], reason: str, *, attempts: int = _ATTEMPTS
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Repeat a function from its start after a write conflict.

    Args:
        error: tells that; raised by no other cause.
        reason: as of `Backoff`, which limits the attempts.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def attempt(*args: P.args, **kwargs: P.kwargs) -> T:
            backoff = Backoff(reason, attempts=attempts)
            while True:
                try:
                    return function(*args, **kwargs)
                except error:
                    backoff.wait()

        return attempt

    return decorate
