"""Record uses of authority in the transaction that carries them out, and read the records."""

import secrets
from typing import Any

from functions.audit.authority import READ_AUDIT
from functions.audit.model import AuditQuery, AuditRecord
from functions.audit.store import AuditStore, put_record
from functions.authorization.rules import Action, authorize
from functions.identity.model import OPERATOR, ROOT_TENANT, Actor, Principal
from functions.platform.clock import Clock
from functions.platform.keys import build_id
from functions.platform.request_context import request_id
from functions.platform.writes import Write


class AuditTrail:
    """Builds the audit records of a deployment."""

    def __init__(self, clock: Clock, retention_days: int) -> None:
        self._clock = clock
        self._retention_days = retention_days

    def record(
        self,
        caller: Principal,
        action: Action[Any],
        target: str,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
        *,
        tenant: str | None = None,
    ) -> Write:
        """Build the write that records an action, for the transaction of the action.

        Args:
            target: the object of the action as `kind:name`: "namespace:billing".
            before: the changed fields before the action; never a value of memory.
            after: the changed fields after the action; never a value of memory.
            tenant: given for the operator, who has no tenant; default: the caller's.
        """
        actor = OPERATOR if caller.tenant == ROOT_TENANT else caller.actor
        return self.record_of(actor, tenant or caller.tenant, action, target, before, after)

    def record_foreign(
        self,
        caller: Principal,
        author: str | None,
        action: Action[Any],
        target: str,
        before: dict[str, Any],
    ) -> list[Write]:
        """Build the record of an action on an item, unless the caller is the item's author."""
        if author in (None, caller.id):
            return []
        return [self.record(caller, action, target, before)]

    def record_of(
        self,
        actor: Actor,
        tenant: str,
        action: Action[Any],
        target: str,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
    ) -> Write:
        """Build the write that records an action of an actor, such as the service itself."""
        record = AuditRecord(
            id=build_id("aud", secrets.token_bytes(16)),
            tenant=tenant,
            time=self._clock(),
            actor=actor,
            action=action.name,
            target=target,
            before=before,
            after=after,
            request_id=request_id.get(),
        )
        return put_record(record, self._retention_days)


class AuditLog:
    """The audit log of a caller's tenant."""

    def __init__(self, store: AuditStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def read(self, caller: Principal, query: AuditQuery) -> tuple[list[AuditRecord], str | None]:
        """Read records, and the position of the next page; None if none can follow.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
        """
        authorize(caller, READ_AUDIT, None)
        return self._store.read(caller.tenant, query, self._clock())

    def add(self, record: Write) -> None:
        """Write the record of an action that writes nothing else."""
        self._store.add(record)
