"""Record uses of authority in the transaction that carries them out."""

import secrets
from typing import Any

from functions.audit.model import AuditRecord
from functions.audit.store import put_record
from functions.authorization.model import Action
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.keys import build_id
from functions.platform.request_context import request_id
from functions.platform.writes import Write


class AuditTrail:
    """Builds the audit records of a deployment.

    Args:
        retention_days: how long a record is kept; 0 is for good.
    """

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
        """Build the write that records an action; it belongs into the action's own transaction.

        Args:
            caller: who acts.
            action: an audited one.
            target: what it is done to, `kind:name`: "namespace:billing".
            before: the changed fields as they were; never a value of memory.
            after: the changed fields as they are from now on; never a value of memory.
            tenant: where it isn't the caller's: what the operator does.
        """
        record = AuditRecord(
            id=build_id("aud", secrets.token_bytes(16)),
            tenant=tenant or caller.tenant,
            time=self._clock(),
            actor_id=caller.id,
            actor_kind=caller.kind,
            action=action.name,
            target=target,
            before=before,
            after=after,
            request_id=request_id.get(),
        )
        return put_record(record, self._retention_days)
