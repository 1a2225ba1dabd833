"""Count the items of tenants by the day on which they expire, off the write path (decision 31).

A day's count expires with its last item. An item that is deleted before is counted beside it, in
the transaction that deletes it: whenever the stream counts its insert, the sum is right.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from functions.platform import item_types
from functions.platform.keys import Key, get_tenant
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import TimedStore
from functions.platform.writes import Write, delete, put, put_new, update
from functions.quotas.model import Quota, QuotaUsage

MAX_COUNTED = 90  # items in one transaction: at worst a day's count each, of 100 writes
_DAY = 86_400  # seconds
_MARKER_LIFETIME = 2 * _DAY  # the stream delivers nothing that is older than a day
_PAGE = 100  # days' counts


class NewItem(NamedTuple):
    """An item that a quota limits.

    Attributes:
        name: distinguishes its insert from all others, of the same key too.
        expires: epoch seconds.
    """

    key: Key
    name: str
    expires: int


class QuotaStore(TimedStore):
    """The counts of all tenants and quotas."""

    def get_usage(self, tenant: str, quota: Quota) -> QuotaUsage:
        """Sum the counts of a tenant's items that haven't expired: one call.

        It reads a small item for each day on which items expire.
        """
        _, first = _build_count_key(tenant, quota, self._now() // _DAY)
        partition, last = _build_warning_key(tenant, quota)
        items = list(self._table.query_from(partition, first, last, _PAGE))
        counted = sum(item.get("counted", 0) for item in items)
        released = sum(item.get("released", 0) for item in items)
        is_warned = any(item["sk"] == last for item in items)
        return QuotaUsage(counted - released, released, is_warned)

    def count_items(self, quota: Quota, items: Sequence[NewItem]) -> None:
        """Count new items; the same ones are counted once, however often they come.

        Args:
            items: at most `MAX_COUNTED`, of any tenants.
        """
        days = Counter((get_tenant(each.key[0]), each.expires // _DAY) for each in items)
        marker = _build_marker_key(quota, items)
        expiry = {TTL_ATTRIBUTE: self._now() + _MARKER_LIFETIME}
        counts = (
            _count(tenant, quota, day, "counted", more) for (tenant, day), more in days.items()
        )
        self._table.try_write(put_new(marker, expiry), *counts)  # fails if they are counted already

    def set_warned(self, tenant: str, quota: Quota, *, is_warned: bool) -> None:
        """Note that a tenant was warned, or that it uses less than the warning again."""
        key = _build_warning_key(tenant, quota)
        if is_warned:
            self._table.put(put(key, {"since": self._clock()}))
        else:
            self._table.transact([delete(key)])

    def _now(self) -> int:
        return self._clock() // 1000


def _build_count_key(tenant: str, quota: Quota, day: int) -> Key:
    return item_types.QUOTA_COUNT.build_key(tenant, quota=quota.name, day=day)


def _build_warning_key(tenant: str, quota: Quota) -> Key:
    """Build the key of the marker that a tenant was warned; it sorts behind the days."""
    return item_types.QUOTA_WARNING.build_key(tenant, quota=quota.name)


def build_release(tenant: str, quota: Quota, expiries: Iterable[int]) -> list[Write]:
    """Build the writes that free the places of items, for the transaction that deletes them.

    Args:
        expiries: of the items, in epoch seconds.
    """
    days = Counter(expires // _DAY for expires in expiries)
    return [_count(tenant, quota, day, "released", more) for day, more in days.items()]


def _count(tenant: str, quota: Quota, day: int, name: str, more: int) -> Write:
    expression = f"ADD {name} :more SET {TTL_ATTRIBUTE} = :ttl"
    key = _build_count_key(tenant, quota, day)
    return update(key, expression, more=more, ttl=(day + 1) * _DAY)


def _build_marker_key(quota: Quota, items: Sequence[NewItem]) -> Key:
    names = "\n".join(each.name for each in items)
    hashed = blake2b(names.encode(), digest_size=16).hexdigest()
    tenant = get_tenant(items[0].key[0])
    return item_types.COUNTED_ITEMS.build_key(tenant, quota=quota.name, items=hashed)
