"""Memories and runs, as OpenWOP shows them (OpenWOP RFC 0004)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

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
    """Give it as `after` to continue; absent on the last page."""


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
    """Give it as `after` to continue; absent on the last page."""


class StartedMemoryRunDocument(TypedDict):
    """A run that was started."""

    runId: RunId
    memoryRef: str
    """Stands for the memory, to its holders; of several, the first. Don't parse it."""
    memoryRefs: NotRequired[list[str]]
    """All memories, where there are several."""
    snapshotAt: Timestamp
    """The time when the snapshot was taken."""


class MemoryRunStateDocument(TypedDict):
    """The state of a run."""

    runId: RunId
    state: RunState
    """`expired` is a run that has lived as long as its `ttl` says."""
    memoryRef: str
    memoryRefs: list[str]
    snapshotAt: Timestamp
    """The time when the snapshot was taken."""
    startedAt: Timestamp
    endsAt: Timestamp
    """The time when the run ended, or ends by itself."""
    snapshotKeptUntil: Timestamp
    """Until when the run can be replayed; an open run that is ended before moves it forward."""
    isReplayable: bool
    startedBy: str
    """The principal."""
    onSecret: OnSecret
    secrets: list[str]
    """The labels of the run's secrets."""
    agent: NotRequired[str]
    """By which the run named its memory; absent where a reference or a run to replay named it, and
    where the name holds one of its secrets."""
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
    """Stands for the memory, to its holders. Don't parse it."""
    agent: str
    """Whose memory it is, by its name."""
    scope: NotRequired[str]
    """Which of the agent's memories."""
    principal: NotRequired[str]
    """The principal that has it; absent where it is an agent type's."""
    agentType: NotRequired[str]
    """Whose principals have it."""
    createdAt: Timestamp
    """The time when it was first named."""


class MemoryListDocument(UncountedPosition):
    """A page of memories."""

    memories: list[MemoryDocument]


class NamedMemoryDocument(TypedDict):
    """The memory of a name."""

    memoryRef: str
    """Stands for the memory, to its holders. Don't parse it."""


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
        "createdAt": to_rfc3339(entry.created_at),
    }
    if entry.content == UNREADABLE.decode():
        document["content"], document["unreadable"] = "", True
    if entry.expires_at is not None:
        document["expiresAt"] = to_rfc3339(entry.expires_at)
    return document


def render_seen_entry(entry: MemoryEntry, reference: str) -> SeenMemoryEntryDocument:
    """Render an entry as a run sees it, with what is known of its origin and its end."""
    shown = render_memory_entry(entry)
    document: SeenMemoryEntryDocument = {
        "id": shown["id"],
        "memoryRef": reference,
        "content": shown["content"],
        "tags": shown["tags"],
        "createdAt": shown["createdAt"],
    }
    if "unreadable" in shown:
        document["unreadable"] = True
    if "expiresAt" in shown:
        document["expiresAt"] = shown["expiresAt"]
    if entry.put_by is not None:
        document["putBy"] = entry.put_by
    if entry.put_in is not None:
        document["putIn"] = entry.put_in
    if entry.deleted is not None:
        document["deletedAt"] = to_rfc3339(get_timestamp_of_sequence(entry.deleted))
    return document


def render_started_run(run: MemoryRun, references: list[str]) -> StartedMemoryRunDocument:
    document: StartedMemoryRunDocument = {
        "runId": run.run_id,
        "memoryRef": references[0],
        "snapshotAt": to_rfc3339(get_timestamp_of_sequence(run.snapshot)),
    }
    if len(references) > 1:
        document["memoryRefs"] = references
    return document


def render_run_state(run: MemoryRun, references: list[str], now: int) -> MemoryRunStateDocument:
    document: MemoryRunStateDocument = {
        "runId": run.run_id,
        "state": run.get_state(now),
        "memoryRef": references[0],
        "memoryRefs": references,
        "snapshotAt": to_rfc3339(get_timestamp_of_sequence(run.snapshot)),
        "startedAt": to_rfc3339(run.started_at),
        "endsAt": to_rfc3339(run.ends_at),
        "snapshotKeptUntil": to_rfc3339(run.snapshot_kept_until),
        "isReplayable": run.snapshot_kept_until > now,
        "startedBy": run.started_by,
        "onSecret": run.on_secret,
        "secrets": list(dict.fromkeys(run.secrets)) if run.get_state(now) == "open" else [],
    }
    if run.agent is not None:
        document["agent"] = run.agent
    if run.scope is not None:
        document["scope"] = run.scope
    if run.replay_of is not None:
        document["replayOf"] = run.replay_of
    return document


def render_memory(listed: ListedMemory, reference: str) -> MemoryDocument:
    document: MemoryDocument = {
        "memoryRef": reference,
        "agent": listed.agent,
        "createdAt": to_rfc3339(listed.created_at),
    }
    if listed.scope is not None:
        document["scope"] = listed.scope
    if listed.owner.kind == "principal":
        document["principal"] = listed.owner.id
    else:
        document["agentType"] = listed.owner.id
    return document
