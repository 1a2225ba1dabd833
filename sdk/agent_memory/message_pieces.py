"""Split messages into pieces; each fits into one request."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from agent_memory.model import Recall, RecallReference
from agent_memory.requests import render_json, render_time

MAX_PIECE_BYTES = 3_500_000  # of its messages as JSON; a single message may be larger

_MOST_WRITES = 90  # messages of an append and their `uses` together
_MOST_USES = 10_000  # of the messages of any other piece

Messages = list[dict[str, Any]]
Uses: TypeAlias = Recall | RecallReference | str | Iterable[RecallReference | str]
"""The sources of a message: a recall, its items, or their references."""


def to_references(uses: Uses) -> list[str]:
    """Return the references of a recall or of items, or the given ones, each once."""
    if isinstance(uses, Recall):
        uses = uses.items
    given = [uses] if isinstance(uses, RecallReference | str) else uses
    names = (each.reference if isinstance(each, RecallReference) else each for each in given)
    return list(dict.fromkeys(names))


def to_messages(messages: Iterable[Mapping[str, Any]]) -> Messages:
    """Return messages in the form of the service.

    A `timestamp` may be a `datetime`, and `uses` a recall or its items.

    Raises:
        TypeError: raised when the messages are no list of dicts.
        ValueError: raised when a timestamp has no time zone.
    """
    listed: list[Any] = [] if isinstance(messages, str | Mapping) else [*messages]
    if isinstance(messages, str | Mapping) or not all(isinstance(e, Mapping) for e in listed):
        raise TypeError(
            'messages must be a list of dicts: [{"role": "user", "content": "Hello"}]; '
            'client.say(session_id, user="Hello") takes a text'
        )
    return [
        {name: _CONVERSIONS.get(name, _keep)(value) for name, value in dict(each).items()}
        for each in listed
    ]


def _keep(value: Any) -> Any:
    return value


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"timestamp": render_time, "uses": to_references}


def split_messages(messages: Messages, most: int | None = None) -> list[Messages]:
    """Split messages into pieces that fit into a request's body.

    Args:
        messages: in their order.
        most: the maximum number in a piece, if there is a limit.

    Returns:
        At least one piece; it may be empty.
    """
    found: list[Messages] = [[]]
    size = writes = 0
    for message in messages:
        more, further = len(render_json(message)) + 1, len(message.get("uses", ()))
        if most:
            further += 1
        is_full = len(found[-1]) == most or writes + further > (
            _MOST_WRITES if most else _MOST_USES
        )
        if found[-1] and (is_full or size + more > MAX_PIECE_BYTES):
            found.append([])
            size = writes = 0
        found[-1].append(message)
        size, writes = size + more, writes + further
    return found
