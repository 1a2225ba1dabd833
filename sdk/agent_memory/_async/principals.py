"""`client.principals`: who may call (contract §2)."""

from collections.abc import Iterable

from agent_memory._async.resource import AsyncResource, given, made, segment, texts
from agent_memory.model import NewPrincipal, Principal

_PRINCIPALS = "/api/v1/principals"

_List = list[Principal]


class AsyncPrincipals(AsyncResource):
    """The principals of the caller's tenant. All but `me` need `memory.admin`."""

    _me: Principal | None = None

    async def me(self) -> Principal:
        """The principal of the client's key."""
        self._me = made(Principal.from_document, await self._document("GET", "/api/v1/me"))
        return self._me

    async def own(self) -> Principal:
        """The same, asked for once: id and kind of a key never change."""
        return self._me or await self.me()

    async def list(self) -> _List:
        """All principals, newest first, without their keys."""
        found = self._listed(_PRINCIPALS, "principals")
        return [made(Principal.from_document, document) async for document in found]

    async def create(
        self,
        id: str,
        kind: str = "agent",
        *,
        permissions: Iterable[str] | None = None,
        expires_at: str | None = None,
    ) -> NewPrincipal:
        """A new principal with its key, which is never shown again.

        Args:
            kind: `agent`, `coordinator` or `user`.
            permissions: of `memory.read`, `memory.write`, `memory.admin`; by default the first two.

        Raises:
            MemoryConflictError: the id is taken.
        """
        body = given(id=id, kind=kind, permissions=texts(permissions), expires_at=expires_at)
        return made(
            NewPrincipal.from_document, await self._document("POST", _PRINCIPALS, json=body)
        )

    async def rotate(self, id: str) -> NewPrincipal:
        """A new key for a principal; the old one stops.

        Raises:
            MemoryNotFoundError: there is no such principal.
        """
        path = f"{_PRINCIPALS}/{segment(id)}/rotate"
        return made(NewPrincipal.from_document, await self._document("POST", path))

    async def revoke(self, id: str) -> None:
        """Revokes a principal's key and removes it.

        Raises:
            MemoryNotFoundError: there is no such principal.
        """
        await self._removed(f"{_PRINCIPALS}/{segment(id)}")
