"""Reads and writes of strategies, and of what they have done and used."""

from collections.abc import Iterable

from functions.learning.model import Counts, Strategy, Usage
from functions.platform.item_types import LEARNING_BUDGET, STRATEGY, STRATEGY_COUNTS
from functions.platform.items import from_attributes, to_attributes
from functions.platform.table import Store
from functions.platform.writes import Write, delete, put_version


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
        """Put a strategy in the place of the one that was read.

        Raises:
            ConditionFailed: another version is stored.
        """
        key = STRATEGY.build_key(tenant, strategy=new.name)
        version = None if seen is None else seen.version
        self._table.transact([put_version(key, to_attributes(new), version), audit])

    def delete(self, tenant: str, seen: Strategy, audit: Write) -> None:
        """Delete a strategy, and its counts.

        Raises:
            ConditionFailed: another version is stored.
        """
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


def select_enabled(strategies: Iterable[Strategy]) -> list[Strategy]:
    """Select the strategies that learn."""
    return [each for each in strategies if each.enabled]
