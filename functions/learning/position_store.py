"""Reads and writes of positions: how far strategies have read conversations."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice

from functions.conversations.mapper import header_key
from functions.conversations.model import Conversation
from functions.learning.model import Position, Waiting
from functions.platform.item_types import LEARNING_POSITION
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import build_due_attributes, get_tenant
from functions.platform.learning_keys import build_position_key, build_waiting_partition
from functions.platform.newest_first import build_list_attributes, iterate_items
from functions.platform.table import Store
from functions.platform.writes import (
    Write,
    build_set_expression,
    check,
    delete,
    put,
    put_new,
    update,
)

_MOST_COUNTED = 1000
_PAGE = 100
_RETRY_AFTER = 600_000  # ms


class PositionStore(Store):
    """The positions of all tenants' strategies."""

    def get(self, tenant: str, session: str, strategy: str) -> Position | None:
        """Read a position: one read."""
        item = self._table.get(build_position_key(tenant, session, strategy))
        return None if item is None else decode_position(item)

    def get_many(self, tenant: str, session: str, strategies: Iterable[str]) -> dict[str, Position]:
        """Read the positions of a conversation that exist, by strategy: one call."""
        keys = [build_position_key(tenant, session, each) for each in strategies]
        found = map(decode_position, self._table.get_many(keys).values())
        return {each.strategy: each for each in found}

    def try_put(self, position: Position) -> bool:
        """Put a position; return whether the stored one was its predecessor."""
        return self._table.try_write(build_position_write(position))

    def delete_all(self, tenant: str, session: str) -> None:
        """Delete all positions of a conversation: two calls."""
        partition, prefix = LEARNING_POSITION.build_range(tenant, session=session)
        found = self._table.query(partition, prefix)
        self._table.write_many([delete((each["pk"], each["sk"])) for each in found])

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
        changed = {"is_ready": True, "is_woken": True, "revision": item["revision"] + 1, **due}
        expression, values = build_set_expression(changed)
        key, seen = (item["pk"], item["sk"]), item["revision"]
        return self._table.try_write(
            update(key, expression, "revision = :seen", seen=seen, **values)
        )


def build_position_write(position: Position) -> Write:
    """Build the write of a position, on the condition that its predecessor is stored.

    What waits is listed.
    """
    tenant = position.tenant
    key = build_position_key(tenant, position.session_id, position.strategy)
    item = to_attributes(position, "tenant", "due")
    item |= build_due_attributes(key[0], position.due)
    if position.since is not None:
        partition = build_waiting_partition(tenant, position.strategy)
        item |= build_list_attributes(partition, position.since, key[0])
    if position.revision == 1:
        return put_new(key, item)
    return put(key, item, "revision = :seen", seen=position.revision - 1)


def build_unchanged_check(conversation: Conversation) -> Write:
    """Build the check that a conversation's messages were only appended to since it was read."""
    return check(
        header_key(conversation),
        "generation = :generation AND rewritten_at = :rewritten_at"
        " AND (attribute_not_exists(learn) OR learn = :yes)",
        generation=conversation.generation,
        rewritten_at=conversation.rewritten_at,
        yes=True,
    )


def decode_position(item: Item) -> Position:
    """Decode a position."""
    return from_attributes(Position, item, tenant=get_tenant(item["pk"]))
