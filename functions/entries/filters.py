"""The filters of queries as data: a row of FILTERS defines each comparison (RFC-0015 §4.1).

To add a filter, add a field to `Filters`, a row to `FILTERS` and a query parameter to
`functions.api.filters`.
"""

from collections.abc import Callable, Collection, Iterable
from operator import eq, gt, lt
from typing import Any, NamedTuple

from functions.entries.model import Entry
from functions.entries.tiers import POLICIES, Tier
from functions.platform.items import Item


class Filters(NamedTuple):
    """The filters of a query; None or an empty set filters nothing, times are in epoch ms."""

    agent_id: str | None = None
    memory_type: Tier | None = None
    namespace: str | None = None
    namespace_prefix: str | None = None
    key: str | None = None
    tags: frozenset[str] = frozenset()
    tags_any: frozenset[str] = frozenset()
    task_id: str | None = None
    intent_id: str | None = None
    pinned: bool | None = None
    updated_after: int | None = None
    updated_before: int | None = None

    @property
    def memory_types(self) -> frozenset[Tier]:
        """The types of memory that can match; none if the filters contradict each other.

        An owner alone means private memory, and `pinned` means episodic memory.
        """
        return frozenset(
            policy.name
            for policy in POLICIES.values()
            if self.memory_type in (None, policy.name)
            and (self.memory_type or self.agent_id is None or policy.is_private)
            and (self.pinned is None or policy.is_evictable)
        )


NO_FILTERS = Filters()


class Comparison(NamedTuple):
    """The comparison of a filter with an attribute.

    Attributes:
        is_met: takes the attribute's value and the wanted value.
        condition: the condition of DynamoDB, built from name and placeholder.
        operator: joins the conditions of the elements if a set of values is wanted.
    """

    is_met: Callable[[Any, Any], bool]
    condition: str
    operator: str = ""


EQUALS = Comparison(eq, "{} = {}")
BEGINS_WITH = Comparison(str.startswith, "begins_with({}, {})")
HAS_ALL = Comparison(lambda tags, wanted: wanted.issubset(tags or ()), "contains({}, {})", " AND ")
HAS_ANY = Comparison(
    lambda tags, wanted: not wanted.isdisjoint(tags or ()), "contains({}, {})", " OR "
)
IS_AFTER = Comparison(gt, "{} > {}")
IS_BEFORE = Comparison(lt, "{} < {}")


class Filter(NamedTuple):
    """A filter: a field of `Filters`, the attribute that it compares, and how.

    An entry, its item and its index rows have the attribute under one name.
    """

    name: str
    attribute: str
    comparison: Comparison


FILTERS = (
    Filter("agent_id", "agent_id", EQUALS),
    Filter("memory_type", "memory_type", EQUALS),
    Filter("namespace", "namespace", EQUALS),
    Filter("namespace_prefix", "namespace", BEGINS_WITH),
    Filter("key", "key", EQUALS),
    Filter("tags", "tags", HAS_ALL),
    Filter("tags_any", "tags", HAS_ANY),
    Filter("task_id", "task_id", EQUALS),
    Filter("intent_id", "intent_id", EQUALS),
    Filter("pinned", "pinned", EQUALS),
    Filter("updated_after", "updated_at", IS_AFTER),
    Filter("updated_before", "updated_at", IS_BEFORE),
)
_IN_ROW_KEYS = {"memory_type", "namespace", "key", "pinned"}  # or equal in all semantic entries
ROW_ATTRIBUTES = frozenset(each.attribute for each in FILTERS) - _IN_ROW_KEYS
"""The attributes of a semantic entry that its index rows have."""


def _list_given(filters: Filters) -> list[tuple[Filter, Any]]:
    """List the filters that are set, with the wanted values."""
    wanted = [(each, getattr(filters, each.name)) for each in FILTERS]
    return [(each, value) for each, value in wanted if value is not None and value != frozenset()]


def select_matching(entries: Iterable[Entry], filters: Filters, now: int) -> list[Entry]:
    """Select the entries that match every filter and haven't expired."""
    given, types = _list_given(filters), filters.memory_types
    return [
        entry
        for entry in entries
        if entry.memory_type in types
        and not entry.is_expired(now)
        and all(
            each.comparison.is_met(getattr(entry, each.attribute), value) for each, value in given
        )
    ]


def build_row_matcher(filters: Filters, known: Collection[str]) -> Callable[[Item], bool]:
    """Build a function that tells whether an index row can be of a matching entry.

    Args:
        known: the attributes that rows have; filters on others exclude nothing.
    """
    given = [(each, value) for each, value in _list_given(filters) if each.attribute in known]

    def matches(row: Item) -> bool:
        return all(each.comparison.is_met(row.get(each.attribute), value) for each, value in given)

    return matches


def build_condition(filters: Filters) -> tuple[str | None, Item]:
    """Build the filters as a condition of DynamoDB with its values; None if nothing is filtered."""
    terms: list[str] = []
    values: Item = {}
    for (name, attribute, comparison), wanted in _list_given(filters):
        elements = sorted(wanted) if isinstance(wanted, frozenset) else [wanted]
        named = {f"{name}_{number}": each for number, each in enumerate(elements)}
        each_of = (comparison.condition.format(f"#{attribute}", f":{each}") for each in named)
        terms.append(f"({comparison.operator.join(each_of)})")
        values |= named
    return " AND ".join(terms) or None, values


def parse_namespace_filter(namespace: str | None) -> tuple[str | None, str | None]:
    """Parse a namespace filter into a name or a prefix; the other one is None.

    Example: `billing.*` is the prefix `billing.`, `billing` is a name, and `*` filters nothing.
    """
    if namespace is None or not namespace.endswith("*"):
        return namespace, None
    return None, namespace[:-1] or None
