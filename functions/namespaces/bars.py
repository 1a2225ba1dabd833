"""What coordinators' guardrails bar an agent from (RFC-0015 §6.6); pure.

The guardrails of all coordinators of the agent's open tasks, taken together: what any of them
denies is denied, and where any of them names what is allowed, only that is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from functions.identity.model import Principal
from functions.namespaces.model import Namespace
from functions.platform.guard_keys import barred_name
from functions.platform.items import Item


@dataclass(frozen=True, slots=True)
class Bars:
    """Namespaces stand here by their short names; `allowed` is None where all are.

    `episodic` is the most episodic entries that the agent may hold. `version` is 0 where nothing
    was ever set.
    """

    allowed: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()
    episodic: int | None = None
    version: int = 0

    def bar(self, namespace: str) -> bool:
        """Whether the namespace with this short name is out of bounds."""
        return namespace in self.denied or (
            self.allowed is not None and namespace not in self.allowed
        )

    def says_as(self, other: "Bars") -> bool:
        """Whether both bar the same, versions aside."""
        return replace(self, version=0) == replace(other, version=0)


def together(every: Iterable[Bars]) -> Bars:
    """What several bars bar together."""
    bars = list(every)
    lists = [each.allowed for each in bars if each.allowed is not None]
    limits = [each.episodic for each in bars if each.episodic is not None]
    return Bars(
        allowed=frozenset.intersection(*lists) if lists else None,
        denied=frozenset[str]().union(*(each.denied for each in bars)),
        episodic=min(limits, default=None),
    )


def bars_of(item: Item | None) -> Bars:
    """Bars from their item; none at all where there is none."""
    if item is None:
        return Bars()
    allowed = item.get("allowed")
    return Bars(
        allowed=None if allowed is None else frozenset(allowed),
        denied=frozenset(item["denied"]),
        episodic=item.get("episodic"),
        version=item["version"],
    )


def bars_attributes(bars: Bars) -> Item:
    """Bars as attributes. Lists, since an empty set can't be stored."""
    return {
        "allowed": None if bars.allowed is None else sorted(bars.allowed),
        "denied": sorted(bars.denied),
        "episodic": bars.episodic,
        "version": bars.version,
    }


def seen_by(
    caller: Principal, name: str, namespace: Namespace | None, bars: Bars
) -> Namespace | None:
    """A namespace with the access that its bars leave the caller; `None` is unconfigured."""
    if not bars.bar(barred_name(name)):
        return namespace
    shut = namespace or Namespace(name, "none", {}, 0, 0, 0)
    return replace(shut, allow=shut.allow | {caller.id: "none"})
