"""Reads and writes of strategies, their positions in conversations, and the rows of learned items.

A row has the messages of a conversation from which a strategy has learned an item.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import islice

from functions.conversations.mapper import header_key
from functions.conversations.model import Conversation
from functions.learning.model import Counts, LearnedItem, Position, Strategy, Usage, Waiting
from functions.learning.rules import wake
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import from_rfc3339
from functions.platform.item_types import (
    LEARNED_ITEM,
    LEARNING_BUDGET,
    LEARNING_POSITION,
    STRATEGY,
    STRATEGY_COUNTS,
)
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key, build_due_attributes, get_tenant
from functions.platform.limits import LEARNING_BUDGET_DAYS
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.table import Store
from functions.platform.writes import (
    Write,
    check,
    delete,
    put_version,
    update,
)

_MOST_COUNTED = 1000
_PAGE = 100
_SUMS = ("learned", "ended", "dropped", "failed", "requests", "tokens")


class LearningStore(Store):
    """The strategies of all tenants, their positions, and the rows of what they have learned.

    A tenant has few strategies, in one partition.
    """

    def get_strategy(self, tenant: str, name: str) -> Strategy | None:
        """Read one strategy: one read."""
        key = STRATEGY.build_key(tenant, strategy=name)
        return self._table.find(key, partial(from_attributes, Strategy))

    def list_strategies(self, tenant: str) -> list[Strategy]:
        """Read all strategies of a tenant, by their names: one call."""
        partition, prefix = STRATEGY.build_range(tenant)
        found = [from_attributes(Strategy, each) for each in self._table.query(partition, prefix)]
        return sorted(found, key=lambda each: each.name)

    def put_strategy(self, tenant: str, seen: Strategy | None, new: Strategy, audit: Write) -> None:
        """Write a strategy in place of the one that was read."""
        key = STRATEGY.build_key(tenant, strategy=new.name)
        version = None if seen is None else seen.version
        self._table.transact([put_version(key, to_attributes(new), version), audit])

    def delete_strategy(self, tenant: str, seen: Strategy, audit: Write) -> None:
        """Delete a strategy, and its counts."""
        key = STRATEGY.build_key(tenant, strategy=seen.name)
        counts = STRATEGY_COUNTS.build_key(tenant, strategy=seen.name)
        removal = delete(key, "version = :seen", seen=seen.version)
        self._table.transact([removal, delete(counts), audit])

    def get_counts(self, tenant: str, name: str) -> Counts:
        """Read the counts of a strategy: one read."""
        item = self._table.get(STRATEGY_COUNTS.build_key(tenant, strategy=name))
        return Counts() if item is None else from_attributes(Counts, item)

    def get_usage(self, tenant: str, day: str) -> Usage:
        """Read what a tenant's strategies have used on a day: one read."""
        item = self._table.get(LEARNING_BUDGET.build_key(tenant, day=day))
        return Usage() if item is None else from_attributes(Usage, item)

    def get_position(self, tenant: str, session: str, strategy: str) -> Position | None:
        """Read a position: one read."""
        key = LEARNING_POSITION.build_key(tenant, session=session, strategy=strategy)
        return self._table.find(key, decode_position)

    def get_positions(
        self, tenant: str, session: str, strategies: Iterable[str]
    ) -> dict[str, Position]:
        """Read the positions of a conversation that exist, by strategy: one call."""
        keys = [
            LEARNING_POSITION.build_key(tenant, session=session, strategy=each)
            for each in strategies
        ]
        found = map(decode_position, self._table.get_many(keys).values())
        return {each.strategy: each for each in found}

    def try_put_position(self, position: Position) -> bool:
        """Write a position; return False if the stored one is not its predecessor."""
        return self._table.try_write(build_position_write(position))

    def delete_positions(self, tenant: str, session: str) -> None:
        """Delete all positions of a conversation: two calls."""
        partition, prefix = LEARNING_POSITION.build_range(tenant, session=session)
        found = self._table.query(partition, prefix)
        self._table.write_many([delete((each["pk"], each["sk"])) for each in found])

    def count_waiting(self, tenant: str, strategy: str) -> Waiting:
        """Count the conversations that wait for a strategy, up to 1,000, by an index."""
        of = LEARNING_POSITION, WantedPage(_PAGE), tenant
        rows = list_items(self._table, *of, strategy=strategy)
        found = [decode_position(row) for row in islice(rows, _MOST_COUNTED)]
        counted = Counter(each.reason for each in found if each.reason is not None)
        times = [each.since for each in found if each.since is not None]
        return Waiting(counted, min(times, default=None))

    def wake(self, item: Item, now: int) -> bool:
        """Make a position ready; its change in the stream starts the learning function."""
        return self.try_put_position(wake(decode_position(item), now))

    def list_learned(self, tenant: str, session: str) -> list[LearnedItem]:
        """Read what was learned from a conversation: a call per megabyte."""
        partition, prefix = LEARNED_ITEM.build_range(tenant, session=session)
        return [_decode(each) for each in self._table.query(partition, prefix)]

    def list_known(self, tenant: str, target: str, count: int) -> list[LearnedItem]:
        """Read what was learned for a target, newest first, by an index that may lag."""
        rows = list_items(self._table, LEARNED_ITEM, WantedPage(count), tenant, target=target)
        return [_decode(each) for each in islice(rows, count)]

    def get_learned(self, tenant: str, session: str, strategy: str, ref: str) -> LearnedItem | None:
        """Read one row: one read."""
        return self._table.find(_build_learned_key(tenant, session, strategy, ref), _decode)


