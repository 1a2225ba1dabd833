"""`client.principals`: who may call (contract §2)."""

from collections.abc import Iterable

from agent_memory._sync.resource import Resource
from agent_memory.model import NewPrincipal, Principal
from agent_memory.requests import drop_none, quote_segment, to_list
from agent_memory.responses import parse

_PRINCIPALS = "/api/v1/principals"

_List = list[Principal]


class Principals(Resource):
    """The principals of the caller's tenant. All but `me` need `memory.admin`."""

    _me: Principal | None = None

    def me(self) -> Principal:
        """Return the principal of the client's key."""
        self._me = parse(Principal.from_document, self._call("GET", "/api/v1/me"))
        return self._me

    def own(self) -> Principal:
        """Return the principal of the key, fetched once: its id and kind never change."""
        return self._me or self.me()

    def list(self) -> _List:
        """Return all principals, newest first, without their keys."""
        found = self._list(_PRINCIPALS, "principals")
        return [parse(Principal.from_document, document) for document in found]

    def create(
        self,
        id: str,
        kind: str = "agent",
        *,
        permissions: Iterable[str] | None = None,
        expires_at: str | None = None,
    ) -> NewPrincipal:
        """Create a principal; return it with its key, which is never shown again.

        Args:
            kind: `agent`, `coordinator` or `user`.
            permissions: of `memory.read`, `memory.write`, `memory.admin`; by default the first two.

        Raises:
            MemoryConflictError: the id is taken.
        """
        body = drop_none(id=id, kind=kind, permissions=to_list(permissions), expires_at=expires_at)
        return parse(NewPrincipal.from_document, self._call("POST", _PRINCIPALS, json=body))

    def rotate(self, id: str) -> NewPrincipal:
        """Replace a principal's key; the old one stops working.

        Raises:
            MemoryNotFoundError: raised when there is no such principal.
        """
        path = f"{_PRINCIPALS}/{quote_segment(id)}/rotate"
        return parse(NewPrincipal.from_document, self._call("POST", path))

    def revoke(self, id: str) -> None:
        """Revoke a principal's key and remove it.

        Raises:
            MemoryNotFoundError: raised when there is no such principal.
        """
        self._remove(f"{_PRINCIPALS}/{quote_segment(id)}")
