"""Audit records."""

from typing import Any, NamedTuple

from functions.identity.model import Actor


class AuditRecord(NamedTuple):
    """One use of authority.

    Attributes:
        time: epoch ms.
        action: the name of the action: "task.change".
        target: the object of the action: "task:task_1".
        before, after: what changed, by field; never a value of memory.
    """

    id: str
    tenant: str
    time: int
    actor: Actor
    action: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    request_id: str | None = None


class AuditQuery(NamedTuple):
    """Asks for up to `limit` records, of one actor's id or one action.

    Attributes:
        after: the position after which the page begins; None for the first page.
        since, until: the first and last moment of a period, in epoch ms.
    """

    after: str | None
    limit: int
    actor: str | None = None
    action: str | None = None
    newest_first: bool = False
    since: int | None = None
    until: int | None = None

    def matches(self, record: AuditRecord) -> bool:
        """Tell whether the query asks for a record."""
        return self.actor in (None, record.actor.id) and self.action in (None, record.action)
