"""Policies of the tiers: working, episodic and semantic memory (RFC-0015 §2)."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from functions.platform import entry_keys, limits
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import ValidationFailed

Tier = Literal["working", "episodic", "semantic"]
Priority = Literal["low", "normal", "high"]

_EVICTION_FIELDS = {"pinned": False, "priority": "normal"}
"""The fields for evictable tiers only, with their values in other tiers."""


class TierPolicy(NamedTuple):
    """The rules of one tier.

    Attributes:
        is_private: whether entries belong to an agent: only the agent writes them, and they share
            the slots of its private memory. Other entries belong to a namespace, whose permissions
            decide who reads and writes; they have a curator and index rows.
        is_evictable: whether entries count against their agent's capacity, have a priority and can
            be pinned. Principals that oversee the agent read them.
        is_task_bound: whether entries in a task's scope always end with the task, count against its
            limits, and are read by those who read the task's memory.
        has_vectors: whether vectors of entries are stored; else a search computes the vectors of
            all the agent's entries of the tier.
        max_entries: the default limit of an agent's entries outside tasks; 0 for no limit.
        max_bytes: the default limit of the bytes of their values; 0 for no limit.
    """

    name: Tier
    id_letter: str
    is_private: bool = True
    is_evictable: bool = False
    is_task_bound: bool = False
    has_vectors: bool = True
    max_entries: int = 0
    max_bytes: int = 0

    def build_address(self, tenant: str, agent: str, namespace: str, key: str) -> EntryAddress:
        """Return the address of a natural key (RFC-0015 §1.2)."""
        if self.is_private:
            return entry_keys.build_private_address(tenant, agent, namespace, key, self.id_letter)
        return entry_keys.build_semantic_address(tenant, namespace, key)

    def assert_allows_fields(self, given: Mapping[str, Any]) -> None:
        """Raise `ValidationFailed` when a field has a value for evictable tiers only."""
        for name, other in _EVICTION_FIELDS.items():
            if not self.is_evictable and given.get(name, other) != other:
                raise ValidationFailed(name, f"is only accepted for {EPISODIC.name} memory")


WORKING = TierPolicy(
    "working",
    "w",
    is_task_bound=True,
    has_vectors=False,
    max_entries=limits.DEFAULT_WORKING_ENTRIES,
    max_bytes=1024 * limits.DEFAULT_WORKING_KB,
)
EPISODIC = TierPolicy(
    "episodic", "e", is_evictable=True, max_entries=limits.DEFAULT_EPISODIC_ENTRIES
)
SEMANTIC = TierPolicy("semantic", "n", is_private=False)

POLICIES: dict[str, TierPolicy] = {each.name: each for each in (WORKING, EPISODIC, SEMANTIC)}
POLICIES_BY_ID_LETTER = {each.id_letter: each for each in POLICIES.values()}
