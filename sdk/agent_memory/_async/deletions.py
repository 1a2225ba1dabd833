"""`client.deletions`: deletion of all data of an agent or a person."""

from typing import Literal

from agent_memory._async.resource import AsyncResource
from agent_memory.model import Deletion
from agent_memory.requests import quote_segment
from agent_memory.responses import parse


class AsyncDeletions(AsyncResource):
    """The deletions of the caller's tenant, for `memory.admin`."""

    async def start(
        self, kind: Literal["agent", "person"], id: str, *, dry_run: bool = False
    ) -> Deletion:
        """Delete all data of an agent or a person; its key is revoked at once.

            client.deletions.start("person", "ada@example.com")

        Args:
            kind: `agent` or `person`; with a person, facts about it are deleted, too.
            id: of the agent or the person.
            dry_run: only count what would be deleted.
        """
        body = {"kind": kind, "id": id, "dry_run": dry_run}
        answer = await self._call("POST", "/api/v1/deletions", json=body)
        return parse(Deletion.from_document, answer)

    async def get(
        self, kind: Literal["agent", "person"], id: str, *, dry_run: bool = False
    ) -> Deletion:
        """Return the progress of a deletion.

            client.deletions.get("person", "ada@example.com").status

        Raises:
            MemoryNotFoundError: there is no such deletion.
        """
        path = f"/api/v1/deletions/{kind}/{quote_segment(id)}"
        answer = await self._call("GET", path, params={"dry_run": True} if dry_run else None)
        return parse(Deletion.from_document, answer)
