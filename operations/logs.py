"""A function's log, as it grows."""

import time
from collections.abc import Iterator

from operations.deployment import Deployment, client

_PAUSE = 2.0  # seconds
_LATE = 10_000  # ms that a line may come after a later one
_REMEMBERED = 10_000


def tail(deployment: Deployment, function: str, since: int, *, follow: bool) -> Iterator[str]:
    """Yield the lines of a function's log from `since` (epoch ms) on, each once."""
    group = deployment.outputs[f"{function}Log"]
    seen: dict[str, None] = {}
    while True:
        pages = client("logs").get_paginator("filter_log_events")
        for page in pages.paginate(logGroupName=group, startTime=since):
            for event in page["events"]:
                if event["eventId"] not in seen:
                    seen[event["eventId"]] = None
                    since = max(since, event["timestamp"] - _LATE)
                    yield event["message"].rstrip()
        if not follow:
            return
        while len(seen) > _REMEMBERED:
            seen.pop(next(iter(seen)))
        time.sleep(_PAUSE)
