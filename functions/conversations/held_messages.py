"""Hold the searchable texts of conversations in memory, as they were read from the table.

A search reads the headers of the conversations, strongly consistent, and then only the messages
that were appended since. Nothing is stored for a search, so a message costs no further write.
"""

from calendar import month_name
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from functions.conversations.mapper import header_key
from functions.conversations.message_store import MessageReader
from functions.conversations.model import Conversation, Message
from functions.conversations.rules import migrate_message
from functions.platform.clock import from_rfc3339
from functions.platform.json_text import list_texts, loads
from functions.platform.limits import MAX_QUERY_CHARACTERS, MAX_SEARCHED_MESSAGES
from functions.vectors.held_texts import Text, add_texts
from functions.vectors.matrix import HeldSpaces, TextMatrix
from functions.vectors.model import Embed

_MAX_HELD_BYTES = 128_000_000  # of some 60,000 messages
_SPEAKERS = ("speaker", "name", "author")


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A message as a search needs it; `time` is its timestamp (epoch ms)."""

    index: int
    role: str
    speaker: str | None
    content: str
    time: int

    @property
    def text(self) -> str:
        """The text that is compared with queries: who said what, and on which day."""
        said = self.content if self.speaker is None else f"{self.speaker}: {self.content}"
        return f"{said} {_name_day(self.time)}"


@dataclass(slots=True)
class HeldConversation:
    """The messages of a conversation, by their index, and the index of their texts.

    `seen` says which rewrite of the conversation they belong to, and `end` how far they go.
    """

    lock: Lock = field(default_factory=Lock)
    matrix: TextMatrix = field(default_factory=TextMatrix)
    messages: dict[int, HeldMessage] = field(default_factory=dict)
    seen: tuple[str, int] | None = None
    end: int = 0

    @property
    def size(self) -> int:
        """About how many bytes it has: a message has as many as its vector."""
        return 2 * self.matrix.size


class HeldMessages:
    """The conversations that a process holds. Safe for use by several threads."""

    def __init__(self, reader: MessageReader, embed: Embed) -> None:
        self._reader = reader
        self._embed = embed
        self._spaces = HeldSpaces(HeldConversation, _MAX_HELD_BYTES)

    @contextmanager
    def use(self, conversation: Conversation) -> Iterator[HeldConversation]:
        """Hold the newest messages of a conversation, as its header says that they are."""
        with self._spaces.use(header_key(conversation)[0]) as held:
            self._refresh(conversation, held)
            yield held

    def _refresh(self, conversation: Conversation, held: HeldConversation) -> None:
        """Read what was appended; read all messages again if others were changed."""
        seen = (conversation.generation, conversation.rewritten_at)
        if held.seen != seen or held.end > conversation.end:
            held.matrix, held.messages, held.seen = TextMatrix(), {}, None
            held.end = max(conversation.end - MAX_SEARCHED_MESSAGES, 0)
        if held.end < conversation.end:
            found = [
                read_message(migrate_message(conversation, each))
                for each in self._reader.read(conversation, held.end, None)
            ]
            self._reader.assert_unchanged(conversation)
            add_texts(
                held.matrix, self._embed, [Text(str(each.index), 1, each.text) for each in found]
            )
            held.messages |= {each.index: each for each in found}
        held.seen, held.end = seen, conversation.end


def read_message(message: Message) -> HeldMessage:
    """Read what a search needs of a message."""
    stored: dict[str, Any] = loads(message.text)
    metadata = stored.get("metadata") or {}
    names = (metadata.get(each) for each in _SPEAKERS)
    return HeldMessage(
        message.index,
        stored["role"],
        next((each for each in names if isinstance(each, str) and each), None),
        " ".join(list_texts(stored["content"]))[:MAX_QUERY_CHARACTERS],
        from_rfc3339(stored["timestamp"]),
    )


def _name_day(time: int) -> str:
    """Name the day of a time (epoch ms) as people write it: `8 May 2023`."""
    moment = datetime.fromtimestamp(time / 1000, UTC)
    return f"{moment.day} {month_name[moment.month]} {moment.year}"
