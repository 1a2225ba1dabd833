"""Memories and runs, as OpenWOP shows them (OpenWOP RFC 0004)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.runs import RunId
from functions.api.responses.types import VALUE, Timestamp, UncountedPosition
from functions.openwop.model import ListedMemory, MemoryEntry, MemoryRun, OnSecret, RunState
from functions.platform.clock import to_rfc3339
from functions.platform.openwop_keys import get_timestamp_of_sequence
from functions.platform.values import UNREADABLE


class MemoryEntryDocument(TypedDict):
    """An entry of a memory, as it was persisted."""

    id: Annotated[str, Field(pattern="^mem_")]
    content: NotRequired[Annotated[str, VALUE]]
    unreadable: NotRequired[bool]
    """True if the stored content was damaged or moved."""
    tags: Sequence[str]
    """Labels to query by."""
    createdAt: Timestamp
    expiresAt: NotRequired[Timestamp]
    """From this moment on no list and no get shows it."""


class MemoryEntryListDocument(TypedDict):
    """The entries that a snapshot shows, newest first."""

    entries: list[MemoryEntryDocument]
    next: NotRequired[str]
    """The value of `after` for the next page; absent on the last page."""


class FoundMemoryEntryDocument(TypedDict):
    """The entry that was asked for."""

    entry: MemoryEntryDocument


class MemoryEntryDeletedDocument(TypedDict):
    """Tells whether there was an entry to delete."""

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


class StartedMemoryRunDocument(TypedDict):
    """A run that was started."""

    runId: RunId
    memoryRef: str
    """An opaque reference, which gives its holders access to the memory; of several, the first."""
    memoryRefs: NotRequired[list[str]]
    """All memories, if there are several."""
    snapshotAt: Timestamp
    """The time when the snapshot was taken."""


class MemoryRunStateDocument(TypedDict):
    """The state of a run."""

    runId: RunId
    state: RunState
    """`expired` is a run whose `ttl` has passed."""
    memoryRef: str
    memoryRefs: list[str]
    snapshotAt: Timestamp
    """The time when the snapshot was taken."""
    startedAt: Timestamp
    endsAt: Timestamp
    """The time when the run ended, or ends by itself."""
    snapshotKeptUntil: Timestamp
    """The time until which the run can be replayed; earlier if the run ends before its `ttl`."""
    isReplayable: bool
    startedBy: str
    """The principal."""
    onSecret: OnSecret
    secrets: list[str]
    """The labels of the run's secrets."""
    agent: NotRequired[str]
    """The agent in the memory's name; absent if a reference or a run to replay named the memory,
    or if the name holds one of the run's secrets."""
    scope: NotRequired[str]
    """The scope, beside the agent."""
    replayOf: NotRequired[str]
    """The run whose snapshot it sees."""


class MemoryRunListDocument(UncountedPosition):
    """A page of runs."""

    runs: list[MemoryRunStateDocument]


class MemoryDocument(TypedDict):
    """A memory of the caller, or of its agent type."""

    memoryRef: str
    """An opaque reference, which gives its holders access to the memory."""
    agent: str
    """The agent of the memory, by its name."""
    scope: NotRequired[str]
    """The name of one of the agent's memories."""
    principal: NotRequired[str]
    """The principal that has it; absent where it is an agent type's."""
    agentType: NotRequired[str]
    """The agent type whose principals share the memory."""
    createdAt: Timestamp
    """The time when it was first named."""


class MemoryListDocument(UncountedPosition):
    """A page of memories."""

    memories: list[MemoryDocument]


class NamedMemoryDocument(TypedDict):
    """The memory of a name."""

    memoryRef: str
    """An opaque reference, which gives its holders access to the memory."""


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
    return to_document(entry, MemoryEntryDocument, **_mark_unreadable(entry))


def _mark_unreadable(entry: MemoryEntry) -> dict[str, bool]:
    return {"unreadable": True} if entry.content == UNREADABLE.decode() else {}


def render_seen_entry(entry: MemoryEntry, reference: str) -> SeenMemoryEntryDocument:
    """Render an entry as a run sees it, with what is known of its origin and its end."""
    marks = _mark_unreadable(entry)
    document = to_document(entry, SeenMemoryEntryDocument, memoryRef=reference, **marks)
    if entry.deleted is not None:
        document["deletedAt"] = to_rfc3339(get_timestamp_of_sequence(entry.deleted))
    return document


def render_started_run(run: MemoryRun, references: list[str]) -> StartedMemoryRunDocument:
    snapshot_at = to_rfc3339(get_timestamp_of_sequence(run.snapshot))
    document = to_document(
        run, StartedMemoryRunDocument, memoryRef=references[0], snapshotAt=snapshot_at
    )
    if len(references) > 1:
        document["memoryRefs"] = references
    return document


def render_run_state(run: MemoryRun, references: list[str], now: int) -> MemoryRunStateDocument:
    state = run.get_state(now)
    return to_document(
        run,
        MemoryRunStateDocument,
        state=state,
        memoryRef=references[0],
        memoryRefs=references,
        snapshotAt=to_rfc3339(get_timestamp_of_sequence(run.snapshot)),
        isReplayable=run.snapshot_kept_until > now,
        secrets=list(dict.fromkeys(run.secrets)) if state == "open" else [],
    )


def render_memory(listed: ListedMemory, reference: str) -> MemoryDocument:
    document = to_document(listed, MemoryDocument, memoryRef=reference)
    if listed.owner.kind == "principal":
        document["principal"] = listed.owner.id
    else:
        document["agentType"] = listed.owner.id
    return document
