"""Reads and writes of namespaces' permissions, and reads of guardrails that restrict agents.

A tenant's namespaces are in one partition, so that one query lists them.

Guardrails (RFC-0015 §6.6): the item of an agent counts its open tasks by coordinator, as
`b_<digest of the coordinator>`, and `bindings` in all. The counts change in the transactions that
change the tasks. A request that guardrails may restrict reads the agent's item, and the guardrails
of the coordinators in it. Thus guardrails apply from the response that sets them, until the task
ends. A namespace that one coordinator denies is denied. If coordinators list allowed namespaces,
only those that are on each list are allowed. A coordinator's own guardrails restrict itself, too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import NamedTuple, Self

from functions.namespaces.model import (
    USERS,
    Namespace,
    NamespaceTarget,
    list_spellings,
)
from functions.namespaces.rules import find_person, is_prefix_rule, select_rules
from functions.platform import item_types
from functions.platform.bounded_pages import WantedPage, sort_newest
from functions.platform.clock import Clock
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import HIGHEST, Digest, Key, hash_agent
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.schema import BY_CREATION, CREATION_ATTRIBUTE
from functions.platform.table import Store, Table
from functions.platform.writes import (
    Write,
    build_set_expression,
    delete,
    put_version,
    update,
    update_unchanged,
)


class NamespaceClaim(NamedTuple):
    """The first configuration of a namespace, written with its first entry.

    Attributes:
        target: the namespace before.
        writes: its permissions, then their audit record.
    """

    target: NamespaceTarget
    writes: tuple[Write, ...]

    @property
    def key(self) -> Key:
        """The key of the permissions, which must not exist yet."""
        return self.writes[0].key


class NamespaceStore(Store):
    """Reads and writes the permissions of namespaces."""

    def get(self, tenant: str, name: str) -> Namespace | None:
        """Read the permissions of a namespace or prefix rule: one call."""
        return self._table.find(_build_key(tenant, name), decode_namespace)

    def list_all(self, tenant: str) -> Iterator[Namespace]:
        """Read all configured namespaces of a tenant: a call per megabyte."""
        partition, prefix = item_types.NAMESPACE.build_range(tenant)
        return map(decode_namespace, self._table.query(partition, prefix))

    def list_few(self, tenant: str, count: int) -> list[Namespace]:
        """Read up to `count` configured namespaces: one call."""
        partition, first = item_types.NAMESPACE.build_range(tenant)
        items = self._table.query(partition, first, first + HIGHEST, count)
        return list(map(decode_namespace, islice(items, count)))

    def list_with_prefix(self, tenant: str, prefix: str) -> list[Namespace]:
        """Read the configured namespaces whose names have a prefix, found by an index."""
        names = self.iterate_names(tenant, prefix, MAX_PAGE_ITEMS)
        build_key = partial(item_types.NAMESPACE.build_key, tenant)
        found = self._table.get_many(build_key(namespace=name) for name in names)
        return list(map(decode_namespace, found.values()))

    def list_of_person(self, tenant: str, user_id: str) -> list[Namespace]:
        """Read the configured namespaces about a person: two calls for most."""
        names = [f"{USERS}/{each}" for each in list_spellings(user_id)]
        roots = self._table.get_many([_build_key(tenant, name) for name in names])
        below = [each for name in names for each in self.list_with_prefix(tenant, f"{name}/")]
        found = [*map(decode_namespace, roots.values()), *below]
        return [each for each in found if find_person(each.namespace) == user_id]

    def delete(self, tenant: str, namespace: Namespace) -> bool:
        """Delete the permissions of a name; False if they have changed since they were read."""
        key = _build_key(tenant, namespace.namespace)
        return self._table.try_write(delete(key, "version = :seen", seen=namespace.version))

    def iterate_names(self, tenant: str, prefix: str, page_size: int) -> Iterator[str]:
        """Iterate the names of configured namespaces with a prefix, by an index that may lag."""
        partition = item_types.NAMESPACE.build_range(tenant)[0]
        rows = self._table.query_index(
            BY_CREATION,
            f"pk = :pk AND {CREATION_ATTRIBUTE} BETWEEN :first AND :last",
            page_size=page_size,
            pk=partition,
            first=prefix,
            last=prefix + HIGHEST,
        )
        return (row[CREATION_ATTRIBUTE] for row in rows)

    def list_rules(self, tenant: str) -> list[Namespace]:
        """Read all prefix rules of a tenant, which are few: one call."""
        partition, prefix = item_types.PREFIX_RULE.build_range(tenant)
        return list(map(decode_namespace, self._table.query(partition, prefix)))

    def list_with_rules(self, tenant: str, wanted: WantedPage) -> Iterable[Namespace]:
        """List a tenant's configured namespaces and prefix rules, newest first."""
        if wanted.is_counted:
            found = (*self.list_all(tenant), *self.list_rules(tenant))
            return sort_newest({each.namespace: each for each in found}.values())
        return map(decode_namespace, list_items(self._table, item_types.NAMESPACE, wanted, tenant))

    def replace(self, tenant: str, old: Namespace | None, new: Namespace, record: Write) -> None:
        """Put `new` in place of `old`, if any, with the audit record."""
        is_rule = is_prefix_rule(new.namespace)
        order = {} if is_rule else {CREATION_ATTRIBUTE: new.namespace}
        write = put_permissions(_build_key(tenant, new.namespace), old, new, **order)
        self._table.transact([write, record])


