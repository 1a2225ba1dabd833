"""The files of an archived conversation: messages as lines of JSON, large texts by themselves.

What is encrypted stays so on its way: a line holds a message as the table does.
"""

import base64
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from functions.conversations.mapper import header_key
from functions.conversations.model import Conversation
from functions.platform.archive_storage import ArchiveStorage
from functions.platform.conversation_keys import parse_conversation_partition
from functions.platform.errors import Unavailable
from functions.platform.items import Item
from functions.platform.json_text import loads
from functions.platform.staging import has_parts

PART = 500  # indexes of messages; at their largest some 45 MB in base64
DETAILS = "metadata"


def count_parts(conversation: Conversation) -> int:
    """Count the files of lines that a conversation has."""
    return -(-conversation.end // PART)


class ArchiveFiles:
    """Reads and writes the files of archived conversations."""

    def __init__(self, storage: ArchiveStorage | None) -> None:
        self._storage = storage

    @property
    def is_available(self) -> bool:
        """Tell whether there is storage for archives."""
        return self._storage is not None

    def write_part(self, conversation: Conversation, part: int, items: Iterable[Item]) -> None:
        """Write the lines of a part's messages, whose large texts are split off."""
        self._required.put(_part_name(conversation, part), b"".join(map(_render_line, items)))

    def read_part(self, conversation: Conversation, part: int) -> Iterator[Item]:
        """Read the messages of a part, without their large texts."""
        return map(_parse_line, self._required.get(_part_name(conversation, part)).splitlines())

    def split(self, conversation: Conversation, name: str | int, item: Item) -> Item:
        """Write a large text into a separate file; return the item without it.

        Args:
            name: of the file: a message's index, or `DETAILS`.
        """
        if not has_parts(item):
            return item
        value = item["value"]
        data = value.encode() if isinstance(value, str) else value
        self._required.put(_text_name(conversation, name), data)
        return {name: attribute for name, attribute in item.items() if name != "value"}

    def join(self, conversation: Conversation, name: str | int, item: Item) -> Item:
        """Give an item its text, if `split` wrote it into a file."""
        if not has_parts(item):
            return item
        data = self._required.get(_text_name(conversation, name))
        return item | {"value": data.decode() if item["value_is_text"] else data}

    def delete(self, conversation: Conversation) -> None:
        """Delete all files of a conversation, as many as are still there."""
        for name in list(self._required.list_names(f"{_folder(conversation)}/")):
            self._required.delete(name)

    @property
    def _required(self) -> ArchiveStorage:
        if self._storage is None:
            raise Unavailable("no cold storage is set; the operator sets ARCHIVE_BUCKET")
        return self._storage


def _folder(conversation: Conversation) -> str:
    tenant, session = parse_conversation_partition(header_key(conversation)[0])
    return f"conversations/{tenant}/{session}/{conversation.generation}"


def _part_name(conversation: Conversation, part: int) -> str:
    return f"{_folder(conversation)}/{part:06d}.jsonl"


def _text_name(conversation: Conversation, name: str | int) -> str:
    return f"{_folder(conversation)}/{name}.text"


def _render_line(item: Item) -> bytes:
    """Render a message's attributes as a line of JSON; bytes in base64."""
    fields: dict[str, Any] = {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in item.items()
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(line: bytes) -> Item:
    fields: dict[str, Any] = loads(line)
    return {
        name: base64.b64decode(value["base64"]) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
