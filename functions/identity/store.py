"""The identity room's items: a tenant, a principal, and a key that leads to its principal."""

from dataclasses import dataclass
from typing import cast

from functions.identity.model import Kind, Principal
from functions.platform import task_keys
from functions.platform.idempotency import list_previous_tokens
from functions.platform.item_types import PRINCIPAL
from functions.platform.items import Item
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.writes import Write, delete, put

_ABSENT = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class StoredPrincipal:
    """A principal with what its item keeps beside it."""

    principal: Principal
    key_place: str  # partition of the present key's item
    token: bytes | None
    salt: bytes | None
    previous_tokens: tuple[bytes, ...] = ()  # of the requests before the last


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be stored as a hash; `salt` where it can be derived once more for a retry."""

    api_key: str
    salt: bytes | None = None


class PrincipalStore:
    """Reads and writes principals; each change is one transaction."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def by_key(self, api_key: str) -> Principal | None:
        """The principal that a key stands for: one read."""
        item = self._table.get(task_keys.build_api_key_key(api_key))
        return None if item is None else _principal(item)

    def find(self, tenant: str, principal_id: str) -> StoredPrincipal | None:
        """One principal: one read."""
        item = self._table.get(task_keys.build_principal_key(tenant, principal_id))
        return None if item is None else _stored(item)

    def kind_of(self, tenant: str, principal_id: str) -> Kind | None:
        """A principal's kind, None if there is no such principal: one read."""
        found = self.find(tenant, principal_id)
        return None if found is None else found.principal.kind

    def all(self, tenant: str) -> list[Principal]:
        """All principals of a tenant."""
        return [
            _principal(item)
            for item in self._table.query(
                PRINCIPAL.build_partition(tenant=tenant), PRINCIPAL.sort_prefix
            )
        ]

    def tenant_exists(self, tenant: str) -> bool:
        """Whether the tenant was made."""
        return self._table.get(task_keys.build_tenant_key(tenant)) is not None

    def add(self, principal: Principal, key: NewKey, token: bytes) -> bool:
        """Adds a principal with its key; False if the id is taken."""
        return self._try(_items(principal, key, token, _ABSENT))

    def add_tenant(self, admin: Principal, key: NewKey, token: bytes) -> bool:
        """Adds a tenant and its first principal; False if the tenant exists."""
        tenant = put(task_keys.build_tenant_key(admin.tenant), {"created": admin.created}, _ABSENT)
        return self._try([tenant, *_items(admin, key, token, _ABSENT)])

    def replace_key(self, old: StoredPrincipal, key: NewKey, token: bytes) -> bool:
        """Puts a new key in the place of the present one; False if that changed meanwhile."""
        principal, before = old.principal, list_previous_tokens(old.token, old.previous_tokens)
        items = _items(principal, key, token, "key_place = :old", before, old=old.key_place)
        return self._try([delete((old.key_place, "k")), *items])

    def remove(self, stored: StoredPrincipal) -> bool:
        """Removes a principal and its key; False if the key changed meanwhile."""
        principal = stored.principal
        place = task_keys.build_principal_key(principal.tenant, principal.id)
        return self._try(
            [
                delete((stored.key_place, "k")),
                delete(place, "key_place = :old", old=stored.key_place),
            ]
        )

    def _try(self, writes: list[Write]) -> bool:
        try:
            self._table.transact(writes)
        except TransactionConditionFailed:
            return False
        return True


def _items(
    principal: Principal,
    key: NewKey,
    token: bytes,
    condition: str,
    before: tuple[bytes, ...] = (),
    **values: str,
) -> list[Write]:
    attributes: Item = {
        "tenant": principal.tenant,
        "principal": principal.id,
        "kind": principal.kind,
        "perms": principal.permissions or None,
        "expires": principal.expires,
        "created": principal.created,
    }
    key_item = task_keys.build_api_key_key(key.api_key)
    kept = attributes | {"key_place": key_item[0], "req": token, "salt": key.salt}
    kept["previous_tokens"] = before or None
    place = task_keys.build_principal_key(principal.tenant, principal.id)
    return [put(key_item, attributes), put(place, kept, condition, **values)]


def _principal(item: Item) -> Principal:
    return Principal(
        tenant=item["tenant"],
        id=item["principal"],
        kind=cast("Kind", item["kind"]),
        permissions=item.get("perms", frozenset()),
        expires=item.get("expires"),
        created=item["created"],
    )


def _stored(item: Item) -> StoredPrincipal:
    return StoredPrincipal(
        _principal(item),
        item["key_place"],
        item.get("req"),
        item.get("salt"),
        tuple(item.get("previous_tokens", ())),
    )
