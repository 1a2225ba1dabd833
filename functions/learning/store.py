"""Reads and writes of strategies, and of what they have done and used."""

from functions.learning.model import Counts, Strategy, Usage
from functions.platform.clock import from_rfc3339
from functions.platform.item_types import LEARNING_BUDGET, STRATEGY, STRATEGY_COUNTS
from functions.platform.items import from_attributes, to_attributes
from functions.platform.table import Store
from functions.platform.writes import Write, delete, put_version, update

_BUDGET_LIFETIME = 40 * 86_400  # seconds
_SUMS = ("learned", "ended", "dropped", "failed", "requests", "tokens")


class StrategyStore(Store):
    """The strategies of all tenants. A tenant has few, in one partition."""

    def get(self, tenant: str, name: str) -> Strategy | None:
        """Read one strategy: one read."""
        item = self._table.get(STRATEGY.build_key(tenant, strategy=name))
        return None if item is None else from_attributes(Strategy, item)

    def list_all(self, tenant: str) -> list[Strategy]:
        """Read all strategies of a tenant, by their names: one call."""
        partition, prefix = STRATEGY.build_range(tenant)
        found = [from_attributes(Strategy, each) for each in self._table.query(partition, prefix)]
        return sorted(found, key=lambda each: each.name)

    def put(self, tenant: str, seen: Strategy | None, new: Strategy, audit: Write) -> None:
        """Put a strategy in the place of the one that was read."""
        key = STRATEGY.build_key(tenant, strategy=new.name)
        version = None if seen is None else seen.version
        self._table.transact([put_version(key, to_attributes(new), version), audit])

    def delete(self, tenant: str, seen: Strategy, audit: Write) -> None:
        """Delete a strategy, and its counts."""
        key = STRATEGY.build_key(tenant, strategy=seen.name)
        counts = STRATEGY_COUNTS.build_key(tenant, strategy=seen.name)
        removal = delete(key, "version = :seen", seen=seen.version)
        self._table.transact([removal, delete(counts), audit])

    def get_counts(self, tenant: str, name: str) -> Counts:
        """Read what a strategy has done: one read."""
        item = self._table.get(STRATEGY_COUNTS.build_key(tenant, strategy=name))
        return Counts() if item is None else from_attributes(Counts, item)

    def get_usage(self, tenant: str, day: str) -> Usage:
        """Read what a tenant's strategies have used on a day: one read."""
        item = self._table.get(LEARNING_BUDGET.build_key(tenant, day=day))
        return Usage() if item is None else from_attributes(Usage, item)


def build_usage_write(tenant: str, day: str, added: Usage, limit: Usage) -> Write:
    """Build the write that adds to what a tenant has used on a day, up to a limit; 0 is none."""
    key = LEARNING_BUDGET.build_key(tenant, day=day)
    expires = from_rfc3339(f"{day}T00:00:00Z") // 1000 + _BUDGET_LIFETIME
    expression = "ADD #tokens :tokens, requests :requests SET ttl_at = :expires"
    conditions, values = [], {"tokens": added.tokens, "requests": added.requests}
    for name in Usage._fields:
        most = getattr(limit, name) - getattr(added, name)
        if getattr(limit, name):
            conditions.append(f"(attribute_not_exists(#{name}) OR #{name} <= :most_{name})")
            values[f"most_{name}"] = most
    return update(key, expression, " AND ".join(conditions) or None, expires=expires, **values)


def build_counts_write(tenant: str, name: str, added: Counts) -> Write:
    """Build the write that adds to what a strategy has done; times and errors replace earlier."""
    fields = {name: each for name, each in added._asdict().items() if each}
    sums = [each for each in fields if each in _SUMS]
    others = [each for each in fields if each not in _SUMS]
    parts = []
    if sums:
        parts.append("ADD " + ", ".join(f"#{each} :{each}" for each in sums))
    if others:
        parts.append("SET " + ", ".join(f"#{each} = :{each}" for each in others))
    return update(STRATEGY_COUNTS.build_key(tenant, strategy=name), " ".join(parts), **fields)
