"""Deletions, and how far they are."""

from typing import Literal, NamedTuple

from functions.identity.model import Actor
from functions.platform.limits import UPLOAD_ADDRESS_SECONDS

SubjectKind = Literal["tenant", "agent", "person"]
Stage = Literal["keys", "memory", "log", "files", "done"]
"""What a pass does next. The tables are scanned one after the other."""
STAGES: tuple[Stage, ...] = ("keys", "memory", "log", "files")
SETTLING_TIME = 180_000 + UPLOAD_ADDRESS_SECONDS * 1000
"""How long (ms) something may still be written that was begun before the deletion: functions
remember keys for 60 seconds and deletions for 30, and run for 60 at most; a file may come to an
address that was given out before."""


class Subject(NamedTuple):
    """Who is deleted.

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
    """A deletion.

    Attributes:
        requested: when it was asked for (epoch ms).
        actor: who asked for it.
        is_preview: whether it only counts what it would remove.
        stage: what comes next.
        after: the key after which the scan of a table continues.
        begun: when the present pass began.
        found: how many items the present pass has found.
        passes: how many passes are over.
        finished: when the last pass found nothing; None until then.
        counts: how many items of each type were removed, and files.
        revision: grows with each step, so that two workers don't take the same one.
    """

    subject: Subject
    requested: int
    actor: Actor
    is_preview: bool = False
    stage: Stage = "keys"
    after: tuple[str, str] | None = None
    begun: int = 0
    found: int = 0
    passes: int = 0
    finished: int | None = None
    counts: dict[str, int] = {}  # noqa: RUF012 - it is replaced, never changed
    revision: int = 1

    @property
    def is_done(self) -> bool:
        return self.finished is not None
