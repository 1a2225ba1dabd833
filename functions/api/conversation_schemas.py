"""What answers about conversations and states look like (Agent Memory Protocol §4)."""

from functions.api.documents import Document
from functions.api.schema_words import (
    COUNT,
    STRING,
    TIME,
    VERSION,
    array_of,
    maybe,
    object_of,
    one_of,
    page_of,
    ref,
)
from functions.conversations.model import Sensitivity

_MESSAGE = object_of(
    index=COUNT, role=STRING, content={}, timestamp=TIME, metadata={"type": "object"}
)
_HEAD = object_of(
    session_id=STRING,
    user_id=STRING,
    created_by=STRING,
    agent_participants=array_of(STRING),
    shared_with=array_of(STRING),
    tags=array_of(STRING),
    metadata={"type": "object"},
    version=STRING,
    revision=VERSION,
    message_count=COUNT,
    sensitivity=maybe(one_of(Sensitivity)),
    ttl=maybe(STRING),
    expires_at=maybe(TIME),
    created_at=TIME,
    updated_at=TIME,
)
_STATE = object_of(
    agent_id=STRING,
    owner_id=STRING,
    key=STRING,
    value={},
    sensitivity=maybe(one_of(Sensitivity)),
    version=VERSION,
    created_at=TIME,
    updated_at=TIME,
    created_by=STRING,
)

CONVERSATIONS: dict[str, Document] = {
    "Message": _MESSAGE,
    "ConversationHead": _HEAD,
    "Conversation": object_of(
        {"next_offset": COUNT},
        **_HEAD["properties"],
        messages=array_of(ref("Message")),
        offset=COUNT,
    ),
    "ConversationPage": page_of("conversations", "ConversationHead"),
    "Appended": object_of(
        session_id=STRING, revision=VERSION, message_count=COUNT, messages=array_of(ref("Message"))
    ),
    "Popped": object_of(
        session_id=STRING,
        revision=VERSION,
        message_count=COUNT,
        message={"anyOf": [ref("Message"), {"type": "null"}]},
    ),
    "State": _STATE,
    "States": object_of(
        {"next_offset": COUNT},
        agent_id=STRING,
        owner_id=STRING,
        states={"type": "object"},
        total=COUNT,
    ),
}
"""By name, for the OpenAPI document."""
