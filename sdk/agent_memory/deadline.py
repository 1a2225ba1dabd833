"""The time that one call may take, with all its attempts."""

import time

import httpx

_SHORTEST = 0.001  # minimum seconds of an attempt


class Deadline:
    """The time at which a call fails.

    Args:
        seconds: from now; None: never.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = float("inf") if seconds is None else time.monotonic() + seconds

    def allows_wait(self, seconds: float) -> bool:
        """Return True if another attempt can begin after these seconds."""
        return time.monotonic() + seconds < self._end

    def limit_attempt(self, request: httpx.Request, timeout: float) -> None:
        """Limit the timeout of a request to the remaining time."""
        remaining = max(self._end - time.monotonic(), _SHORTEST)
        limits = httpx.Timeout(min(timeout, remaining)).as_dict()
        request.extensions = {**request.extensions, "timeout": limits}
