"""`client.deletions`: all that an agent or a person has, deleted everywhere."""

from typing import Literal

from agent_memory._sync.resource import Resource
from agent_memory.model import Deletion
from agent_memory.requests import quote_segment
from agent_memory.responses import parse


class Deletions(Resource):
    """The deletions of the caller's tenant, for `memory.admin`."""

    def start(
        self, kind: Literal["agent", "person"], id: str, *, dry_run: bool = False
    ) -> Deletion:
        """Delete what an agent or a person has; its key stops at once.

            client.deletions.start("person", "ada@example.com")

        Args:
            kind: with a person, the facts about it go as well.
            id: of the agent or the person.
            dry_run: counts only what would be deleted.
        """
        body = {"kind": kind, "id": id, "dry_run": dry_run}
        answer = self._call("POST", "/api/v1/deletions", json=body)
        return parse(Deletion.from_document, answer)

    def get(
        self, kind: Literal["agent", "person"], id: str, *, dry_run: bool = False
    ) -> Deletion:
        """Return how far a deletion is.

            client.deletions.get("person", "ada@example.com").status

        Raises:
            MemoryNotFoundError: nobody has asked for it.
        """
        path = f"/api/v1/deletions/{kind}/{quote_segment(id)}"
        answer = self._call("GET", path, params={"dry_run": True} if dry_run else None)
        return parse(Deletion.from_document, answer)
