"""The namespaces room's items: all of a tenant's in one partition, so that one query lists them."""

from functions.namespaces.model import Namespace
from functions.platform import keys
from functions.platform.items import Item
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
    )
