"""Items of the audit log: each tenant has one partition, in order of time."""

from collections.abc import Iterator
from itertools import islice

from functions.audit.model import AuditQuery, AuditRecord
from functions.identity.model import Actor
from functions.platform.clock import has_ended
from functions.platform.item_types import AUDIT_RECORD
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import dumps, loads
from functions.platform.keys import FIRST_AUDIT_POSITION, build_audit_position, encode_timestamp
from functions.platform.limits import MAX_EXAMINED
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Store
from functions.platform.writes import Write, put

_DAY_S = 86_400
_LAST = "~"  # sorts behind every position


def put_record(record: AuditRecord, retention_days: int) -> Write:
    """Build the write of a record; `retention_days` of 0 keeps it for good."""
    position = build_audit_position(record.time, record.id)
    key = AUDIT_RECORD.build_key(record.tenant, position=position)
    expiry = record.time // 1000 + retention_days * _DAY_S if retention_days else None
    item = to_attributes(record, "tenant") | {
        "actor": list(record.actor),
        "before": None if record.before is None else dumps(record.before),
        "after": None if record.after is None else dumps(record.after),
        TTL_ATTRIBUTE: expiry,
    }
    return put(key, item)


class AuditStore(Store):
    """Reads the audit logs of all tenants."""

    def read(
        self, tenant: str, query: AuditQuery, now: int
    ) -> tuple[list[AuditRecord], str | None]:
        """Read the next records that match, and the position of the last one examined.

        A call examines as many records as it may return, or 2,000 if it filters. At the end of a
        list that is newest first, the position is None.
        """
        is_selective = query.actor is not None or query.action is not None
        examined = MAX_EXAMINED if is_selective else query.limit
        found: list[AuditRecord] = []
        position = query.after or FIRST_AUDIT_POSITION
        following = self._iterate(tenant, query, examined + 1)
        for item in islice(following, examined):
            position = _get_position(item)
            record = _decode(tenant, item)
            if not has_ended(item, now) and query.matches(record):
                found.append(record)
            if len(found) == query.limit:
                break
        if query.newest_first and next(following, None) is None:
            return found, None
        return found, position

    def add(self, record: Write) -> None:
        """Write a record: one call."""
        self._table.put(record)

    def _iterate(self, tenant: str, query: AuditQuery, page_size: int) -> Iterator[Item]:
        """Read the records after a position and of a period, in the requested order."""
        first, last = FIRST_AUDIT_POSITION, _LAST
        if query.since is not None:
            first = encode_timestamp(max(query.since, 0))
        if query.until is not None:
            last = encode_timestamp(max(query.until, 0)) + _LAST
        if query.after is not None and query.newest_first:
            last = min(last, query.after)
        elif query.after is not None:
            first = max(first, query.after)
        if first > last:
            return iter(())
        items = self._table.query(
            AUDIT_RECORD.build_partition(tenant),
            AUDIT_RECORD.build_sort(position=first),
            AUDIT_RECORD.build_sort(position=last),
            page_size,
            newest_first=query.newest_first,
        )
        return (item for item in items if _get_position(item) != query.after)


def _get_position(item: Item) -> str:
    sort: str = item["sk"]
    return sort.removeprefix(AUDIT_RECORD.sort_prefix)


def _decode(tenant: str, item: Item) -> AuditRecord:
    said = {name: loads(item[name]) if name in item else None for name in ("before", "after")}
    return from_attributes(AuditRecord, item, tenant=tenant, actor=Actor(*item["actor"]), **said)
