"""What an import says of the past of what it writes: when it was made, and when it was changed.

Everybody else's requests say nothing of it: the service sets these fields. A request that imports
comes with the header `X-Import: true`, from a principal with the permission `memory.import`.
"""

from typing import NamedTuple, Protocol

from functions.platform.errors import ValidationFailed
from functions.platform.request_context import is_import

HEADER = "X-Import"


class Times(NamedTuple):
    """When something was made, and when it was changed last (epoch ms)."""

    created: int
    updated: int


class Origin(NamedTuple):
    """The version of something, when it was made, and when it was changed last (epoch ms)."""

    version: int
    created: int
    updated: int


class Existing(Protocol):
    """What is there already."""

    @property
    def version(self) -> int:
        """Its version."""

    @property
    def created(self) -> int:
        """When it was made (epoch ms)."""


class SaysOrigin(Protocol):
    """A request that may say the origin of what it writes, if it imports; times are epoch ms."""

    @property
    def version(self) -> int | None:
        """The version that it writes."""

    @property
    def created_at(self) -> int | None:
        """When what it writes was made."""

    @property
    def updated_at(self) -> int | None:
        """When that was changed last."""


def choose_times(created: int | None, updated: int | None, now: int) -> Times:
    """Return when something was made and changed, if the request imports it; now unless it says.

    Raises:
        ValidationFailed: it was changed before it was made, or lies in the future.
    """
    if not is_import.get():
        return Times(now, now)
    made = now if created is None else created
    changed = made if updated is None else updated
    if not made <= changed <= now:
        field = "created_at" if made > now else "updated_at"
        raise ValidationFailed(field, "created_at, updated_at and now follow one another")
    return Times(made, changed)


def choose_origin(said: SaysOrigin, now: int, present: Existing | None = None) -> Origin:
    """Return the origin of what a request writes: what it says of it, if it imports.

    What is there already stays as old as it is. Where a request says `created_at` alone, what it
    makes was changed last at that time, too.

    Args:
        said: the request.
        now: the time in epoch ms.
        present: what is there already.

    Raises:
        ValidationFailed: it was changed before it was made, or lies in the future.
    """
    if present is not None:
        times = choose_times(present.created, said.updated_at or now, now)
        return Origin(said.version or present.version + 1, present.created, times.updated)
    return Origin(said.version or 1, *choose_times(said.created_at, said.updated_at, now))
