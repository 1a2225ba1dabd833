"""Read messages for a strategy, and record in learned items which messages they come from.

The metadata of a fact or the value of an entry has `learned_from`: a list of places, each with the
conversation, the range that was read, the messages that say it, and the strategy.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation, Message
from functions.entries.model import LEARNED_FROM
from functions.learning.model import LearnedItem, Strategy
from functions.learning.prompts import ReadMessage
from functions.learning.rules import fill_template
from functions.platform.clock import from_rfc3339
from functions.platform.json_text import dumps, loads
from functions.platform.limits import (
    MAX_EVIDENCE,
    MAX_MESSAGE_CHARACTERS,
    MAX_READ_CHARACTERS,
    MAX_READ_MESSAGES,
)

Document = dict[str, Any]
_NAMES = {"session_id", "strategy", "messages", "first"}  # that a place has


class Reading(NamedTuple):
    """The messages of a conversation that a strategy has read: from `first` to before `end`."""

    conversation: Conversation
    strategy: Strategy
    first: int
    end: int
    messages: Sequence[ReadMessage]

    @property
    def tenant(self) -> str:
        return self.conversation.tenant

    @property
    def namespace(self) -> str:
        """The namespace of the entries that are learned."""
        return fill_template(self.strategy.namespace, self.conversation)

    @property
    def target(self) -> str:
        """The owner of the memory, and the kind of item."""
        match self.strategy.kind:
            case "facts":
                return f"facts {self.conversation.user_id}"
            case "summary":
                return f"summary {self.namespace} {self.conversation.session_id}"
            case kind:
                return f"{kind} {self.namespace}"

    def select(self, indexes: Iterable[int]) -> list[ReadMessage]:
        """Select messages by their indexes, in order."""
        wanted = set(indexes)
        return [each for each in self.messages if each.index in wanted]


def compute_digest(text: bytes) -> str:
    """Compute the digest that tells a message from its changed versions."""
    return blake2b(text, digest_size=8).hexdigest()


def mark(messages: Iterable[ReadMessage]) -> tuple[str, ...]:
    """Render messages as a row names them: `index:digest`."""
    return tuple(f"{each.index}:{each.digest}" for each in messages)


def parse_mark(text: str) -> tuple[int, str]:
    """Parse index and digest."""
    index, _, digest = text.partition(":")
    return int(index), digest


def build_place(reading: Reading, messages: Iterable[ReadMessage]) -> Document:
    """Build the place that an item was learned from."""
    return {
        "session_id": reading.conversation.session_id,
        "first": reading.first,
        "last": reading.end - 1,
        "messages": [each.index for each in messages],
        "strategy": reading.strategy.name,
        "version": reading.strategy.version,
    }


def add_place(document: Document | None, place: Document) -> Document:
    """Add a place to a document; a strategy has one place for each conversation."""
    places = list_places(document)
    same = next((each for each in places if _is_same(each, place)), None)
    if same is not None:
        indexes = sorted({*same["messages"], *place["messages"]})
        place = place | {"first": min(same["first"], place["first"]), "messages": indexes}
    others = [each for each in places if not _is_same(each, place)]
    return {**(document or {}), LEARNED_FROM: [*others, place][-MAX_EVIDENCE:]}


def remove_messages(document: Document, row: LearnedItem, kept: Sequence[str]) -> Document:
    """Keep only these messages in the place of a row; without any, remove the place."""
    indexes = [parse_mark(each)[0] for each in kept]
    named = {"session_id": row.session_id, "strategy": row.strategy}
    places = [
        each | {"messages": indexes} if _is_same(each, named) else each
        for each in list_places(document)
        if indexes or not _is_same(each, named)
    ]
    return {**document, LEARNED_FROM: places}


def list_places(document: Document | None) -> list[Document]:
    """List the places of a document; a member of this name that a caller wrote is ignored."""
    found = (document or {}).get(LEARNED_FROM)
    places = found if isinstance(found, list) else []
    return [each for each in places if isinstance(each, dict) and each.keys() >= _NAMES]


def _is_same(one: Document, other: Document) -> bool:
    names = ("session_id", "strategy")
    return all(one[name] == other[name] for name in names)


_CUT = " […]"


def read_messages(
    store: MessageStore, conversation: Conversation, strategy: Strategy, first: int
) -> Reading:
    """Read messages from an index on: as many as fit into a request to a model."""
    found: list[ReadMessage] = []
    size = 0
    for message in store.read(conversation, first, MAX_READ_MESSAGES):
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
