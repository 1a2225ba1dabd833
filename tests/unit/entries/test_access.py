"""Test who reads and writes an entry, by its tier's policy (RFC-0015 §2, §9.1)."""

from collections.abc import Collection
from dataclasses import replace
from typing import cast, get_args

import pytest

from functions.authorization.rules import is_allowed
from functions.entries.authority import WRITE_ENTRY, EntryTarget, assert_can_read
from functions.entries.model import Entry
from functions.entries.tiers import (
    EPISODIC,
    POLICIES,
    POLICIES_BY_ID_LETTER,
    SEMANTIC,
    WORKING,
    Tier,
)
from functions.identity.model import Principal
from functions.namespaces.model import Access, Namespace, NamespaceTarget
from functions.platform.entry_keys import parse_entry_id
from functions.platform.errors import AccessDenied
from functions.tasks.access import TaskAccess
from functions.tasks.authority import TaskTarget
from functions.tasks.model import Grant, Membership
from tests.unit.entries.making import make_entry, make_principal
from tests.unit.tasks.making import TASK


class _Tasks:
    """Tasks of which the caller reads some, and agents that it oversees."""

    def __init__(self, read: Collection[str] = (), overseen: Collection[str] = ()) -> None:
        self._read = read
        self._overseen = overseen

    def find_memory_target(self, _caller: Principal, task_id: str) -> TaskTarget:
        holds = task_id in self._read
        grant = Grant("bob", "read", 1) if holds else None
        return TaskTarget(replace(TASK, id=task_id), 0, Membership(grant=grant))

    def coordinates_agent(self, _caller: Principal, agent: str) -> bool:
        return agent in self._overseen


def can_write(who: str, entry: Entry, namespace: NamespaceTarget | None = None) -> bool:
    return is_allowed(make_principal(who), WRITE_ENTRY, EntryTarget(entry, namespace))


def can_read(
    entry: Entry, who: str, tasks: _Tasks | None = None, namespace: NamespaceTarget | None = None
) -> bool:
    try:
        asked = cast("TaskAccess", tasks or _Tasks())
        assert_can_read(asked, make_principal(who), entry, namespace)
    except AccessDenied:
        return False
    return True


def namespace(default: Access, **allow: Access) -> NamespaceTarget:
    return NamespaceTarget("notes", Namespace("notes", default, allow, 1, 0, 0))


@pytest.mark.parametrize("tier", ["working", "episodic"])
def test_private_memory_is_read_and_written_by_its_owner(tier: Tier) -> None:
    entry = make_entry(tier, task_id="t")
    assert can_read(entry, "ada")
    assert can_write("ada", entry)
    assert not can_read(entry, "bob")
    assert not can_write("bob", entry, namespace("admin"))


def test_working_memory_is_read_by_whoever_reads_its_task() -> None:
    tasks = _Tasks(read="t", overseen=("ada",))
    assert can_read(make_entry("working", task_id="t"), "bob", tasks)
    for task in (None, "u"):
        assert not can_read(make_entry("working", task_id=task), "bob", tasks)


def test_episodic_memory_is_read_by_whoever_oversees_its_agent() -> None:
    tasks = _Tasks(read="t", overseen=("ada",))
    assert can_read(make_entry(task_id="t"), "bob", tasks)
    assert not can_read(make_entry(agent_id="eve", task_id="t"), "bob", tasks)


@pytest.mark.parametrize(
    ("allowed", "reads", "writes"),
    [
        ("none", False, False),
        ("read", True, False),
        ("write", True, True),
        ("admin", True, True),
    ],
)
def test_semantic_memory_is_read_and_written_as_its_namespace_allows(
    allowed: Access, reads: bool, writes: bool
) -> None:
    entry = make_entry("semantic")
    for permissions in (namespace(allowed), namespace("none", bob=allowed)):
        assert can_read(entry, "bob", namespace=permissions) is reads
        assert can_write("bob", entry, permissions) is writes


@pytest.mark.parametrize("tier", get_args(Tier))
def test_an_id_leads_back_to_its_tier_and_address(tier: Tier) -> None:
    entry = make_entry(tier)
    assert parse_entry_id("acme", entry.id) == (entry.address, entry.nonce)
    assert POLICIES_BY_ID_LETTER[entry.address.tier] is POLICIES[tier] is entry.policy


def test_private_tiers_share_their_slots_and_semantic_memory_has_its_own() -> None:
    working, episodic, semantic = (
        policy.build_address("acme", "ada", "notes", "k").item_key
        for policy in (WORKING, EPISODIC, SEMANTIC)
    )
    assert working == episodic != semantic
    assert SEMANTIC.build_address("acme", "bob", "notes", "k").item_key == semantic
    assert WORKING.build_address("acme", "bob", "notes", "k").item_key != working
