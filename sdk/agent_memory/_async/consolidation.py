"""`client.consolidation`: merging, ending and weakening of facts."""

from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import (
    ConsolidationPreview,
    ConsolidationRun,
    ConsolidationSettings,
    StartedConsolidation,
)
from agent_memory.requests import quote_segment
from agent_memory.responses import parse

_CONSOLIDATION = "/api/v1/consolidation"


class AsyncConsolidation(AsyncResource):
    """The consolidations of the caller's tenant, for `memory.admin`."""

    async def preview(self) -> ConsolidationPreview:
        """Return the facts that a consolidation would merge, end and weaken; it changes nothing.

        [each.reason for each in client.consolidation.preview().merged]
        """
        answer = await self._call("POST", _CONSOLIDATION, json={"dry_run": True})
        return parse(ConsolidationPreview.from_document, answer)

    async def start(self) -> StartedConsolidation:
        """Start a consolidation, or return the one that is running.

        client.consolidation.start().id
        """
        answer = await self._call("POST", _CONSOLIDATION, json={"dry_run": False})
        return parse(StartedConsolidation.from_document, answer)

    async def get(self, id: str, *, after: str | None = None) -> ConsolidationRun | None:
        """Return the status of a consolidation and a page of its steps; None if there is none.

            client.consolidation.get("cons_1").status

        Args:
            after: the `next` of the page before.
        """
        params = None if after is None else {"after": after}
        try:
            found = await self._call("GET", _consolidation(id), params=params)
        except MemoryNotFoundError:
            return None
        return parse(ConsolidationRun.from_document, found)

    async def undo(self, id: str) -> StartedConsolidation:
        """Undo the steps of a consolidation on facts that have not changed since.

            client.consolidation.undo("cons_1").status

        Raises:
            MemoryNotFoundError: there is no such consolidation.
        """
        answer = await self._call("POST", f"{_consolidation(id)}/undo")
        return parse(StartedConsolidation.from_document, answer)

    async def get_settings(self) -> ConsolidationSettings:
        """Return the settings of consolidation.

        client.consolidation.get_settings().next_at
        """
        answer = await self._call("GET", f"{_CONSOLIDATION}/settings")
        return parse(ConsolidationSettings.from_document, answer)

    async def put_settings(
        self,
        *,
        every: str | None = "P7D",
        decay_after: str | None = "P90D",
        end_below: float = 0.2,
    ) -> ConsolidationSettings:
        """Set the interval and the rules of consolidation.

            client.consolidation.put_settings(every="P1D", decay_after=None)

        Args:
            every: the interval, as an ISO 8601 duration; None: only on request.
            decay_after: the time after which a fact that was neither learned nor recalled loses
                confidence; None: never.
            end_below: a fact that loses confidence ends below this value.
        """
        body = {"every": every, "decay_after": decay_after, "end_below": end_below}
        answer = await self._call("PUT", f"{_CONSOLIDATION}/settings", json=body)
        return parse(ConsolidationSettings.from_document, answer)


def _consolidation(id: str) -> str:
    return f"{_CONSOLIDATION}/{quote_segment(id)}"
