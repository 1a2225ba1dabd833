"""How events look to callers (RFC-0015 §5.2)."""

import orjson

from functions.api.documents import Document
from functions.event_log.model import Event
from functions.platform.clock import to_rfc3339
from functions.platform.jsontext import exact_text


def event_document(event: Event) -> Document:
    """An event of a log (RFC-0015 §5.2)."""
    return {
        "id": event.id,
        "type": event.type,
        "agent_id": event.agent,
        "intent_id": event.intent,
        "task_id": event.task,
        "data": orjson.Fragment(exact_text(event.data)),
        "timestamp": to_rfc3339(event.timestamp),
    }
