"""The schedule: calls the scheduled function with the event that EventBridge Scheduler sends."""

import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Any

from functions.local.context import LocalContext
from functions.local.gateway import Handler
from functions.local.regular import regularly
from functions.platform.clock import now_ms, to_rfc3339

_ACCOUNT, _REGION = "000000000000", "local"
_SCHEDULE = f"arn:aws:scheduler:{_REGION}:{_ACCOUNT}:schedule/default/agent-memory-sweep"


@dataclass(frozen=True, slots=True)
class _Context(LocalContext):
    """Like Lambda's, but its time is over as soon as the server is to end."""

    ending: Event | None = None

    def get_remaining_time_in_millis(self) -> int:
        """How long the invocation may still take."""
        if self.ending is not None and self.ending.is_set():
            return 0
        return LocalContext.get_remaining_time_in_millis(self)


def running(handler: Handler, seconds: float) -> AbstractContextManager[None]:
    """Runs the scheduled function at once and then every `seconds`, one call at a time."""

    def sweep(ending: Event) -> None:
        context = _Context(str(uuid.uuid4()), function_name="agent-memory-sweep", ending=ending)
        handler(to_event(now_ms()), context)

    return regularly(seconds, sweep, "schedule")


def to_event(now: int) -> dict[str, Any]:
    """The event that EventBridge Scheduler sends at `now` (epoch ms; it counts in seconds)."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": _ACCOUNT,
        "time": to_rfc3339(now // 1000 * 1000).replace(".000Z", "Z"),
        "region": _REGION,
        "resources": [_SCHEDULE],
        "detail": "{}",
    }
