"""What the room decides without looking at anything but its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.platform.errors import NotFound
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_RUN_VALUE_BYTES, RUN_RETENTION_DAYS
from functions.platform.run_keys import DAY

if TYPE_CHECKING:
    from functions.runs.requests import NewEpisode

_GIVEN = ("role", "kind", "turn", "metadata")
_HINT = "; keep what is larger elsewhere, and its place here"


def json_text(value: object, field: str) -> bytes:
    """A value as it is kept.

    Raises:
        ValueTooLarge: over 65,536 bytes of compact JSON.
        ValidationFailed: it can't be written as JSON.
    """
    return dumps_checked(value, field, MAX_RUN_VALUE_BYTES, _HINT, subject=f"{field} has")


def episode_text(new: NewEpisode) -> bytes:
    """What an episode holds, as one JSON object; what wasn't given takes no room.

    Raises:
        ValueTooLarge, ValidationFailed: as `json_text`.
    """
    given = {name: value for name in _GIVEN if (value := getattr(new, name)) is not None}
    parts = {"content": new.content} | given
    texts = (b'"%b":%b' % (name.encode(), json_text(each, name)) for name, each in parts.items())
    return b"{" + b",".join(texts) + b"}"


def expires(created: int) -> int:
    """Until when (epoch ms) something of this age is kept."""
    return created + RUN_RETENTION_DAYS * DAY


def ttl(created: int) -> int:
    """From when on (epoch s) DynamoDB may remove it."""
    return -(-expires(created) // 1000)


def no_such_run() -> NotFound:
    """What is said of a run that isn't in this tenant, or not any more."""
    return NotFound(f"no run of the last {RUN_RETENTION_DAYS} days has this id")
