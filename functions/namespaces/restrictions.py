"""What coordinators' guardrails take away from an agent (RFC-0015 §6.6); pure.

The guardrails of all coordinators of an agent's open tasks count together: what one of them denies
is denied, and where some of them name allowed namespaces, only those that all of these name are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from functions.platform.items import Item
from functions.platform.keys import hash_namespace


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What an agent may not do.

    Attributes:
        allowed: digests of the only namespaces it may use; None where all are.
        denied: digests of namespaces that it may not use.
        max_episodic: how many episodic entries it may hold; None where its own settings say it.
        version: counts changes; 0 where nothing was ever set.
    """

    allowed: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()
    max_episodic: int | None = None
    version: int = 0

    def denies(self, namespace: str) -> bool:
        """Whether the agent may not use the namespace of this name."""
        digest = hash_namespace(namespace)
        return digest in self.denied or (self.allowed is not None and digest not in self.allowed)

    def equals(self, other: "Restrictions") -> bool:
        """Whether both restrict the same, whatever their versions."""
        return replace(self, version=0) == replace(other, version=0)


def merge_restrictions(every: Iterable[Restrictions]) -> Restrictions:
    """Combine several coordinators' restrictions: the strictest of each holds."""
    restrictions = list(every)
    allowed = [each.allowed for each in restrictions if each.allowed is not None]
    limits = [each.max_episodic for each in restrictions if each.max_episodic is not None]
    return Restrictions(
        allowed=frozenset.intersection(*allowed) if allowed else None,
        denied=frozenset[str]().union(*(each.denied for each in restrictions)),
        max_episodic=min(limits, default=None),
    )


def restrictions_from_item(item: Item | None) -> Restrictions:
    """Read restrictions from their item; no item restricts nothing."""
    if item is None:
        return Restrictions()
    allowed = item.get("allowed")
    return Restrictions(
        allowed=None if allowed is None else frozenset(allowed),
        denied=frozenset(item["denied"]),
        max_episodic=item.get("episodic"),
        version=item["version"],
    )


def restrictions_to_item(restrictions: Restrictions) -> Item:
    """Return restrictions as attributes. They are lists, since DynamoDB has no empty sets."""
    return {
        "allowed": None if restrictions.allowed is None else sorted(restrictions.allowed),
        "denied": sorted(restrictions.denied),
        "episodic": restrictions.max_episodic,
        "version": restrictions.version,
    }
