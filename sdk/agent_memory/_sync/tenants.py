"""`client.tenants`: for the operator's root key alone."""

from agent_memory._sync.resource import Resource
from agent_memory.model import NewPrincipal
from agent_memory.responses import get_member, parse


class Tenants(Resource):
    """All tenants."""

    def create(self, id: str) -> NewPrincipal:
        """Create a tenant; return its first principal, who has all permissions, with the key.

        Raises:
            MemoryConflictError: the id is taken.
            MemoryAccessError: the client's key isn't the root key.
        """
        answer = self._call("POST", "/api/v1/tenants", json={"id": id})
        return parse(NewPrincipal.from_document, get_member(answer, "admin"))
