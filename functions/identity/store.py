"""Items of identity: tenants, principals, and keys that lead to their principals."""

from dataclasses import dataclass
from typing import cast

from functions.identity.model import Kind, Principal
from functions.platform import task_keys
from functions.platform.idempotency import list_previous_tokens
from functions.platform.item_types import API_KEY, PRINCIPAL
from functions.platform.items import Item
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.writes import Write, delete, put

_ABSENT, _AT_KEY = "attribute_not_exists(pk)", "key_partition = :old"


@dataclass(frozen=True, slots=True)
class StoredPrincipal:
    """A principal with what its item keeps beside it."""

    principal: Principal
    key_partition: str  # of the present key's item
    token: bytes | None
    salt: bytes | None
    previous_tokens: tuple[bytes, ...] = ()  # of the requests before the last


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be stored as a hash; with a `salt`, a retry can derive the key again."""

    api_key: str
    salt: bytes | None = None


class PrincipalStore:
    """Reads and writes principals; each change is one transaction."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_by_api_key(self, api_key: str) -> Principal | None:
        """Read the principal of a key: one read."""
        item = self._table.get(task_keys.build_api_key_key(api_key))
        return None if item is None else _decode(item)

    def get(self, tenant: str, principal_id: str) -> StoredPrincipal | None:
        """Read one principal: one read."""
        item = self._table.get(task_keys.build_principal_key(tenant, principal_id))
        return None if item is None else _decode_stored(item)

    def get_kind(self, tenant: str, principal_id: str) -> Kind | None:
        """Read a principal's kind, None if there is no such principal: one read."""
        found = self.get(tenant, principal_id)
        return None if found is None else found.principal.kind

    def list_principals(self, tenant: str) -> list[Principal]:
        """Read all principals of a tenant: a call per megabyte."""
        partition = PRINCIPAL.build_partition(tenant=tenant)
        return [_decode(item) for item in self._table.query(partition, PRINCIPAL.sort_prefix)]

    def has_tenant(self, tenant: str) -> bool:
        """Whether the tenant exists: one read."""
        return self._table.get(task_keys.build_tenant_key(tenant)) is not None

    def add(self, principal: Principal, key: NewKey, token: bytes) -> bool:
        """Create a principal with its key; False if the id is taken."""
        return self._transact(_put_principal(principal, key, token, _ABSENT))

    def add_tenant(self, admin: Principal, key: NewKey, token: bytes) -> bool:
        """Create a tenant and its first principal; False if the tenant exists."""
        tenant = put(task_keys.build_tenant_key(admin.tenant), {"created": admin.created}, _ABSENT)
        return self._transact([tenant, *_put_principal(admin, key, token, _ABSENT)])

    def replace_key(self, old: StoredPrincipal, key: NewKey, token: bytes) -> bool:
        """Replace the present key by a new one; False if that changed meanwhile."""
        earlier = list_previous_tokens(old.token, old.previous_tokens)
        puts = _put_principal(old.principal, key, token, _AT_KEY, earlier, old=old.key_partition)
        return self._transact([delete((old.key_partition, API_KEY.build_sort())), *puts])

    def remove(self, stored: StoredPrincipal) -> bool:
        """Delete a principal and its key; False if the key changed meanwhile."""
        key = task_keys.build_principal_key(stored.principal.tenant, stored.principal.id)
        return self._transact(
            [
                delete((stored.key_partition, API_KEY.build_sort())),
                delete(key, _AT_KEY, old=stored.key_partition),
            ]
        )

    def _transact(self, writes: list[Write]) -> bool:
        try:
            self._table.transact(writes)
        except TransactionConditionFailed:
            return False
        return True


def _put_principal(
    principal: Principal,
    key: NewKey,
    token: bytes,
    condition: str,
    previous_tokens: tuple[bytes, ...] = (),
    **values: str,
) -> list[Write]:
    attributes: Item = {
        "tenant": principal.tenant,
        "principal": principal.id,
        "kind": principal.kind,
        "permissions": principal.permissions or None,
        "expires": principal.expires,
        "created": principal.created,
    }
    api_key = task_keys.build_api_key_key(key.api_key)
    item = attributes | {"key_partition": api_key[0], "request": token, "salt": key.salt}
    item["previous_tokens"] = previous_tokens or None
    principal_key = task_keys.build_principal_key(principal.tenant, principal.id)
    return [put(api_key, attributes), put(principal_key, item, condition, **values)]


def _decode(item: Item) -> Principal:
    return Principal(
        tenant=item["tenant"],
        id=item["principal"],
        kind=cast("Kind", item["kind"]),
        permissions=item.get("permissions", frozenset()),
        expires=item.get("expires"),
        created=item["created"],
    )


def _decode_stored(item: Item) -> StoredPrincipal:
    return StoredPrincipal(
        _decode(item),
        item["key_partition"],
        item.get("request"),
        item.get("salt"),
        tuple(item.get("previous_tokens", ())),
    )
