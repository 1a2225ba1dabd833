"""Memories and runs, as OpenWOP shows them (OpenWOP RFC 0004; contract §7)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.runs import RunId
from functions.api.responses.types import VALUE, Timestamp
from functions.openwop.model import MemoryEntry, StartedRun
from functions.platform.clock import to_rfc3339


class MemoryEntryDocument(TypedDict):
    """An entry of a memory, as it was persisted."""

    id: Annotated[str, Field(pattern="^mem_")]
    content: NotRequired[Annotated[str, VALUE]]
    """Absent without `memory.read`."""
    tags: Sequence[str]
    """Labels to query by."""
    createdAt: Timestamp
    expiresAt: NotRequired[Timestamp]
    """From this moment on no list and no get shows it."""


class MemoryEntryListDocument(TypedDict):
    """The entries that a snapshot shows, newest first."""

    entries: list[MemoryEntryDocument]
    next: NotRequired[str]
    """Give it as `before` to go on; only where the answer was full."""


class FoundMemoryEntryDocument(TypedDict):
    """The entry that was asked for."""

    entry: MemoryEntryDocument


class MemoryEntryDeletedDocument(TypedDict):
    """Whether there was an entry to delete."""

    deleted: bool


class MemoryRunDocument(TypedDict):
    """A run that was started."""

    runId: RunId
    memoryRef: str
    """Stands for the memory, to whoever holds it. Don't parse it."""
    snapshotAt: Timestamp
    """When the snapshot was taken."""


class EndedMemoryRunDocument(TypedDict):
    """A run that was ended."""

    runId: str
    ended: Literal[True]


class OpenWopErrorDocument(TypedDict):
    """An error in OpenWOP's format."""

    error: str
    message: str
    details: NotRequired[dict[str, Any]]
    entry: NotRequired[None]


def render_memory_entry(entry: MemoryEntry) -> MemoryEntryDocument:
    """Render an entry; without an end it has no `expiresAt`."""
    document: MemoryEntryDocument = {
        "id": entry.id,
        "content": entry.content,
        "tags": entry.tags,
        "createdAt": to_rfc3339(entry.created),
    }
    if entry.expires is not None:
        document["expiresAt"] = to_rfc3339(entry.expires)
    return document


def render_started_run(started: StartedRun) -> MemoryRunDocument:
    """Render a run that was started."""
    return {
        "runId": started.run_id,
        "memoryRef": started.reference,
        "snapshotAt": to_rfc3339(started.snapshot_at),
    }
