"""Reads and writes of namespaces' permissions: a tenant's are in one partition, so that one query
lists them. Prefix rules are beside them, under keys of their own."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from functions.namespaces.model import (
    USERS,
    Namespace,
    NamespaceTarget,
    find_person,
    list_spellings,
)
from functions.namespaces.rules import is_prefix_rule
from functions.platform import item_types
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import HIGHEST, Key
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.newest_first import build_list_attributes, iterate_items
from functions.platform.schema import BY_CREATION, CREATION_ATTRIBUTE
from functions.platform.table import Store
from functions.platform.writes import Write, delete, put_version


class NamespaceClaim(NamedTuple):
    """The first configuration of a namespace, which its first write brings along.

    Attributes:
        target: the namespace as it was before.
        writes: its permissions, then their audit record.
    """

    target: NamespaceTarget
    writes: tuple[Write, ...]

    @property
    def key(self) -> Key:
        """The key of the permissions, which must not exist yet."""
        return self.writes[0].key


class NamespaceStore(Store):
    """Reads and writes the permissions of namespaces."""

    def get(self, tenant: str, name: str) -> Namespace | None:
        """Read the permissions of one name, a prefix rule's included: one call."""
        item = self._table.get(_build_key(tenant, name))
        return None if item is None else namespace_from_item(item)

    def get_items(self, keys: Iterable[Key]) -> dict[Key, Item | None]:
        """Read items of namespaces, and what restricts a caller: a call per hundred."""
        wanted = list(keys)
        found = self._table.get_many(wanted)
        return {key: found.get(key) for key in wanted}

    def list_all(self, tenant: str) -> Iterator[Namespace]:
        """Read all configured namespaces of a tenant: a call per megabyte."""
        partition, prefix = item_types.NAMESPACE.build_range(tenant)
        return map(namespace_from_item, self._table.query(partition, prefix))

    def list_few(self, tenant: str, prefix: str, most: int) -> list[Namespace] | None:
        """Read the configured namespaces whose names have a prefix; None if they are over `most`.

        It is one call, or two where there is a prefix.
        """
        if prefix:
            keys = list(islice(self._list_keys(tenant, prefix, most + 1), most + 1))
            return None if len(keys) > most else self._read_all(keys)
        partition, first = item_types.NAMESPACE.build_range(tenant)
        items = self._table.query_from(partition, first, first + HIGHEST, most + 1)
        found = list(map(namespace_from_item, islice(items, most + 1)))
        return None if len(found) > most else found

    def list_with_prefix(self, tenant: str, prefix: str) -> list[Namespace]:
        """Read the configured namespaces whose names have a prefix, found by an index."""
        return self._read_all(self._list_keys(tenant, prefix, MAX_PAGE_ITEMS))

    def list_of_person(self, tenant: str, user_id: str) -> list[Namespace]:
        """Read the configured namespaces about a person: two calls for most."""
        names = [f"{USERS}/{each}" for each in list_spellings(user_id)]
        roots = self._table.get_many([_build_key(tenant, name) for name in names])
        below = [each for name in names for each in self.list_with_prefix(tenant, f"{name}/")]
        found = [*map(namespace_from_item, roots.values()), *below]
        return [each for each in found if find_person(each.namespace) == user_id]

    def delete(self, tenant: str, namespace: Namespace) -> bool:
        """Delete the permissions of a name; False if they have changed since they were read."""
        key = _build_key(tenant, namespace.namespace)
        return self._table.try_write(delete(key, "version = :seen", seen=namespace.version))

    def _list_keys(self, tenant: str, prefix: str, page_size: int) -> Iterator[Key]:
        """List the keys of the namespaces whose names have a prefix, by an index."""
        partition = item_types.NAMESPACE.build_range(tenant)[0]
        rows = self._table.query_index(
            BY_CREATION,
            f"pk = :pk AND {CREATION_ATTRIBUTE} BETWEEN :first AND :last",
            page_size=page_size,
            pk=partition,
            first=prefix,
            last=prefix + HIGHEST,
        )
        return ((row["pk"], row["sk"]) for row in rows)

    def _read_all(self, keys: Iterable[Key]) -> list[Namespace]:
        return list(map(namespace_from_item, self._table.get_many(keys).values()))

    def list_rules(self, tenant: str) -> list[Namespace]:
        """Read all prefix rules of a tenant: one call, for there are few."""
        partition, prefix = item_types.PREFIX_RULE.build_range(tenant)
        return list(map(namespace_from_item, self._table.query(partition, prefix)))

    def list_with_rules(self, tenant: str) -> list[Namespace]:
        """Read all configured namespaces and prefix rules of a tenant, the rules last."""
        return [*self.list_all(tenant), *self.list_rules(tenant)]

    def iterate_with_rules(
        self, tenant: str, before: str | None, count: int
    ) -> Iterator[Namespace]:
        """Read namespaces and prefix rules, newest first, before a position, by an index."""
        partition = item_types.NAMESPACE.build_range(tenant)[0]
        return map(namespace_from_item, iterate_items(self._table, partition, before, count))

    def replace(self, tenant: str, old: Namespace | None, new: Namespace, record: Write) -> None:
        """Put `new` in the place of `old`, if there was one, with the audit record."""
        order = {} if is_prefix_rule(new.namespace) else _build_name_order(new.namespace)
        write = put_permissions(_build_key(tenant, new.namespace), old, new, **order)
        self._table.transact([write, record])


def put_first_configuration(tenant: str, namespace: Namespace) -> Write:
    """Configure a namespace that isn't configured; never a prefix rule, even if it ends with *."""
    key = item_types.NAMESPACE.build_key(tenant, namespace=namespace.namespace)
    return put_permissions(key, None, namespace, **_build_name_order(namespace.namespace))


def _build_name_order(name: str) -> dict[str, str]:
    return {CREATION_ATTRIBUTE: name}


def _build_key(tenant: str, name: str) -> Key:
    if is_prefix_rule(name):
        return item_types.PREFIX_RULE.build_key(tenant, namespace=name)
    return item_types.NAMESPACE.build_key(tenant, namespace=name)


def put_permissions(key: Key, old: Namespace | None, namespace: Namespace, **further: str) -> Write:
    """Put permissions in the place of those that were read, with further attributes."""
    listed = build_list_attributes(key[0], namespace.created_at, namespace.namespace)
    item = further | listed | to_attributes(namespace)
    return put_version(key, item, None if old is None else old.version)


def namespace_from_item(item: Item) -> Namespace:
    """Read a namespace from its item."""
    return from_attributes(Namespace, item, default=item.get("default"))
