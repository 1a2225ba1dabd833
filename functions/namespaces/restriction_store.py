"""Read what coordinators' guardrails take away from an agent (RFC-0015 §6.6).

The item of an agent counts its open tasks by coordinator: `b_<digest of the coordinator>`, and
`bindings` in all. The counts change in the transactions that change the tasks. A request that
guardrails may restrict reads the agent's item, and the guardrails of the coordinators in it. Thus
guardrails bind from the answer on that set them, and end with the task.

What one coordinator denies is denied. Where some of them name allowed namespaces, only those that
all of these name are allowed. A coordinator's own guardrails restrict itself, too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from functions.namespaces.model import PREFIX_MARK
from functions.platform import item_types
from functions.platform.items import Item
from functions.platform.keys import Digest, Key, hash_agent
from functions.platform.table import Store, Table
from functions.platform.writes import Write, update

NOT_BOUND = "(attribute_not_exists(bindings) OR bindings <= :unbound)"
"""The condition on an agent's item that no guardrails restrict the agent; `unbound` is 0."""
_PREFIX = "b_"
_MAX_REMEMBERED = 10_000  # agents


class _Names(NamedTuple):
    """Names of namespaces, and prefixes of names."""

    names: frozenset[str]
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Self:
        prefixes = tuple(each[:-1] for each in patterns if each.endswith(PREFIX_MARK))
        return cls(frozenset(patterns), prefixes)

    def have(self, namespace: str) -> bool:
        return namespace in self.names or namespace.startswith(self.prefixes)


class Restrictions(NamedTuple):
    """Tells what an agent may not do.

    Attributes:
        allowed: the agent may use only namespaces that each of these has.
        denied: namespaces that it may not use.
        max_episodic: how many episodic entries it may hold; None: as its own settings say.
    """

    allowed: tuple[_Names, ...] = ()
    denied: _Names = _Names(frozenset(), ())
    max_episodic: int | None = None

    @classmethod
    def of(cls, guardrails: Iterable[Item | None]) -> Self:
        """Combine the items of guardrails: the strictest of each holds."""
        found = [each for each in guardrails if each is not None]
        allowed = (each.get("allowed_semantic_namespaces") for each in found)
        denied = (each.get("denied_semantic_namespaces", ()) for each in found)
        limits = (each.get("max_episodic_memory_per_agent") for each in found)
        return cls(
            tuple(_Names.of(each) for each in allowed if each is not None),
            _Names.of([name for each in denied for name in each]),
            min((each for each in limits if each is not None), default=None),
        )

    def denies(self, namespace: str) -> bool:
        """Tell whether the agent may not use the namespace of this name."""
        return self.denied.have(namespace) or not all(each.have(namespace) for each in self.allowed)


UNRESTRICTED = Restrictions()


class RestrictionStore(Store):
    """Reads what restricts agents: one call, beside others.

    It remembers by which coordinators an agent was bound, so that the next request reads their
    guardrails in the same call as the agent's item. That item says whether this still holds.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._remembered: dict[tuple[str, str], list[Key]] = {}

    def list_keys(self, tenant: str, agent: str) -> list[Key]:
        """List the keys of the items to read: the agent's, and those of remembered guardrails."""
        own = item_types.AGENT.build_key(tenant, agent=agent)
        return [own, *self._remembered.get((tenant, agent), ())]

    def is_remembered(self, tenant: str, agent: str) -> bool:
        """Tell whether guardrails restricted the agent at its last request."""
        return (tenant, agent) in self._remembered

    def read(self, tenant: str, agent: str) -> tuple[Item, Restrictions]:
        """Read an agent's item, and what restricts the agent: one call, or two."""
        keys = self.list_keys(tenant, agent)
        found = self._table.get_many(keys)
        return found.get(keys[0], {}), self.find(tenant, agent, {k: found.get(k) for k in keys})

    def find(self, tenant: str, agent: str, read: Mapping[Key, Item | None]) -> Restrictions:
        """Find what restricts an agent; reads the guardrails that were not read yet.

        Args:
            read: the items at the keys of `list_keys`; None where there is none.
        """
        item = read[item_types.AGENT.build_key(tenant, agent=agent)]
        if item is None or not item.get("bindings"):
            self._remembered.pop((tenant, agent), None)
            return UNRESTRICTED
        return self.find_each(tenant, {agent: item}, read)[agent]

    def find_each(
        self,
        tenant: str,
        agents: Mapping[str, Item | None],
        read: Mapping[Key, Item | None] | None = None,
    ) -> dict[str, Restrictions]:
        """Find what restricts each of some agents, given their items: a call, if any is bound."""
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
    """List the coordinators whose guardrails bind an agent, itself included."""
    own = [hash_agent(agent)] if item.get("binds_itself") else []
    return own + [
        Digest(name.removeprefix(_PREFIX))
        for name, count in item.items()
        if name.startswith(_PREFIX) and count > 0
    ]


def bind_agent(tenant: str, agent: str, more: Mapping[str, int]) -> Write:
    """Count by how many more open tasks each of some coordinators binds an agent.

    Example: `{"boss": 1}` when boss gives the agent a task, `{"boss": -1}` when it ends.
    """
    changes = {f"{_PREFIX}{hash_agent(each)}": count for each, count in more.items()}
    values: Item = {"total": sum(more.values())} | changes
    expression = "".join(f", {name} :{name}" for name in changes)
    key = item_types.AGENT.build_key(tenant, agent=agent)
    return update(key, f"ADD bindings :total{expression}", **values)


def bind_coordinator(tenant: str, coordinator: str) -> Write:
    """Note that a coordinator has guardrails, which bind itself: once, with its first ones."""
    key = item_types.AGENT.build_key(tenant, agent=coordinator)
    return update(key, "SET binds_itself = :true ADD bindings :one", true=True, one=1)


def correct_bindings(key: Key, item: Item, bound: Iterable[str]) -> Write | None:
    """Build the write that makes an agent's counts equal its open tasks; None if they do.

    Args:
        bound: the coordinators that bind the agent, each once for a task.
    """
    counts = Counter(f"{_PREFIX}{hash_agent(each)}" for each in bound)
    stored = {name: count for name, count in item.items() if name.startswith(_PREFIX)}
    total = sum(counts.values()) + bool(item.get("binds_itself"))
    if stored == counts and item.get("bindings", 0) == total:
        return None
    gone = stored.keys() - counts.keys()
    settings = ", ".join(f"{name} = :{name}" for name in ("bindings", *counts))
    expression = f"SET {settings}" + (f" REMOVE {', '.join(gone)}" if gone else "")
    seen = {name: item[name] for name in ("bindings", *stored) if name in item}
    conditions = [f"{name} = :seen_{name}" for name in seen]
    absent = [name for name in ("bindings", *counts) if name not in item]
    conditions += [f"attribute_not_exists({name})" for name in absent]
    values: Item = {"bindings": total, **counts} | {
        f"seen_{name}": each for name, each in seen.items()
    }
    return update(key, expression, " AND ".join(conditions), **values)
