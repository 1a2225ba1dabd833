"""`client.tenants`: tenants, with the operator's root key; `memory.admin` may read usage."""

from collections.abc import Iterable
from typing import Unpack

from agent_memory._async.resource import AsyncResource
from agent_memory.model import (
    Deletion,
    LimitChanges,
    NewPrincipal,
    Permission,
    Principal,
    TenantLimits,
    TenantUsage,
)
from agent_memory.requests import assert_known, drop_none, quote_segment
from agent_memory.responses import get_member, parse


class AsyncTenants(AsyncResource):
    """All tenants."""

    async def create(self, id: str) -> NewPrincipal:
        """Create a tenant; return its first administrator with its API key.

            root.tenants.create("acme").api_key

        Raises:
            MemoryConflictError: the id is taken.
            MemoryAccessError: the client's key isn't the root key.
        """
        answer = await self._call("POST", "/api/v1/tenants", json={"id": id})
        return parse(NewPrincipal.from_document, get_member(answer, "admin"))

    async def create_admin(self, tenant: str, id: str) -> NewPrincipal:
        """Create an administrator in an existing tenant; return it with its key.

            root.tenants.create_admin("acme", "rescue").api_key

        Raises:
            MemoryNotFoundError: no tenant has this id.
            MemoryConflictError: the administrator's id is taken.
            MemoryAccessError: the client's key isn't the root key.
        """
        path = f"/api/v1/tenants/{tenant}/admins"
        answer = await self._call("POST", path, json={"id": id})
        return parse(NewPrincipal.from_document, answer)

    async def set_permissions(
        self, tenant: str, principal: str, permissions: Iterable[Permission]
    ) -> Principal:
        """Set the permissions of a principal; only this call grants `memory.inspect`.

            root.tenants.set_permissions("acme", "auditor", ["memory.inspect"]).permissions

        Raises:
            MemoryNotFoundError: the tenant has no such principal.
            MemoryConflictError: the tenant would have no administrator without expiry.
        """
        path = f"/api/v1/tenants/{tenant}/principals/{quote_segment(principal)}"
        answer = await self._call("PATCH", path, json={"permissions": list(permissions)})
        return parse(Principal.from_document, answer)

    async def set_limits(self, id: str, **limits: Unpack[LimitChanges]) -> TenantLimits:
        """Change limits of a tenant; None removes one, and omitted ones stay.

            root.tenants.set_limits("acme", items=100_000, requests_per_second=None)

        Raises:
            MemoryNotFoundError: no tenant has this id.
        """
        assert_known(limits, LimitChanges)
        answer = await self._call("PATCH", f"/api/v1/tenants/{id}", json={"limits": limits})
        return parse(TenantLimits.from_document, get_member(answer, "limits"))

    async def get_usage(
        self, *, since: str | None = None, until: str | None = None
    ) -> list[TenantUsage]:
        """Return the daily usage of the caller's tenant, or of all tenants with the root key.

            client.tenants.get_usage(since="2026-11-01")[0].days[-1].items

        Args:
            since, until: the first and the last day, as `2026-11-24`; by default the last 30.

        Raises:
            MemoryAccessError: the client's key is not the root key, and lacks `memory.admin`.
        """
        period = drop_none(**{"from": since, "to": until})
        answer = await self._call("GET", "/api/v1/usage", params=period)
        return [parse(TenantUsage.from_document, each) for each in get_member(answer, "tenants")]

    async def delete(self, id: str, *, dry_run: bool = False) -> Deletion:
        """Delete a tenant; its keys are revoked at once, and its id can't be used again.

            root.tenants.delete("acme", dry_run=True).counts

        Args:
            dry_run: only count what would be deleted.

        Raises:
            MemoryNotFoundError: there is no such tenant.
        """
        asked = {"dry_run": True} if dry_run else None
        answer = await self._call("DELETE", f"/api/v1/tenants/{id}", params=asked)
        return parse(Deletion.from_document, answer)

    async def get_deletion(self, id: str, *, dry_run: bool = False) -> Deletion:
        """Return the progress of a tenant's deletion.

            root.tenants.get_deletion("acme").status

        Raises:
            MemoryNotFoundError: there is no such deletion.
        """
        asked = {"dry_run": True} if dry_run else None
        answer = await self._call("GET", f"/api/v1/tenants/{id}/deletion", params=asked)
        return parse(Deletion.from_document, answer)
