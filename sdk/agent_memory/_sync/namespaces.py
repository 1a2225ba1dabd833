"""`client.namespaces`: namespaces of semantic memory and their permissions."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.model import Namespace, NamespaceAccess
from agent_memory.page import Paging
from agent_memory.requests import UNSET, Unset, drop_unset, quote_segment
from agent_memory.responses import parse

_NAMESPACES = "/api/v1/memory/namespaces"


class Namespaces(Resource):
    """The namespaces of the caller's tenant."""

    def list(self, **paging: Unpack[Paging]) -> Pages[Namespace]:
        """Return the namespaces that the caller has access to.

            [each.namespace for each in client.namespaces.list()]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list(_NAMESPACES, "namespaces", Namespace.from_document, paging)

    def get(self, namespace: str) -> Namespace:
        """Return one namespace.

            client.namespaces.get("policies").permissions.default

        Raises:
            MemoryNotFoundError: it has no configuration and no entry.
        """
        return parse(
            Namespace.from_document,
            self._call("GET", f"{_NAMESPACES}/{quote_segment(namespace)}"),
        )

    def set_permissions(
        self,
        namespace: str,
        *,
        default: NamespaceAccess | Unset | None = UNSET,
        allow: Mapping[str, NamespaceAccess] | None = None,
        version: int | None = None,
    ) -> Namespace:
        """Create a namespace, or change its permissions; omitted ones stay unchanged.

        It needs `memory.admin`, or `admin` access to the namespace.

            client.namespaces.set_permissions("policies", allow={"biller": "write"})

        Args:
            namespace: its name; a name that ends with `*` is a rule for all with that prefix.
            default: access of all others: `none`, `read`, `write` or `admin`; None: the access of
                the longest matching prefix rule.
            allow: access of single principals, by id; `none` removes one.
            version: only if it is at this version.

        Raises:
            MemoryConflictError: it has another version.
        """
        named = [{"agent": agent, "access": access} for agent, access in (allow or {}).items()]
        body = {"permissions": {"allow": named, **drop_unset(default=default)}}
        return self._change(namespace, body, version)

    def set_search_fields(
        self, namespace: str, fields: Iterable[str], *, version: int | None = None
    ) -> Namespace:
        """Declare the fields of values that searches of a namespace may compare.

        It needs `memory.admin`, or `admin` access to the namespace, which is made if it is new.

            client.namespaces.set_search_fields("recipes", ["kind", "season"])

        Args:
            fields: names at the top level of values, up to 20; they replace the former ones.
            version: only if it is at this version.

        Raises:
            MemoryConflictError: it has another version.
        """
        return self._change(namespace, {"search_fields": [*fields]}, version)

    def set_history(
        self, namespace: str, days: int | None, *, version: int | None = None
    ) -> Namespace:
        """Set for how many days earlier values of a namespace's entries are kept.

            client.namespaces.set_history("recipes", 90)

        Args:
            days: 0 keeps none; None is the default of the service.
            version: only if it is at this version.

        Raises:
            MemoryConflictError: it has another version.
        """
        history = None if days is None else {"days": days}
        return self._change(namespace, {"history": history}, version)

    def _change(
        self, namespace: str, body: Mapping[str, Any], version: int | None
    ) -> Namespace:
        path = f"{_NAMESPACES}/{quote_segment(namespace)}"
        document = self._call("PATCH", path, json=dict(body), version=version)
        return parse(Namespace.from_document, document)
