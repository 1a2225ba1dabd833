"""Items of identity: tenants, principals and their keys, and persons that items name."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from functions.identity.model import Kind, Principal
from functions.platform.bounded_pages import WantedPage
from functions.platform.bulk_writes import delete_in_transactions
from functions.platform.errors import LastAdmin
from functions.platform.idempotency import RequestHistory, RequestToken
from functions.platform.item_types import (
    API_KEY,
    DELETION,
    PERSON,
    PRINCIPAL,
    REVOKED_PRINCIPAL,
    STATE,
    STATE_OWNER,
    TENANT,
)
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key
from functions.platform.newest_first import build_list_attributes, list_item_groups
from functions.platform.table import ConditionFailed, Store, Table
from functions.platform.writes import ABSENT, Write, check, delete, put, put_new, update

_UNCHANGED = "key_partition = :key_partition AND requests = :requests"
_NAMES = ("user_id", "owner_id", "principal")
_LISTS = ("agent_participants", "shared_with", "acl")
_NAMING = frozenset((*_NAMES, *_LISTS))
_OF_PERSONS = PERSON.partition.partition("#")[2]  # its items name persons themselves
_MAX_REMEMBERED = 50_000
Addition = Literal["added", "taken", "revoked"]
"""The result of creating a principal: its id may be taken, or may have been revoked."""


class StoredPrincipal(NamedTuple):
    """A principal with further attributes of its item."""

    principal: Principal
    key_partition: str  # the key of the present key's item
    requests: RequestHistory
    salt: bytes | None


class NewKey(NamedTuple):
    """A key to be stored as a hash; with a `salt`, a retry can derive the key again."""

    api_key: str
    salt: bytes | None = None


def create_api_key() -> str:
    """Create a random API key of 256 bits."""
    return f"am_{secrets.token_urlsafe(32)}"


def build_api_key_key(api_key: str) -> Key:
    """Build the key of the item of an API key. A plain hash conceals it, because it is random."""
    return API_KEY.build_key(sha256=sha256(api_key.encode()).hexdigest())


def check_principal(principal: Principal) -> Write:
    """Build the check that a principal hasn't been revoked."""
    key = PRINCIPAL.build_key(principal.tenant, principal=principal.id)
    return check(key, "attribute_exists(pk)")


class PrincipalStore(Store):
    """Reads and writes principals; each change is one transaction.

    Items that the service didn't write count as absent (`functions.platform.macs`).
    """

    def get_by_api_key(self, api_key: str) -> Principal | None:
        """Read the principal of a key: one read."""
        return self._table.find(build_api_key_key(api_key), _decode)

    def get(self, tenant: str, principal_id: str) -> StoredPrincipal | None:
        """Read one principal: one read."""
        item = self._table.get(PRINCIPAL.build_key(tenant, principal=principal_id))
        if item is None:
            return None
        key_partition, requests = item["key_partition"], item["requests"]
        return StoredPrincipal(_decode(item), key_partition, requests, item.get("salt"))

    def get_many(self, tenant: str, principal_ids: Iterable[str]) -> list[Principal]:
        """Read the principals that exist among these: a call for each hundred."""
        keys = (PRINCIPAL.build_key(tenant, principal=each) for each in principal_ids)
        return [_decode(item) for item in self._table.get_many(keys).values()]

    def get_kind(self, tenant: str, principal_id: str) -> Kind | None:
        """Read a principal's kind, None if there is no such principal: one read."""
        found = self.get(tenant, principal_id)
        return None if found is None else found.principal.kind

    def list_groups(self, tenant: str, wanted: WantedPage) -> Iterator[list[Principal]]:
        """List a tenant's principals, newest first."""
        for items in list_item_groups(self._table, PRINCIPAL, wanted, tenant):
            yield list(map(_decode, items))

    def has_tenant(self, tenant: str) -> bool:
        """Tell whether the tenant exists: one read."""
        return self._table.get(TENANT.build_key(tenant)) is not None

    def add(
        self, principal: Principal, key: NewKey, token: RequestToken, record: Write, *, reuse: bool
    ) -> Addition:
        """Create a principal with its key.

        Args:
            reuse: whether it may take over the memory of a revoked principal of this id.
        """
        revoked = REVOKED_PRINCIPAL.build_key(principal.tenant, principal=principal.id)
        fence = delete(revoked) if reuse else check(revoked, ABSENT)
        puts = self._put_new(principal, key, token)
        try:
            self._table.transact([*puts, *_count_admins(None, principal), fence, record])
        except ConditionFailed as failed:
            return "revoked" if failed.failed.keys() == {revoked} else "taken"
        return "added"

    def add_tenant(self, admin: Principal, key: NewKey, token: RequestToken, record: Write) -> bool:
        """Create a tenant and its first principal; False if the tenant exists, or was deleted."""
        attributes = {"created_at": admin.created_at, "lasting_admins": 1}
        tenant = put_new(TENANT.build_key(admin.tenant), attributes)
        return self._table.try_write(tenant, *self._put_new(admin, key, token), record)

    def remove_all(self, tenant: str) -> int:
        """Remove all keys of a deleted tenant, then its principals; return their number."""
        partition = PRINCIPAL.build_partition(tenant)
        items = list(self._table.query(partition, PRINCIPAL.sort_prefix))
        keys = ((item["key_partition"], API_KEY.build_sort()) for item in items)
        delete_in_transactions(self._table, keys)
        delete_in_transactions(self._table, ((item["pk"], item["sk"]) for item in items))
        return len(items)

    def change(
        self, old: StoredPrincipal, principal: Principal, token: RequestToken, record: Write
    ) -> None:
        """Change a principal, which keeps its key."""
        puts = self._put_principal(principal, old.key_partition, token, None, old)
        self._transact([*puts, *_count_admins(old.principal, principal), record], principal)

    def replace_key(
        self, old: StoredPrincipal, key: NewKey, token: RequestToken, record: Write
    ) -> None:
        """Replace the present key by a new one; raises as `change`."""
        partition = build_api_key_key(key.api_key)[0]
        puts = self._put_principal(old.principal, partition, token, key.salt, old)
        self._table.transact([delete((old.key_partition, API_KEY.build_sort())), *puts, record])

    def remove(self, stored: StoredPrincipal, now: int, *further: Write) -> None:
        """Delete a principal and its key, with further writes; raises as `change`."""
        tenant, id = stored.principal.tenant, stored.principal.id
        self._transact(
            [
                *_count_admins(stored.principal, None),
                delete((stored.key_partition, API_KEY.build_sort())),
                delete(
                    PRINCIPAL.build_key(tenant, principal=id),
                    _UNCHANGED,
                    **_seen(stored),
                ),
                put(REVOKED_PRINCIPAL.build_key(tenant, principal=id), {"revoked": now}),
                *further,
            ],
            stored.principal,
        )

    def _transact(self, writes: list[Write], principal: Principal) -> None:
        try:
            self._table.transact(writes)
        except ConditionFailed as failed:
            if failed.failed.keys() == {TENANT.build_key(principal.tenant)}:
                raise LastAdmin(
                    "this is the last principal with memory.admin whose key does not expire;"
                    " give another one memory.admin first"
                ) from failed
            raise

    def _put_new(self, principal: Principal, key: NewKey, token: RequestToken) -> list[Write]:
        partition = build_api_key_key(key.api_key)[0]
        return self._put_principal(principal, partition, token, key.salt, None)

    def _put_principal(
        self,
        principal: Principal,
        key_partition: str,
        token: RequestToken,
        salt: bytes | None,
        old: StoredPrincipal | None,
    ) -> list[Write]:
        """Build the writes of a principal and its key, which replace those that were read."""
        attributes = to_attributes(principal)
        item = attributes | {
            "key_partition": key_partition,
            "requests": token.add_to(None if old is None else old.requests),
            "salt": salt,
        }
        key = PRINCIPAL.build_key(principal.tenant, principal=principal.id)
        condition, values = (ABSENT, {}) if old is None else (_UNCHANGED, _seen(old))
        item |= build_list_attributes(key[0], principal.created_at, principal.id)
        api_key: Key = (key_partition, API_KEY.build_sort())
        return [
            put(api_key, attributes),
            put(key, item, condition, **values),
            check(DELETION.build_key(subject=principal.tenant), ABSENT),
        ]


