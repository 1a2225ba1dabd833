"""`client.audit`: uses of authority."""

from typing import Unpack

from agent_memory._async.logs import AsyncLogs
from agent_memory._async.pages import AsyncPages
from agent_memory.log_filters import AuditFilters
from agent_memory.model import AuditRecord


class AsyncAudit(AsyncLogs):
    """The audit log of the caller's tenant, for `memory.admin`."""

    def list(self, **filters: Unpack[AuditFilters]) -> AsyncPages[AuditRecord]:
        """Return the records, oldest first.

            client.audit.list(actor="boss", newest_first=True, limit=20).list()

        Args:
            filters: `actor`, `action`, `since`, `until`, `newest_first`; `limit`, `page_size`,
                `after`.
        """
        return self._read_log(
            "/api/v1/audit", "records", AuditRecord.from_document, filters, AuditFilters
        )
