"""Deletions and their progress, pass by pass.

A pass examines all items. During a pass, functions may still write what they began before the
deletion, so the last pass is one that began after the settling time and found nothing.
"""

from collections import Counter
from typing import Literal, NamedTuple

from functions.identity.model import Actor
from functions.platform.limits import UPLOAD_ADDRESS_SECONDS

SubjectKind = Literal["tenant", "agent", "person"]
Stage = Literal["keys", "memory", "log", "files", "done"]
"""The stages of a pass. The tables are scanned one after the other."""
STAGES: tuple[Stage, ...] = ("keys", "memory", "log", "files")
SETTLING_TIME = 180_000 + UPLOAD_ADDRESS_SECONDS * 1000
"""The time (ms) for which writes may arrive that began before the deletion: functions
remember keys for 60 seconds and deletions for 30, and run for 60 at most; a file may be uploaded to
an address that was signed before."""


class Subject(NamedTuple):
    """The tenant, the agent or the person to delete.

    Attributes:
        name: the id of an agent or a person; None for the whole tenant.
    """

    tenant: str
    kind: SubjectKind
    name: str | None = None

    @property
    def id(self) -> str:
        """The id of the tenant, the agent or the person."""
        return self.name or self.tenant


class Deletion(NamedTuple):
    """A deletion. Times are epoch ms.

    Attributes:
        dry_run: whether it only counts the items that it would remove.
        stage: the next stage of the present pass.
        after: the key after which the scan of a table continues.
        found: how many items the present pass has found.
        finished_at: when the last pass found nothing (epoch ms); None until then.
        counts: how many items of each type, and files, were removed.
        revision: grows with each step, so that two workers don't take the same one.
    """

    subject: Subject
    requested_at: int
    requested_by: Actor
    dry_run: bool = False
    stage: Stage = "keys"
    after: tuple[str, str] | None = None
    pass_began_at: int = 0
    found: int = 0
    passes: int = 0
    finished_at: int | None = None
    counts: dict[str, int] = {}  # noqa: RUF012 - it is replaced, never changed
    revision: int = 1

    @property
    def kind(self) -> SubjectKind:
        return self.subject.kind

    @property
    def id(self) -> str:
        return self.subject.id

    @property
    def is_done(self) -> bool:
        return self.finished_at is not None

    @property
    def status(self) -> Literal["running", "done"]:
        return "done" if self.is_done else "running"

    @property
    def is_scanning(self) -> bool:
        """Tell whether its next step scans a table."""
        return self.stage in ("memory", "log")

    @property
    def has_begun_scan(self) -> bool:
        """Tell whether it has scanned a part of a table."""
        return self.is_scanning and (self.stage, self.after) != ("memory", None)


def restart(deletion: Deletion, now: int) -> Deletion:
    """Restart a finished deletion after a restore brought the data back."""
    return Deletion(
        deletion.subject,
        now,
        deletion.requested_by,
        pass_began_at=now,
        revision=deletion.revision + 1,
    )


def is_waiting(deletion: Deletion, now: int) -> bool:
    """Tell whether the next pass has to wait for late writes of functions."""
    return deletion.pass_began_at > now


def count_found(deletion: Deletion, counts: Counter[str]) -> Deletion:
    """Add found items to the counts; they were removed unless it is a preview."""
    return deletion._replace(
        found=deletion.found + counts.total(), counts=dict(Counter(deletion.counts) + counts)
    )


def continue_after(deletion: Deletion, after: tuple[str, str] | None, now: int) -> Deletion:
    """Return the deletion after a step.

    Args:
        after: where the scan of the table continues; None when the stage has ended.
    """
    deletion = deletion._replace(after=after, revision=deletion.revision + 1)
    if after is not None:
        return deletion
    following = STAGES.index(deletion.stage) + 1 if deletion.stage != "done" else len(STAGES)
    if following < len(STAGES):
        return deletion._replace(stage=STAGES[following])
    return _end_pass(deletion, now)


def _end_pass(deletion: Deletion, now: int) -> Deletion:
    settled = deletion.requested_at + SETTLING_TIME
    is_last = deletion.dry_run or (deletion.found == 0 and deletion.pass_began_at >= settled)
    deletion = deletion._replace(passes=deletion.passes + 1)
    if is_last:
        return deletion._replace(stage="done", finished_at=now)
    return deletion._replace(stage=STAGES[0], pass_began_at=max(now, settled), found=0)
