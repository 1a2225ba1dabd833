"""Lines of a log have ids, by which who reads them again knows them."""

from collections.abc import Iterator
from typing import Any

from ministack.services import cloudwatch_logs

_lines = cloudwatch_logs._stream_event_range


def _with_ids(
    history: list[dict[str, Any]], stream: str, start: int, end: int
) -> Iterator[tuple[dict[str, Any], str]]:
    for number, (event, name) in enumerate(_lines(history, stream, start, end), start):
        yield event | {"eventId": f"{name}/{number}"}, name


def mend() -> None:
    """FilterLogEvents tells them."""
    cloudwatch_logs._stream_event_range = _with_ids
