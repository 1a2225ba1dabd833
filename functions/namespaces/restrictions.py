"""What coordinators' guardrails take away from an agent (RFC-0015 §6.6); pure.

The guardrails of all coordinators of an agent's open tasks count together: what one of them denies
is denied, and where some of them name allowed namespaces, only those that all of these name are
allowed. A coordinator's own guardrails count for itself, too.
"""

from collections.abc import Iterable
from typing import NamedTuple

from functions.namespaces.model import PREFIX_MARK
from functions.platform.items import Item
from functions.platform.keys import hash_namespace


class Restrictions(NamedTuple):
    """What an agent may not do.

    A pattern is the digest of a namespace's name; or of a prefix, with a mark and the length of
    the prefix. So an item of hundreds of patterns stays small, and a read of it cheap.

    Attributes:
        allowed: patterns; the agent may use only what one of each set fits.
        denied: patterns of what it may not use.
        max_episodic: how many episodic entries it may hold; None where its own settings say it.
        version: counts changes; 0 where nothing was ever set.
    """

    allowed: frozenset[frozenset[str]] = frozenset()
    denied: frozenset[str] = frozenset()
    max_episodic: int | None = None
    version: int = 0

    def denies(self, namespace: str) -> bool:
        """Whether the agent may not use the namespace of this name."""
        if _fits(self.denied, namespace):
            return True
        return not all(_fits(patterns, namespace) for patterns in self.allowed)

    def equals(self, other: "Restrictions") -> bool:
        """Whether both restrict the same, whatever their versions."""
        return self._replace(version=0) == other._replace(version=0)


def build_pattern(name: str) -> str:
    """Build the pattern of a namespace's name; one that ends with `*` is of all with its prefix."""
    prefix = name.removesuffix(PREFIX_MARK)
    if prefix == name:
        return hash_namespace(name)
    return f"{hash_namespace(prefix)}{PREFIX_MARK}{len(prefix)}"


def _fits(patterns: frozenset[str], namespace: str) -> bool:
    if not patterns:
        return False
    lengths = {int(each.rpartition(PREFIX_MARK)[2]) for each in patterns if PREFIX_MARK in each}
    fitting = {build_pattern(namespace[:n] + PREFIX_MARK) for n in lengths if n <= len(namespace)}
    return hash_namespace(namespace) in patterns or not patterns.isdisjoint(fitting)


def merge_restrictions(every: Iterable[Restrictions]) -> Restrictions:
    """Combine several coordinators' restrictions: the strictest of each holds."""
    restrictions = list(every)
    limits = [each.max_episodic for each in restrictions if each.max_episodic is not None]
    return Restrictions(
        allowed=frozenset[frozenset[str]]().union(*(each.allowed for each in restrictions)),
        denied=frozenset[str]().union(*(each.denied for each in restrictions)),
        max_episodic=min(limits, default=None),
    )


def restrictions_from_item(item: Item | None) -> Restrictions:
    """Read restrictions from their item; no item restricts nothing."""
    if item is None:
        return Restrictions()
    return Restrictions(
        allowed=frozenset(map(frozenset, item["allowed"])),
        denied=frozenset(item["denied"]),
        max_episodic=item.get("episodic"),
        version=item["version"],
    )


def restrictions_to_item(restrictions: Restrictions) -> Item:
    """Return restrictions as attributes. They are lists, since DynamoDB has no empty sets."""
    return {
        "allowed": sorted(map(sorted, restrictions.allowed)),
        "denied": sorted(restrictions.denied),
        "episodic": restrictions.max_episodic,
        "version": restrictions.version,
    }
