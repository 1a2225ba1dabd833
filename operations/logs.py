"""Read a function's log, and follow it."""

import time
from collections.abc import Iterator

from operations.deployment import Deployment, client

_PAUSE = 2.0  # seconds
_LATE = 10_000  # ms: CloudWatch may deliver a line this much after a later line
_REMEMBERED = 10_000


def tail(deployment: Deployment, function: str, since: int, *, follow: bool) -> Iterator[str]:
    """Yield each line of a function's log once, from `since` (epoch ms) on."""
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
