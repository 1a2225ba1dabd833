"""`client.principals`: principals and their API keys."""

from collections.abc import Iterable
from datetime import datetime
from typing import Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.model import (
    AccessExplanation,
    NewPrincipal,
    Permission,
    Principal,
    PrincipalKind,
)
from agent_memory.page import Paging
from agent_memory.requests import (
    UNSET,
    Unset,
    drop_none,
    drop_unset,
    quote_segment,
    render_time,
    to_list,
)
from agent_memory.responses import parse

_PRINCIPALS = "/api/v1/principals"


class Principals(Resource):
    """The principals of the caller's tenant. All but `me` and `explain_access` need
    `memory.admin`."""

    _me: Principal | None = None

    def me(self) -> Principal:
        """Return the principal of the client's key.

        client.principals.me().permissions
        """
        self._me = parse(Principal.from_document, self._call("GET", "/api/v1/me"))
        return self._me

    def cached_me(self) -> Principal:
        """Return the principal of the key, fetched once: its id and kind never change.

        client.principals.cached_me().id
        """
        return self._me or self.me()

    def list(self, **paging: Unpack[Paging]) -> Pages[Principal]:
        """Return all principals, newest first, without their keys.

            [each.id for each in client.principals.list()]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list(_PRINCIPALS, "principals", Principal.from_document, paging)

    def create(
        self,
        id: str,
        kind: PrincipalKind = "agent",
        *,
        permissions: Iterable[Permission] | None = None,
        expires_at: str | datetime | None = None,
        agent_type: str | None = None,
        reuse: bool | None = None,
    ) -> NewPrincipal:
        """Create a principal; return it with its key, which is never shown again.

            biller = client.principals.create("biller")
            Client(server_url, biller.api_key)

        Args:
            kind: `agent`, `coordinator` or `user`.
            permissions: of `memory.read`, `memory.write`, `memory.admin`; by default the first two.
            agent_type: its type of agent.
            reuse: take over the data of a revoked principal with this id.

        Raises:
            MemoryConflictError: the id is taken, or a revoked principal had it and `reuse` isn't
                given.
        """
        body = drop_none(
            id=id,
            kind=kind,
            permissions=to_list(permissions),
            expires_at=render_time(expires_at),
            agent_type=agent_type,
            reuse=reuse,
        )
        return parse(NewPrincipal.from_document, self._call("POST", _PRINCIPALS, json=body))

    def update(
        self,
        id: str,
        *,
        permissions: Iterable[Permission] | Unset = UNSET,
        agent_type: str | Unset | None = UNSET,
        expires_at: str | datetime | Unset | None = UNSET,
    ) -> Principal:
        """Change a principal; omitted fields and its key stay unchanged.

            client.principals.update("auditor", permissions=["memory.read"])

        Args:
            permissions: its new permissions.
            agent_type: None removes it.
            expires_at: the time when its key expires; None: never.

        Raises:
            MemoryNotFoundError: raised when there is no such principal.
        """
        listed = permissions if permissions is UNSET else to_list(permissions)
        body = drop_unset(
            permissions=listed, agent_type=agent_type, expires_at=render_time(expires_at)
        )
        path = f"{_PRINCIPALS}/{quote_segment(id)}"
        return parse(Principal.from_document, self._call("PATCH", path, json=body))

    def explain_access(
        self,
        principal: str | None = None,
        *,
        entry: str | None = None,
        namespace: str | None = None,
        task: str | None = None,
        conversation: str | None = None,
    ) -> AccessExplanation:
        """Return whether a principal may read and write a resource, and by which rule.

            client.principals.explain_access("alice", namespace="policies").write.rule

        Args:
            principal: its ID; by default, the caller.
            entry, namespace, task, conversation: the id or name of one resource.

        Raises:
            ValidationError: raised unless exactly one resource is named.
            MemoryAccessError: raised when the caller may not know of it.
        """
        asked = drop_none(
            principal=principal,
            entry=entry,
            namespace=namespace,
            task=task,
            conversation=conversation,
        )
        answer = self._call("GET", "/api/v1/access", params=asked)
        return parse(AccessExplanation.from_document, answer)

    def rotate(self, id: str) -> NewPrincipal:
        """Replace a principal's key; the old one stops working.

            client.principals.rotate("biller").api_key

        Raises:
            MemoryNotFoundError: raised when there is no such principal.
        """
        path = f"{_PRINCIPALS}/{quote_segment(id)}/rotate"
        return parse(NewPrincipal.from_document, self._call("POST", path))

    def revoke(self, id: str) -> None:
        """Revoke a principal's key and remove it.

            client.principals.revoke("biller")

        Raises:
            MemoryNotFoundError: raised when there is no such principal.
        """
        self._remove(f"{_PRINCIPALS}/{quote_segment(id)}")
