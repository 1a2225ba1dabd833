"""Lookups of deleted tenants and principals, for late events."""

from typing import NamedTuple

from functions.deletion.store import DeletionStore
from functions.platform.clock import Clock
from functions.platform.keys import hash_agent

_REMEMBERED = 30_000  # ms


class _Known(NamedTuple):
    """The deletions that were read, and until when (epoch ms) they need not be read again.

    Attributes:
        tenants: those that were deleted.
        agents: when each agent or person was deleted (epoch ms), by tenant and hash.
    """

    until: int
    tenants: frozenset[str] = frozenset()
    agents: dict[tuple[str, str], int] = {}  # noqa: RUF012 - it is never changed


class Tombstones:
    """Tells what was deleted: a query each 30 seconds, whatever is asked."""

    def __init__(self, store: DeletionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known = _Known(0)

    def is_tenant_deleted(self, tenant: str) -> bool:
        """Tell whether a tenant was deleted, which is for good."""
        return tenant in self._read().tenants

    def is_agent_deleted(self, tenant: str, hashed_agent: str, since: int) -> bool:
        """Tell whether an agent or person was deleted at `since` (epoch ms) or later."""
        deleted = self._read().agents.get((tenant, hashed_agent))
        return deleted is not None and since <= deleted

    def _read(self) -> _Known:
        now = self._clock()
        if self._known.until <= now:
            found = self._store.list_all()
            self._known = _Known(
                now + _REMEMBERED,
                frozenset(each.subject.tenant for each in found if each.subject.name is None),
                {
                    (each.subject.tenant, hash_agent(each.subject.name)): each.requested_at
                    for each in found
                    if each.subject.name is not None
                },
            )
        return self._known
