"""Items of usage: a tenant's totals with its limits, and its usage of each day."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Literal

from functions.platform.clock import to_rfc3339
from functions.platform.item_types import COUNTED_RECORDS, DAILY_USAGE, USAGE, USAGE_RECONCILIATION
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress, dumps, loads
from functions.platform.keys import Key, build_due_attributes, get_tenant
from functions.platform.limits import COUNTED_RECORDS_LIFETIME, USAGE_RETENTION_DAYS
from functions.platform.schema import (
    BY_GROUP,
    DUE_ATTRIBUTE,
    GROUP_ATTRIBUTE,
    TTL_ATTRIBUTE,
    TYPE_ORDER_ATTRIBUTE,
)
from functions.platform.table import TimedStore
from functions.platform.writes import Write, put_new, put_version, update
from functions.usage.model import DayUsage, EpisodeCount, Reconciliation, TenantLimits

_ALL, _PAGE = "~usage", 100
_SCANNED = 500  # items of a page
_NAMES = 40  # names in one expression, which has 4 KB
_DAY_S = 86_400
_REQUESTS, _ITEMS, _BYTES = "requests_", "items_", "bytes_"
_EPISODES = f"{_ITEMS}episodes"


class UsageStore(TimedStore):
    """Reads and writes the usage of all tenants.

    The first counted changes of a process schedule the reconciliation, unless it is scheduled.
    """

    _is_scheduled = False

    def get(self, tenant: str) -> Item:
        """Read a tenant's totals and limits: one call; empty if nothing was counted."""
        return self._table.get(USAGE.build_key(tenant)) or {}

    def get_episodes(self, tenant: str) -> EpisodeCount:
        """Read the number of a tenant's episodes: one call."""
        return decode_episodes(self.get(tenant))

    def set_warned(self, tenant: str, *, is_warned: bool) -> None:
        """Record that a tenant was warned of its quota, or has room again."""
        key = USAGE.build_key(tenant)
        warned = update(key, "SET warned_at = :now", now=self._clock())
        self._table.update(warned if is_warned else update(key, "REMOVE warned_at"))

    def list_tenants(self) -> list[str]:
        """List the tenants with counts: a query of an index."""
        rows = self._table.query_index(BY_GROUP, f"{GROUP_ATTRIBUTE} = :all", all=_ALL)
        return sorted(get_tenant(row["pk"]) for row in rows)

    def list_days(self, tenant: str, first: str, last: str) -> list[DayUsage]:
        """List a tenant's usage of the days of a period: a call for each hundred.

        `items` and `bytes` of each are the changes of that day.
        """
        bounds = DAILY_USAGE.build_sort(day=first), DAILY_USAGE.build_sort(day=last)
        partition = DAILY_USAGE.build_partition(tenant)
        items: Iterator[Item] = self._table.query(partition, *bounds, _PAGE)
        return [decode_day(DAILY_USAGE.parse(item["sk"]), item) for item in items]

    def set_limits(self, tenant: str, limits: TenantLimits, record: Write) -> None:
        """Set a tenant's limits, with the audit record."""
        given = {name: each for name, each in limits._asdict().items() if each is not None}
        self._table.transact([_add_to_totals(tenant, {}, limits=given), record])

    def count_deletions(self, tenant: str) -> int:
        """Count the deletions and previews of this day: one read."""
        key = DAILY_USAGE.build_key(tenant, day=to_rfc3339(self._clock())[:10])
        return int((self._table.get(key) or {}).get("deletions", 0))

    def count_changes(
        self, tenant: str, changes: Counter[str], releases: int, records: Sequence[str]
    ) -> Item | None:
        """Count changes of a tenant's stored amounts, once for the same records of the stream.

        Args:
            changes: by name, as `items_entries`.
            releases: the number of removed episodes that the totals no longer count, since their
                deletion has subtracted them.
            records: the sequence numbers of the records.

        Returns:
            The tenant's totals; None if the records were counted before.
        """
        hashed = blake2b("\n".join(records).encode(), digest_size=16).hexdigest()
        marker = COUNTED_RECORDS.build_key(tenant, records=hashed)
        expiry = (self._clock() + COUNTED_RECORDS_LIFETIME) // 1000
        is_new = self._table.try_write(put_new(marker, {TTL_ATTRIBUTE: expiry}))
        totals = None
        if is_new:
            more = {**changes, _EPISODES: changes[_EPISODES] + releases, "changes": 1}
            totals = self._table.update(_add_to_totals(tenant, more))
            self.add_to_day(tenant, changes)
        if not self._is_scheduled:
            self._is_scheduled = True
            self.save_reconciliation(Reconciliation(self._clock() + _DAY_S * 1000), None)
        return totals

    def list_changes(self) -> dict[str, int]:
        """List the number of counted changes of each tenant."""
        tenants = self.list_tenants()
        items = self._table.get_many(USAGE.build_key(tenant) for tenant in tenants)
        return {get_tenant(key[0]): item.get("changes", 0) for key, item in items.items()}

    def scan(self, after: Key | None) -> tuple[list[Item], Key | None]:
        """Read a page of the table, and the key after which the next page begins."""
        return self._table.scan(after, _SCANNED, "pk > :first", first=" ")

    def correct(
        self, tenant: str, found: Mapping[str, int], seen: int
    ) -> Literal["right", "corrected", "postponed"]:
        """Correct a tenant's counts to the results, if no change was counted since.

        Args:
            seen: the number of changes that were counted before.
        """
        item = self.get(tenant)
        names = found.keys() | {each for each in item if each.startswith((_ITEMS, _BYTES))}
        changes = {name: more for name in names if (more := found.get(name, 0) - item.get(name, 0))}
        if item.get("changes", 0) != seen:
            return "postponed"
        if not changes:
            return "right"
        condition = "changes = :seen" if seen else "attribute_not_exists(changes)"
        values = {"seen": seen} if seen else {}
        write = _add_to_totals(tenant, {**changes, "changes": 1})
        write = replace(write, condition=condition, values=write.values | values)
        if not self._table.try_write(write):
            return "postponed"
        self.add_to_day(tenant, changes)
        return "corrected"

    def get_reconciliation(self) -> Reconciliation | None:
        """Read the progress of the reconciliation; None before the first one."""
        item = self._table.get(USAGE_RECONCILIATION.build_key())
        if item is None:
            return None
        progress = loads(decompress(item["progress"]))
        sums = {tenant: Counter(each) for tenant, each in progress["sums"].items()}
        after, seen = item.get("after"), progress["seen"]
        position = None if after is None else (after[0], after[1])
        return Reconciliation(
            item[DUE_ATTRIBUTE], item["revision"], position, seen, sums, item["is_counted"]
        )

    def save_reconciliation(self, new: Reconciliation, old: Reconciliation | None) -> bool:
        """Write the progress of the reconciliation; False if another worker has taken the step."""
        key = USAGE_RECONCILIATION.build_key()
        item: Item = {
            "revision": new.revision,
            "after": new.after,
            "progress": compress(dumps({"seen": new.seen, "sums": new.sums})),
            "is_counted": new.is_counted,
            **build_due_attributes(key[0], new.due),
        }
        seen = None if old is None else old.revision
        return self._table.try_write(put_version(key, item, seen, "revision"))

    def add_to_day(self, tenant: str, changes: Mapping[str, int]) -> None:
        """Add to a tenant's usage of this day: one write for each forty names."""
        rest = dict(changes)
        while rest:
            chunk = {name: rest.pop(name) for name in list(rest)[:_NAMES]}
            self._table.update(self.build_day_write(tenant, chunk))

    def build_day_write(self, tenant: str, changes: Mapping[str, int]) -> Write:
        """Build the write that adds to a tenant's usage of this day."""
        now = self._clock()
        key = DAILY_USAGE.build_key(tenant, day=to_rfc3339(now)[:10])
        expiry = {TTL_ATTRIBUTE: now // 1000 + USAGE_RETENTION_DAYS * _DAY_S}
        return _add(key, changes, expiry)


def _add_to_totals(tenant: str, changes: Mapping[str, int], **attributes: Any) -> Write:
    """Build the write that adds to a tenant's totals; with them, the tenant is listed."""
    listed = {GROUP_ATTRIBUTE: _ALL, TYPE_ORDER_ATTRIBUTE: tenant}
    return _add(USAGE.build_key(tenant), changes, listed | attributes)


def _add(key: Key, changes: Mapping[str, int], attributes: Item) -> Write:
    """Build the write that adds to numbers, and sets attributes."""
    added = {name: more for name, more in changes.items() if more}
    additions = ", ".join(f"{name} :{name}" for name in added)
    settings = ", ".join(f"{name} = :{name}" for name in attributes)
    expression = f"SET {settings}" + (f" ADD {additions}" if added else "")
    return update(key, expression, None, **added, **attributes)


def build_release(tenant: str, episodes: int) -> Write:
    """Build the write that frees the quota of episodes, for the transaction that deletes them.

    The stream later counts the day of their deletion.
    """
    return _add_to_totals(tenant, {_EPISODES: -episodes, "changes": 1})


def decode_episodes(item: Item) -> EpisodeCount:
    """Decode the number of episodes from an item of usage."""
    return EpisodeCount(item.get(_EPISODES, 0), "warned_at" in item)


def decode_limits(item: Item) -> TenantLimits:
    return TenantLimits(**item.get("limits", {}))


def decode_day(day: str, item: Item) -> DayUsage:
    """Decode the counts of an item."""
    return DayUsage(
        day,
        requests=_select(item, _REQUESTS),
        items=_select(item, _ITEMS),
        bytes=_select(item, _BYTES),
        read_units=item.get("read_halves", 0) / 2,
        write_units=item.get("write_halves", 0) / 2,
    )


def _select(item: Item, prefix: str) -> Counter[str]:
    found = {name.removeprefix(prefix): n for name, n in item.items() if name.startswith(prefix)}
    return Counter({name: int(n) for name, n in found.items()})
