"""`client.namespaces`: semantic memory and who may use it (contract §4)."""

from collections.abc import Mapping

from agent_memory._async.resource import AsyncResource, made, segment
from agent_memory.model import Namespace

_NAMESPACES = "/api/v1/memory/namespaces"

_List = list[Namespace]


class AsyncNamespaces(AsyncResource):
    """The namespaces of the caller's tenant."""

    async def list(self) -> _List:
        """Those that the caller has access to."""
        found = self._listed(_NAMESPACES, "namespaces")
        return [made(Namespace.from_document, document) async for document in found]

    async def get(self, namespace: str) -> Namespace:
        """One namespace.

        Raises:
            MemoryNotFoundError: nobody configured it.
        """
        return made(
            Namespace.from_document,
            await self._document("GET", f"{_NAMESPACES}/{segment(namespace)}"),
        )

    async def set_permissions(
        self,
        namespace: str,
        *,
        default: str = "read",
        allow: Mapping[str, str] | None = None,
        version: int | None = None,
    ) -> Namespace:
        """Replaces a namespace's permissions, or makes it; needs `memory.admin`.

        Args:
            default: access of all others: `none`, `read`, `write` or `admin`.
            allow: access of single principals, by id.
            version: only if it is at this version.

        Raises:
            MemoryConflictError: it is at another version.
        """
        named = [{"agent": agent, "access": access} for agent, access in (allow or {}).items()]
        body = {"permissions": {"default": default, "allow": named}}
        path = f"{_NAMESPACES}/{segment(namespace)}"
        return made(
            Namespace.from_document, await self._document("PATCH", path, json=body, version=version)
        )
