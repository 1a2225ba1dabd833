"""Records and entries of conversations as JSON documents, and their keys."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import ConversationEntry, ConversationRecord
from pydantic_ai.messages import ModelMessagesTypeAdapter

from agent_memory.adapters.hashing import hash_id

_MOST_ANCESTORS = 63  # ancestors in an entry; together they are a block that is read at once

RECORDS = "records/"


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A stored record.

    Attributes:
        family: the id of the conversation and its forks, which share entries.
        version: of the object.
    """

    record: ConversationRecord
    family: str
    version: int = 0

    @property
    def ends(self) -> list[str]:
        """The last entries of the conversation's history and of its abandoned branches."""
        return [each for each in (self.record.head_id, *self.record.branches) if each is not None]

    def render(self) -> bytes:
        """Return the stored form."""
        record = _get_adapter().dump_python(self.record, mode="json")
        return json.dumps({"record": record, "family": self.family}).encode()

    @classmethod
    def parse(cls, data: bytes, version: int = 0) -> "StoredRecord":
        """Parse the stored form."""
        document = json.loads(data)
        record = _get_adapter().validate_python(document["record"])
        return cls(record, document["family"], version)


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A stored entry.

    Attributes:
        ancestors: the ids of entries before it, oldest first, back to the beginning of its block.
    """

    entry: ConversationEntry
    ancestors: list[str]

    def render(self) -> bytes:
        """Return the stored form."""
        (message,) = ModelMessagesTypeAdapter.dump_python([self.entry.message], mode="json")
        fields = {name: getattr(self.entry, name) for name in ("id", "parent_id", "kind")}
        return json.dumps(fields | {"message": message, "ancestors": self.ancestors}).encode()

    @classmethod
    def parse(cls, data: bytes) -> "StoredEntry":
        """Parse the stored form."""
        document = json.loads(data)
        ancestors = document.pop("ancestors")
        (message,) = ModelMessagesTypeAdapter.validate_python([document.pop("message")])
        return cls(ConversationEntry(message=message, **document), ancestors)


def extend_block(ancestors: list[str], parent_id: str) -> list[str]:
    """Return the ancestors of an entry from those of its parent; a full block begins a new one."""
    return [] if len(ancestors) >= _MOST_ANCESTORS else [*ancestors, parent_id]


def build_record_key(conversation_id: str) -> str:
    """Build the key of a conversation's record."""
    return f"{RECORDS}{hash_id(conversation_id)}"


def build_entry_key(entry_id: str) -> str:
    """Build the key of an entry."""
    return f"entries/{hash_id(entry_id)}"


def build_scope_prefix(scope: str) -> str:
    """Build the prefix of the keys that list the conversations of a scope."""
    return f"scopes/{hash_id(scope)}/"


def build_family_prefix(family: str) -> str:
    """Build the prefix of the keys that list a conversation and its forks."""
    return f"families/{family}/"


@cache
def _get_adapter() -> TypeAdapter[Any]:
    return TypeAdapter(ConversationRecord)