def put_first_configuration(tenant: str, namespace: Namespace) -> Write:
    """Configure a new namespace; a name that ends with * is no prefix rule here."""
    key = item_types.NAMESPACE.build_key(tenant, namespace=namespace.namespace)
    return put_permissions(key, None, namespace, **{CREATION_ATTRIBUTE: namespace.namespace})


def _build_key(tenant: str, name: str) -> Key:
    if is_prefix_rule(name):
        return item_types.PREFIX_RULE.build_key(tenant, namespace=name)
    return item_types.NAMESPACE.build_key(tenant, namespace=name)


def put_permissions(key: Key, old: Namespace | None, namespace: Namespace, **further: str) -> Write:
    """Put permissions in place of those that were read, with further attributes."""
    listed = build_list_attributes(key[0], namespace.created_at, namespace.namespace)
    item = further | listed | to_attributes(namespace)
    return put_version(key, item, None if old is None else old.version)


decode_namespace = partial(from_attributes, Namespace)


RULES_REMEMBERED = 5_000  # ms
_MAX_TENANTS = 1_000


class PrefixRules:
    """The prefix rules of tenants, cached for five seconds.

    A tenant has few rules, and every access to semantic memory needs them. So a function caches
    them, and reads them again after its own changes.
    """

    def __init__(self, read: Callable[[str], list[Namespace]], clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._remembered: dict[str, tuple[int, list[Namespace]]] = {}

    def find(self, tenant: str, name: str) -> tuple[Namespace, ...]:
        """Return the rules of a tenant that match a name, the longest first."""
        now, remembered = self._clock(), self._remembered
        until, rules = remembered.get(tenant, (now, []))
        if now >= until:
            if len(remembered) >= _MAX_TENANTS:
                remembered.clear()
            rules = self._read(tenant)
            remembered[tenant] = (now + RULES_REMEMBERED, rules)
        return select_rules(rules, name) if rules else ()

    def forget(self) -> None:
        """Clear the cache, since a rule was changed."""
        self._remembered = {}  # a read under way writes into the old cache


NOT_BOUND = "(attribute_not_exists(bindings) OR bindings <= :unbound)"
"""The condition that no guardrails restrict an agent; `unbound` is 0."""
_PREFIX = "b_"
_MAX_REMEMBERED = 10_000  # agents


class _Names(NamedTuple):
    """Namespaces, by name or prefix: the only allowed ones, or the denied ones."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    are_allowed: bool


class Restrictions(NamedTuple):
    """The restrictions of an agent.

    Attributes:
        namespaces: the lists of each coordinator; all apply.
        max_episodic: the limit of its episodic entries; None: its own settings apply.
    """

    namespaces: tuple[_Names, ...] = ()
    max_episodic: int | None = None

    @classmethod
    def of(cls, guardrails: Iterable[Item | None]) -> Self:
        """Combine the items of guardrails: the strictest of each applies."""
        found = [each for each in guardrails if each is not None]
        limits = (each.get("max_episodic_memory_per_agent") for each in found)
        lists = (
            _Names(
                frozenset(each[name]),
                tuple(listed[:-1] for listed in each[name] if is_prefix_rule(listed)),
                are_allowed=name.startswith("allowed"),
            )
            for each in found
            for name in ("allowed_semantic_namespaces", "denied_semantic_namespaces")
            if name in each
        )
        lowest = min((each for each in limits if each is not None), default=None)
        return cls(tuple(lists), lowest)

    def denies(self, namespace: str) -> bool:
        """Tell whether the agent may not use a namespace."""
        return any(
            (namespace in names or namespace.startswith(prefixes)) != are_allowed
            for names, prefixes, are_allowed in self.namespaces
        )


UNRESTRICTED = Restrictions()


class RestrictionStore(Store):
    """Reads the restrictions of agents: one call, together with other items.

    It remembers which coordinators bound an agent, so that the next request reads their guardrails
    in the same call as the agent's item. The item shows whether they still bind it.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._remembered: dict[tuple[str, str], list[Key]] = {}

    def is_remembered(self, tenant: str, agent: str) -> bool:
        """Tell whether guardrails restricted the agent at its last request."""
        return (tenant, agent) in self._remembered

    def read(
        self, tenant: str, agent: str, *others: Key
    ) -> tuple[Item, Restrictions, dict[Key, Item]]:
        """Read an agent's item and restrictions, and other items: one call, or two.

        Args:
            others: the keys of other items; existing ones are returned.
        """
        own = item_types.AGENT.build_key(tenant, agent=agent)
        keys = [own, *self._remembered.get((tenant, agent), ()), *others]
        found = self._table.get_many(keys)
        item = found.get(own, {})
        if not item.get("bindings"):
            self._remembered.pop((tenant, agent), None)
            return item, UNRESTRICTED, found
        read = {key: found.get(key) for key in keys}
        return item, self.find_each(tenant, {agent: item}, read)[agent], found

    def find_each(
        self,
        tenant: str,
        agents: Mapping[str, Item | None],
        read: Mapping[Key, Item | None] | None = None,
    ) -> dict[str, Restrictions]:
        """Find the restrictions of agents, given their items: one call, if any is bound."""
        wanted = {
            agent: [
                item_types.GUARDRAILS.build_key(tenant, agent=each)
                for each in list_bindings(agent, item or {})
            ]
            for agent, item in agents.items()
        }
        missing = {key for keys in wanted.values() for key in keys} - (read or {}).keys()
        found = {**(read or {}), **(self._table.get_many(missing) if missing else {})}
        if len(self._remembered) >= _MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered |= {(tenant, agent): keys for agent, keys in wanted.items() if keys}
        return {agent: Restrictions.of(map(found.get, keys)) for agent, keys in wanted.items()}


def list_bindings(agent: str, item: Item) -> list[Digest]:
    """List the coordinators whose guardrails bind an agent, including itself."""
    own = [hash_agent(agent)] if item.get("binds_itself") else []
    return own + [
        Digest(name.removeprefix(_PREFIX))
        for name, count in item.items()
        if name.startswith(_PREFIX) and count > 0
    ]


def bind_agent(tenant: str, agent: str, more: Mapping[str, int]) -> Write:
    """Change the counts of open tasks by which coordinators bind an agent.

    Example: `{"boss": 1}` when boss gives the agent a task, `{"boss": -1}` when it ends.
    """
    changes = {f"{_PREFIX}{hash_agent(each)}": count for each, count in more.items()}
    values: Item = {"total": sum(more.values())} | changes
    expression = "".join(f", {name} :{name}" for name in changes)
    key = item_types.AGENT.build_key(tenant, agent=agent)
    return update(key, f"ADD bindings :total{expression}", **values)


def bind_coordinator(tenant: str, coordinator: str) -> Write:
    """Record that a coordinator's guardrails bind itself: once, with its first guardrails."""
    key = item_types.AGENT.build_key(tenant, agent=coordinator)
    return update(key, "SET binds_itself = :true ADD bindings :one", true=True, one=1)


def correct_bindings(key: Key, item: Item, bound: Iterable[str]) -> Write | None:
    """Build the write that makes an agent's counts equal its open tasks; None if they do.

    Args:
        bound: the coordinators that bind the agent, one for each open task.
    """
    counts = Counter(f"{_PREFIX}{hash_agent(each)}" for each in bound)
    stored = {name: count for name, count in item.items() if name.startswith(_PREFIX)}
    total = sum(counts.values()) + bool(item.get("binds_itself"))
    if stored == counts and item.get("bindings", 0) == total:
        return None
    changes = dict.fromkeys(stored) | {"bindings": total, **counts}
    expression, values = build_set_expression(changes)
    return update_unchanged(key, item, expression, changes, values)
