"""Events as EventBridge hands them over."""

from dataclasses import dataclass
from typing import Any

from functions.platform.errors import ValidationFailed


@dataclass(frozen=True, slots=True)
class Envelope:
    """What EventBridge says of an event: who sent it, and its id there."""

    source: str
    id: str
    detail: Any


def envelope_of(event: Any) -> Envelope:
    """The envelope of an EventBridge event.

    Raises:
        ValidationFailed: it is none.
    """
    parts = event if isinstance(event, dict) else {}
    source, id = parts.get("source"), parts.get("id")
    if not (isinstance(source, str) and isinstance(id, str) and "detail" in parts):
        raise ValidationFailed("event", "is an EventBridge event with source, id and detail")
    return Envelope(source, id, parts["detail"])
