"""Messages in parts that one write of the service holds."""

from typing import Any

from agent_memory.requests import render_json

_MOST_BYTES = 3_500_000
_MOST_APPENDED = 50

Messages = list[dict[str, Any]]


def parts(messages: Messages) -> list[Messages]:
    """Split messages: the first part is as large as a body may be, the others as an append."""
    found: list[Messages] = [[]]
    size = 0
    for message in messages:
        more = len(render_json(message)) + 1
        full = len(found) > 1 and len(found[-1]) == _MOST_APPENDED
        if found[-1] and (full or size + more > _MOST_BYTES):
            found.append([])
            size = 0
        found[-1].append(message)
        size += more
    return found
