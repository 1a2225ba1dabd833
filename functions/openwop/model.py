"""Runs and the entries of their memories (OpenWOP RFC 0004 §A)."""

from typing import Literal, NamedTuple

from functions.platform.keys import build_list_position
from functions.platform.openwop_keys import build_memory_entry_id, get_timestamp_of_sequence

Edition = Literal["rfc-0004", "1.x"]
"""An edition of OpenWOP; each has its own marker of a secret."""
OnSecret = Literal["redact", "reject"]
RunState = Literal["open", "ended", "expired"]


class MemoryOwner(NamedTuple):
    """The owner of a memory: a principal, or all principals of an agent type."""

    kind: Literal["principal", "agent_type"]
    id: str


class ListedMemory(NamedTuple):
    """A memory in the list of its owner.

    Attributes:
        memory: its hash.
        created_at: when it was first named, in epoch ms.
    """

    position: str
    memory: str
    owner: MemoryOwner
    agent: str
    scope: str | None
    created_at: int


class MemoryRun(NamedTuple):
    """A run: until it is closed, it sees its memories as of the number `snapshot`.

    Attributes:
        memories: the hashes of its memories, in the order of the request.
        started_by: who started it; `started`: when, in epoch ms.
        deadline: when it closes by itself, in epoch ms.
        retention: how long its snapshot is kept after it is closed, in ms.
        secrets: the labels of its secrets; `secret_bytes`: their size.
        secrets_number: a random number for these secrets; 0 without any.
        agent, scope: the name of its memory; None if the request had references or a run to replay,
            or if the name holds a secret.
        replay_of: the run whose snapshot it has.
        ended_at: when it was ended, in epoch ms.
        redaction_marker: the edition of the marker in its puts; None for the deployment's.
    """

    run_id: str
    memories: tuple[str, ...]
    snapshot: int
    started_by: str
    started_at: int
    deadline: int
    retention: int
    on_secret: OnSecret
    secrets: tuple[str, ...] = ()
    secret_bytes: int = 0
    secrets_number: int = 0
    agent: str | None = None
    scope: str | None = None
    replay_of: str | None = None
    ended_at: int | None = None
    request: bytes | None = None
    redaction_marker: Edition | None = None

    @property
    def list_position(self) -> str:
        """Return its position among the runs of its starter, newest first."""
        return build_list_position(self.started_at, self.run_id)

    @property
    def ends_at(self) -> int:
        """Return the time when it was ended, or ends by itself (epoch ms)."""
        return self.deadline if self.ended_at is None else min(self.ended_at, self.deadline)

    @property
    def snapshot_kept_until(self) -> int:
        """The time until which its snapshot is kept (epoch ms)."""
        return self.ends_at + self.retention

    def is_closed(self, now: int) -> bool:
        """Tell whether the run was ended, or its deadline has passed."""
        return self.ended_at is not None or self.deadline <= now

    def get_state(self, now: int) -> RunState:
        """Return the state: open, or the reason why it is closed."""
        if not self.is_closed(now):
            return "open"
        return "expired" if self.ended_at is None or self.deadline <= self.ended_at else "ended"


class MemoryEntry(NamedTuple):
    """A stored entry.

    `sequence` and `deleted` are the sequence numbers at which it was written and deleted; times are
    epoch ms; `run` and `principal` put it; `request` is the digest of the Idempotency-Key.
    """

    sequence: int
    suffix: str
    content: str
    tags: tuple[str, ...] = ()
    expires_at: int | None = None
    deleted: int | None = None
    put_in: str | None = None
    put_by: str | None = None
    request: bytes | None = None

    @property
    def id(self) -> str:
        return build_memory_entry_id(self.sequence, self.suffix)

    @property
    def created_at(self) -> int:
        """Return when it was put."""
        return get_timestamp_of_sequence(self.sequence)


class EntryListQuery(NamedTuple):
    """A query for a list of entries.

    `tag` filters; `before` is the sequence number of the last entry seen; `page_size` is the number
    of entries that the caller probably takes.
    """

    tag: str | None
    before: int | None
    page_size: int
