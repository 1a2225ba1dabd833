"""Waiting for what comes by itself."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 60.0  # seconds; far more than anything takes, but for the schedule's minute
Found = TypeVar("Found")


def awaited(look: Callable[[], Found], what: str, patience: float = PATIENCE) -> Found:
    """Return what `look` finds, as soon as it finds something.

    Raises:
        AssertionError: it didn't find anything in time.
    """
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {patience:g} s")
