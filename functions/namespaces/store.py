"""Reads and writes of namespaces' permissions: a tenant's are in one partition, so that one query
lists them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from functions.identity.model import Principal
from functions.namespaces.model import Namespace
from functions.namespaces.restrictions import restrict_namespace, restrictions_from_item
from functions.namespaces.rules import build_first_configuration
from functions.platform import entry_keys
from functions.platform.items import Item
from functions.platform.parallel import run_parallel
from functions.platform.table import ConditionFailed, Table
from functions.platform.task_keys import build_restrictions_key
from functions.platform.writes import Write, put


class NamespaceStore:
    """Reads and writes the permissions of namespaces."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, name: str) -> Namespace | None:
        """Read one namespace's permissions: one call."""
        item = self._table.get(entry_keys.build_namespace_key(tenant, name))
        return None if item is None else namespace_from_item(item)

    def get_restricted(self, caller: Principal, name: str) -> Namespace | None:
        """Read one namespace with the access that guardrails leave the caller: one call."""
        own = entry_keys.build_namespace_key(caller.tenant, name)
        restrictions = build_restrictions_key(caller.tenant, caller.id)
        found = self._table.get_many((own, restrictions))
        return build_restricted_namespace(caller, name, found.get(own), found.get(restrictions))

    def list_restricted(self, caller: Principal) -> list[Namespace]:
        """Read all of a tenant's namespaces with the access that guardrails leave the caller."""
        reads: list[Callable[[], Any]] = [
            partial(self.list_all, caller.tenant),
            partial(self._table.get, build_restrictions_key(caller.tenant, caller.id)),
        ]
        namespaces, item = run_parallel(reads)
        restrictions = restrictions_from_item(item)
        seen = (restrict_namespace(caller, each.name, each, restrictions) for each in namespaces)
        return [each for each in seen if each is not None]

    def list_all(self, tenant: str) -> list[Namespace]:
        """Read all configured namespaces of a tenant."""
        partition, prefix = entry_keys.build_namespace_range(tenant)
        return list(map(namespace_from_item, self._table.query(partition, prefix)))

    def replace(self, tenant: str, new: Namespace) -> bool:
        """Put `new` in the place of the version before it; False if another version is stored."""
        try:
            self._table.put(_put(tenant, new))
        except ConditionFailed:
            return False
        return True


def build_restricted_namespace(
    caller: Principal, name: str, namespace: Item | None, restrictions: Item | None
) -> Namespace | None:
    """Build a namespace, with the access that guardrails leave the caller, from both items."""
    configured = None if namespace is None else namespace_from_item(namespace)
    return restrict_namespace(caller, name, configured, restrictions_from_item(restrictions))


def configure_first(tenant: str, name: str, curator: str, now: int) -> Write:
    """Make the first writer of a namespace its curator, if it is new (contract §4)."""
    return _put(tenant, build_first_configuration(name, curator, now))


def _put(tenant: str, namespace: Namespace) -> Write:
    item: Item = {
        "namespace": namespace.name,
        "everyone": namespace.default,
        "allow": namespace.allow,
        "version": namespace.version,
        "created": namespace.created,
        "updated": namespace.updated,
        "request_token": namespace.request,
        "previous_tokens": namespace.previous_tokens or None,
    }
    key = entry_keys.build_namespace_key(tenant, namespace.name)
    if namespace.version == 1:
        return put(key, item, "attribute_not_exists(pk)")
    return put(key, item, "version = :before", before=namespace.version - 1)


def namespace_from_item(item: Item) -> Namespace:
    """Read a namespace from its item."""
    return Namespace(
        name=item["namespace"],
        default=item["everyone"],
        allow=item["allow"],
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        request=item.get("request_token"),
        previous_tokens=tuple(item.get("previous_tokens", ())),
    )
