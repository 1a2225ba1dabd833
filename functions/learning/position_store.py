"""Reads and writes of positions: how far strategies have read conversations."""

from collections import Counter
from itertools import islice

from functions.learning.model import Position, Waiting
from functions.platform.items import Item, from_attributes
from functions.platform.keys import build_due_attributes
from functions.platform.learning_keys import build_waiting_partition
from functions.platform.newest_first import iterate_items
from functions.platform.table import Store
from functions.platform.writes import build_set_expression, update

_MOST_COUNTED = 1000
_PAGE = 100
_RETRY_AFTER = 600_000  # ms


class PositionStore(Store):
    """The positions of all tenants' strategies."""

    def count_waiting(self, tenant: str, strategy: str) -> Waiting:
        """Count the conversations that wait for a strategy, up to 1,000, by an index."""
        partition = build_waiting_partition(tenant, strategy)
        rows = iterate_items(self._table, partition, None, _PAGE)
        found = [decode_position(row) for row in islice(rows, _MOST_COUNTED)]
        counted = Counter(each.reason for each in found if each.reason is not None)
        times = [each.since for each in found if each.since is not None]
        return Waiting(counted, min(times, default=None))

    def wake(self, item: Item, now: int) -> bool:
        """Make a position ready; its change in the stream starts the learning function.

        It is due again after ten minutes, in case that the function does not do it.
        """
        due = build_due_attributes(item["pk"], now + _RETRY_AFTER)
        changed = {"is_ready": True, "revision": item["revision"] + 1, **due}
        expression, values = build_set_expression(changed)
        key = (item["pk"], item["sk"])
        seen = item["revision"]
        return self._table.try_write(
            update(key, expression, "revision = :seen", seen=seen, **values)
        )


def decode_position(item: Item) -> Position:
    """Decode a position."""
    tenant = item["pk"].partition("#")[0]
    return from_attributes(Position, item, tenant=tenant)
