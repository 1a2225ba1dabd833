"""Read the messages of a conversation that a strategy has not read, as a model gets them."""

from dataclasses import dataclass
from typing import Any

from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation, Message
from functions.learning.evidence import Reading, compute_digest
from functions.learning.model import Strategy
from functions.learning.prompts import ReadMessage
from functions.platform.clock import from_rfc3339
from functions.platform.json_text import dumps, loads
from functions.platform.limits import (
    MAX_MESSAGE_CHARACTERS,
    MAX_READ_CHARACTERS,
    MAX_READ_MESSAGES,
)

_CUT = " […]"


@dataclass(eq=False)
class Reader:
    """Reads messages for strategies."""

    _messages: MessageStore

    def read(self, conversation: Conversation, strategy: Strategy, first: int) -> Reading:
        """Read the messages from an index on: as many as a request to a model holds."""
        found: list[ReadMessage] = []
        size = 0
        for message in self._messages.read(conversation, first, MAX_READ_MESSAGES):
            read = _read_message(message)
            size += len(read.content)
            if found and size > MAX_READ_CHARACTERS:
                return Reading(conversation, strategy, first, message.index, found)
            found.append(read)
        is_full = len(found) == MAX_READ_MESSAGES
        end = found[-1].index + 1 if is_full else conversation.end
        return Reading(conversation, strategy, first, end, found)


def _read_message(message: Message) -> ReadMessage:
    document: dict[str, Any] = loads(message.text)
    content = document["content"]
    text = content if isinstance(content, str) else dumps(content).decode()
    if len(text) > MAX_MESSAGE_CHARACTERS:
        text = text[:MAX_MESSAGE_CHARACTERS] + _CUT
    return ReadMessage(
        message.index,
        document["role"],
        text,
        from_rfc3339(document["timestamp"]),
        compute_digest(message.text),
    )