def _count_admins(before: Principal | None, after: Principal | None) -> list[Write]:
    """Count the tenant's administrators; the last one can't be removed."""
    had, has = (each is not None and each.is_lasting_admin for each in (before, after))
    principal = after or before
    if had == has or principal is None:
        return []
    key = TENANT.build_key(principal.tenant)
    condition = "lasting_admins > :least" if had else "lasting_admins >= :least"
    return [update(key, "ADD lasting_admins :change", condition, change=has - had, least=int(had))]


def _seen(stored: StoredPrincipal) -> Item:
    return {"key_partition": stored.key_partition, "requests": stored.requests}


def _decode(item: Item) -> Principal:
    permissions = item.get("permissions", frozenset())
    return from_attributes(Principal, item, permissions=permissions)


class Persons(Store):
    """The persons that items of a tenant name or named."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._noted: set[Key] = set()

    def note(self, caller: Principal, writes: Sequence[Write]) -> None:
        """Record the principals that writes name, before the writes: once a process for each name.

        The caller is a principal, so it is known without a record. Owners of states are recorded by
        agent, too: no index lists a person's states.
        """
        notes: dict[Key, Item] = {}
        for write in writes:
            attributes = write.item or write.values
            tenant, _, rest = write.key[0].partition("#")
            if _NAMING.isdisjoint(attributes) or rest == _OF_PERSONS:
                continue
            for name in _find_names(attributes):
                if (tenant, name) != (caller.tenant, caller.id):
                    notes[PERSON.build_key(tenant, person=name)] = {}
            if write.item and "owner_id" in write.item and STATE.has_sort(write.key[1]):
                owned = {name: write.item[name] for name in ("owner_id", "agent_id")}
                person, agent = owned.values()
                notes[STATE_OWNER.build_key(tenant, person=person, agent=agent)] = owned
        new = notes.keys() - self._noted
        if not new:
            return
        if len(self._noted) >= _MAX_REMEMBERED:
            self._noted.clear()
        self._table.write_many([put(key, notes[key]) for key in new])
        self._noted |= new

    def list_agents_with_states(self, tenant: str, owner: str) -> list[str]:
        """List the agents that have, or had, states for an owner: one query."""
        rows = self._table.query(*STATE_OWNER.build_range(tenant, person=owner))
        return [each["agent_id"] for each in rows]

    def is_known(self, tenant: str, name: str) -> bool:
        """Tell whether there is or was such a principal, or an item names it: one call."""
        keys = (
            PRINCIPAL.build_key(tenant, principal=name),
            REVOKED_PRINCIPAL.build_key(tenant, principal=name),
            PERSON.build_key(tenant, person=name),
        )
        return bool(self._table.get_many(keys))


def _find_names(attributes: Mapping[str, Any]) -> Iterator[str]:
    """Find the names in attributes; an access list has them in its lines."""
    found: list[Any] = [attributes.get(name) for name in _NAMES]
    for value in (attributes.get(name) or () for name in _LISTS):
        if isinstance(value, Mapping):
            found += [line.get("principal") for line in value.values() if isinstance(line, Mapping)]
        else:
            found += value
    return (each for each in found if type(each) is str)
