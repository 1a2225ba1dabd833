"""`client.audit`: who did what with authority."""

from collections.abc import AsyncIterator

from agent_memory._async.resource import AsyncResource
from agent_memory.model import AuditRecord
from agent_memory.requests import drop_none
from agent_memory.responses import get_member, parse, parse_items

_AT_ONCE = 1000


class AsyncAudit(AsyncResource):
    """The audit log of the caller's tenant, for `memory.admin`."""

    async def records(
        self, *, actor: str | None = None, action: str | None = None, after: str | None = None
    ) -> AsyncIterator[AuditRecord]:
        """Return the records, oldest first.

        Args:
            actor: those of this principal.
            action: those of this action, such as `principal.create`.
            after: goes on behind a position that the service gave as `next`.
        """
        while True:
            asked = drop_none(actor=actor, action=action, after=after, limit=_AT_ONCE)
            answer = await self._call("GET", "/api/v1/audit", params=asked)
            for document in parse_items(get_member(answer, "records")):
                yield parse(AuditRecord.from_document, document)
            position = get_member(answer, "next")
            if position == after:
                return
            after = position