def build_usage_write(tenant: str, day: str, added: Usage, limit: Usage) -> Write:
    """Build the write that adds to a tenant's daily usage, up to a limit; 0 for no limit."""
    key = LEARNING_BUDGET.build_key(tenant, day=day)
    expires = from_rfc3339(f"{day}T00:00:00Z") // 1000 + LEARNING_BUDGET_DAYS * 86_400
    expression = "ADD #tokens :tokens, requests :requests SET ttl_at = :expires"
    conditions, values = [], {"tokens": added.tokens, "requests": added.requests}
    for name in Usage._fields:
        most = getattr(limit, name) - getattr(added, name)
        if getattr(limit, name):
            conditions.append(f"(attribute_not_exists(#{name}) OR #{name} <= :most_{name})")
            values[f"most_{name}"] = most
    return update(key, expression, " AND ".join(conditions) or None, expires=expires, **values)


def build_counts_write(tenant: str, name: str, added: Counts) -> Write:
    """Build the write that adds to a strategy's counts, and replaces times and errors."""
    fields = {name: each for name, each in added._asdict().items() if each}
    sums = [each for each in fields if each in _SUMS]
    others = [each for each in fields if each not in _SUMS]
    parts = []
    if sums:
        parts.append("ADD " + ", ".join(f"#{each} :{each}" for each in sums))
    if others:
        parts.append("SET " + ", ".join(f"#{each} = :{each}" for each in others))
    return update(STRATEGY_COUNTS.build_key(tenant, strategy=name), " ".join(parts), **fields)


def build_position_write(position: Position) -> Write:
    """Build the write of a position, on the condition that its predecessor is stored.

    An index lists positions that wait.
    """
    tenant = position.tenant
    key = LEARNING_POSITION.build_key(
        tenant, session=position.session_id, strategy=position.strategy
    )
    item = to_attributes(position, "tenant", "due")
    item |= build_due_attributes(key[0], position.due)
    if position.since is not None:
        partition = LEARNING_POSITION.build_group(tenant, strategy=position.strategy)
        item |= build_list_attributes(partition, position.since, key[0])
    return put_version(key, item, position.revision - 1 or None, "revision")


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
    return from_attributes(Position, item, tenant=get_tenant(item["pk"]))


def build_learned_write(row: LearnedItem) -> Write:
    """Build the write of a row, on the condition that its predecessor is stored."""
    key = _build_learned_key(row.tenant, row.session_id, row.strategy, row.ref)
    partition = LEARNED_ITEM.build_group(row.tenant, target=row.target)
    listed = build_list_attributes(partition, row.created_at, key[0] + key[1])
    item = to_attributes(row, "tenant") | listed
    return put_version(key, item, row.version - 1 or None)


def build_learned_removal(row: LearnedItem) -> Write:
    """Build the removal of a row as it was read."""
    key = _build_learned_key(row.tenant, row.session_id, row.strategy, row.ref)
    return delete(key, "version = :seen", seen=row.version)


def _decode(item: Item) -> LearnedItem:
    return from_attributes(LearnedItem, item, tenant=get_tenant(item["pk"]))


def _build_learned_key(tenant: str, session: str, strategy: str, ref: str) -> Key:
    return LEARNED_ITEM.build_key(tenant, session=session, strategy=strategy, item=ref)
