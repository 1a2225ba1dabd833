"""Which messages the items were learned from: one row for each item, strategy and conversation."""

from itertools import islice

from functions.learning.model import LearnedItem
from functions.platform.item_types import LEARNED_ITEM
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import get_tenant
from functions.platform.learning_keys import build_known_partition, build_learned_key
from functions.platform.newest_first import build_list_attributes, iterate_items
from functions.platform.table import Store
from functions.platform.writes import Write, delete, put_version


class LearnedStore(Store):
    """The rows of all tenants."""

    def list_conversation(self, tenant: str, session: str) -> list[LearnedItem]:
        """Read what was learned from a conversation: a call per megabyte."""
        partition, prefix = LEARNED_ITEM.build_range(tenant, session=session)
        return [_decode(each) for each in self._table.query(partition, prefix)]

    def list_known(self, tenant: str, target: str, count: int) -> list[LearnedItem]:
        """Read what was learned for a target, newest first, by an index that may lag."""
        rows = iterate_items(self._table, build_known_partition(tenant, target), None, count)
        return [_decode(each) for each in islice(rows, count)]

    def get(self, tenant: str, session: str, strategy: str, ref: str) -> LearnedItem | None:
        """Read one row: one read."""
        item = self._table.get(build_learned_key(tenant, session, strategy, ref))
        return None if item is None else _decode(item)


def build_learned_write(row: LearnedItem) -> Write:
    """Build the write of a row, on the condition that its predecessor is stored."""
    key = build_learned_key(row.tenant, row.session_id, row.strategy, row.ref)
    partition = build_known_partition(row.tenant, row.target)
    listed = build_list_attributes(partition, row.created_at, key[0] + key[1])
    item = to_attributes(row, "tenant") | listed
    return put_version(key, item, None if row.version == 1 else row.version - 1)


def build_learned_removal(row: LearnedItem) -> Write:
    """Build the removal of a row as it was read."""
    key = build_learned_key(row.tenant, row.session_id, row.strategy, row.ref)
    return delete(key, "version = :seen", seen=row.version)


def _decode(item: Item) -> LearnedItem:
    return from_attributes(LearnedItem, item, tenant=get_tenant(item["pk"]))
