"""The namespaces room's items: all of a tenant's in one partition, so that one query lists them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from functions.identity.model import Principal
from functions.namespaces.bars import bars_of, seen_by
from functions.namespaces.model import Namespace
from functions.platform import keys
from functions.platform.guard_keys import bars_item
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import side_by_side
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, put


class NamespaceStore:
    """Reads and writes the permissions of namespaces."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, name: str) -> Namespace | None:
        """One namespace's permissions: one read."""
        item = self._table.get(keys.namespace_item(tenant, name))
        return None if item is None else namespace_of(item)

    def view(self, caller: Principal, name: str) -> Namespace | None:
        """One namespace as guardrails let the caller see it: one call."""
        place, barred = keys.namespace_item(caller.tenant, name), _bars(caller)
        found = self._table.get_many((place, barred))
        return view_of(caller, name, found.get(place), found.get(barred))

    def views(self, caller: Principal) -> list[Namespace]:
        """All configured namespaces of a tenant, as guardrails let the caller see them."""
        reads: list[Callable[[], Any]] = [
            partial(self.all, caller.tenant),
            partial(self._table.get, _bars(caller)),
        ]
        namespaces, item = side_by_side(reads)
        seen = (seen_by(caller, each.name, each, bars_of(item)) for each in namespaces)
        return [each for each in seen if each is not None]

    def all(self, tenant: str) -> list[Namespace]:
        """All configured namespaces of a tenant."""
        return [namespace_of(item) for item in self._table.query(f"{tenant}#ns", "n#")]

    def replace(self, tenant: str, new: Namespace) -> tuple[bool, Namespace | None]:
        """Puts `new` in the place of the version before it.

        Returns whether it did, and if not, what stood there.
        """
        try:
            self._table.put(_put(tenant, new))
        except ConditionFailed as failed:
            return False, None if failed.item is None else namespace_of(failed.item)
        return True, new


def view_of(
    caller: Principal, name: str, namespace: Item | None, bars: Item | None
) -> Namespace | None:
    """A namespace as guardrails let the caller see it, from the items of both."""
    configured = None if namespace is None else namespace_of(namespace)
    return seen_by(caller, name, configured, bars_of(bars))


def _bars(caller: Principal) -> Key:
    return bars_item(caller.tenant, caller.id)


def first_configuration(tenant: str, name: str, curator: str, now: int) -> Write:
    """The write that makes the first writer of a namespace its curator (contract §4)."""
    return _put(tenant, Namespace(name, "read", {curator: "write"}, 1, now, now))


def _put(tenant: str, namespace: Namespace) -> Write:
    item: Item = {
        "namespace": namespace.name,
        "everyone": namespace.default,
        "allow": namespace.allow,
        "version": namespace.version,
        "created": namespace.created,
        "updated": namespace.updated,
        "req": namespace.request,
        "spent": namespace.spent or None,
    }
    key = keys.namespace_item(tenant, namespace.name)
    if namespace.version == 1:
        return put(key, item, "attribute_not_exists(pk)")
    return put(key, item, "version = :before", before=namespace.version - 1)


def namespace_of(item: Item) -> Namespace:
    """A namespace from its item."""
    return Namespace(
        name=item["namespace"],
        default=item["everyone"],
        allow=item["allow"],
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        request=item.get("req"),
        spent=tuple(item.get("spent", ())),
    )
