"""Messages in pieces, each of which one request carries."""

from collections.abc import Iterable, Mapping
from typing import Any

from agent_memory.requests import render_json, render_time

MAX_PIECE_BYTES = 3_500_000  # of its messages as JSON; a single message may be larger

Messages = list[dict[str, Any]]


def to_messages(messages: Iterable[Mapping[str, Any]]) -> Messages:
    """Return messages as the service takes them, whose `timestamp` may be a `datetime`.

    Raises:
        TypeError: raised when the messages are no list of dicts.
        ValueError: raised when a timestamp has no time zone.
    """
    listed: list[Any] = [] if isinstance(messages, str | Mapping) else [*messages]
    if isinstance(messages, str | Mapping) or not all(isinstance(e, Mapping) for e in listed):
        raise TypeError(
            'messages are a list of dicts: [{"role": "user", "content": "Hello"}]; '
            'client.say(session_id, user="Hello") takes a text'
        )
    return [
        {
            name: render_time(value) if name == "timestamp" else value
            for name, value in dict(each).items()
        }
        for each in listed
    ]


def split_messages(messages: Messages, most: int | None = None) -> list[Messages]:
    """Split messages into pieces that a request's body holds.

    Args:
        messages: in their order.
        most: how many a piece has at most, if there is a limit.

    Returns:
        At least one piece; it may be empty.
    """
    found: list[Messages] = [[]]
    size = 0
    for message in messages:
        more = len(render_json(message)) + 1
        if found[-1] and (len(found[-1]) == most or size + more > MAX_PIECE_BYTES):
            found.append([])
            size = 0
        found[-1].append(message)
        size += more
    return found
