"""What an import says of the past of what it writes: when it was made, and when it was changed.

Everybody else's requests say nothing of it: the service sets these fields. A request that imports
comes with the header `X-Import: true`, from a principal with the permission `memory.import`.
"""

from typing import NamedTuple

from functions.platform.errors import ValidationFailed
from functions.platform.request_context import is_import

HEADER = "X-Import"


class Times(NamedTuple):
    """When something was made, and when it was changed last (epoch ms)."""

    created: int
    updated: int


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
