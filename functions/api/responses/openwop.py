"""Documents of memories and runs (OpenWOP RFC 0004)."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import VALUE, Timestamp, UncountedPosition, to_document
from functions.openwop.model import ListedMemory, MemoryEntry
from functions.platform.clock import to_rfc3339
from functions.platform.openwop_keys import get_timestamp_of_sequence
from functions.platform.values import UNREADABLE


class MemoryEntryDocument(TypedDict):
    """A stored entry of a memory."""

    id: Annotated[str, Field(pattern="^mem_")]
    content: NotRequired[Annotated[str, VALUE]]
    unreadable: NotRequired[bool]
    """True if the stored content was damaged or moved."""
    tags: Sequence[str]
    """Labels to query by."""
    createdAt: Timestamp
    expiresAt: NotRequired[Timestamp]
    """The time of its expiry. It is not shown afterwards."""


class MemoryEntryListDocument(TypedDict):
    """The entries that a snapshot shows, newest first."""

    entries: list[MemoryEntryDocument]
    next: NotRequired[str]
    """The value of `after` for the next page; absent on the last page."""


class FoundMemoryEntryDocument(TypedDict):
    """The requested entry."""

    entry: MemoryEntryDocument


class MemoryEntryDeletedDocument(TypedDict):
    """The result of a deletion."""

    deleted: bool


class SeenMemoryEntryDocument(MemoryEntryDocument):
    """An entry that a run sees or saw."""

    memoryRef: str
    putBy: NotRequired[str]
    """The principal that put it."""
    putIn: NotRequired[str]
    """The run that it was put in."""
    deletedAt: NotRequired[Timestamp]
    """It was deleted after the run's start."""


class SeenMemoryEntryListDocument(TypedDict):
    """The entries that a run sees or saw, newest first."""

    entries: list[SeenMemoryEntryDocument]
    next: NotRequired[str]
    """The value of `after` for the next page; absent on the last page."""


class OwnMemoryDocument(TypedDict):
    """A memory of the caller, or of its agent type."""

    memoryRef: str
    """An opaque reference, which gives its holders access to the memory."""
    agent: str
    """The agent of the memory, by its name."""
    scope: NotRequired[str]
    """The name of one of the agent's memories."""
    principal: NotRequired[str]
    """The principal that owns it; absent if an agent type owns it."""
    agentType: NotRequired[str]
    """The agent type whose principals share the memory."""
    createdAt: Timestamp
    """The time when it was first used."""


class MemoryListDocument(UncountedPosition):
    """A page of memories."""

    memories: list[OwnMemoryDocument]


class NamedMemoryDocument(TypedDict):
    """The memory with a name."""

    memoryRef: str
    """An opaque reference, which gives its holders access to the memory."""


class OpenWopErrorDocument(TypedDict):
    """An error in OpenWOP's format."""

    error: str
    message: str
    details: NotRequired[dict[str, Any]]
    entry: NotRequired[None]


def render_memory_entry(entry: MemoryEntry) -> MemoryEntryDocument:
    """Render an entry; without an expiry it has no `expiresAt`."""
    return to_document(entry, MemoryEntryDocument, **_mark_unreadable(entry))


def _mark_unreadable(entry: MemoryEntry) -> dict[str, bool]:
    return {"unreadable": True} if entry.content == UNREADABLE.decode() else {}


def render_seen_entry(entry: MemoryEntry, reference: str) -> SeenMemoryEntryDocument:
    """Render an entry that a run sees, with its author, run and deletion."""
    marks = _mark_unreadable(entry)
    document = to_document(entry, SeenMemoryEntryDocument, memoryRef=reference, **marks)
    if entry.deleted is not None:
        document["deletedAt"] = to_rfc3339(get_timestamp_of_sequence(entry.deleted))
    return document


def render_memory(listed: ListedMemory, reference: str) -> OwnMemoryDocument:
    document = to_document(listed, OwnMemoryDocument, memoryRef=reference)
    if listed.owner.kind == "principal":
        document["principal"] = listed.owner.id
    else:
        document["agentType"] = listed.owner.id
    return document
