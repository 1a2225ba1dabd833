"""`client.tenants`: for the operator's root key alone (contract §2)."""

from agent_memory._sync.resource import Resource, made, member
from agent_memory.model import NewPrincipal


class Tenants(Resource):
    """All tenants."""

    def create(self, id: str) -> NewPrincipal:
        """A new tenant; its first principal, who has all permissions, with the key.

        Raises:
            MemoryConflictError: the id is taken.
            MemoryAccessError: the client's key isn't the root key.
        """
        answer = self._document("POST", "/api/v1/tenants", json={"id": id})
        return made(NewPrincipal.from_document, member(answer, "admin"))
