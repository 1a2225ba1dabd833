"""Lookups of deleted tenants and principals, for late events."""

from functions.deletions.store import DeletionStore
from functions.platform.clock import Clock
from functions.platform.keys import hash_agent

_REMEMBERED = 30_000  # ms


class DeletedOwners:
    """Knows what was deleted, by one query each 30 seconds."""

    def __init__(self, store: DeletionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._read_until = 0
        self._deleted: dict[tuple[str, str | None], int] = {}

    def is_tenant_deleted(self, tenant: str) -> bool:
        """Tell whether a tenant was deleted, which is for good."""
        return (tenant, None) in self._read()

    def is_agent_deleted(self, tenant: str, hashed_agent: str, since: int) -> bool:
        """Tell whether an agent or person was deleted at `since` (epoch ms) or later."""
        deleted = self._read().get((tenant, hashed_agent))
        return deleted is not None and since <= deleted

    def _read(self) -> dict[tuple[str, str | None], int]:
        """Return the times of deletions (epoch ms) by tenant and hash; a tenant has no hash."""
        now = self._clock()
        if self._read_until <= now:
            self._deleted = {
                (tenant, None if name is None else hash_agent(name)): each.requested_at
                for each in self._store.list_all()
                for tenant, _, name in [each.subject]
            }
            self._read_until = now + _REMEMBERED
        return self._deleted
