"""Audit records (contract §2)."""

from dataclasses import dataclass
from typing import Any

from functions.identity.model import Kind


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One use of authority.

    Attributes:
        time: epoch ms.
        actor_id, actor_kind: the principal that acted; `~root` is the operator.
        action: the name of the action: "task.change".
        target: what it was done to: "task:task_1".
        before, after: what changed, by field; never a value of memory.
        request_id: of the request, which is in the function's log, too.
    """

    id: str
    tenant: str
    time: int
    actor_id: str
    actor_kind: Kind
    action: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    request_id: str | None
