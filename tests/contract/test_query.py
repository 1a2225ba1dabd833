"""RFC-0015 §4.1: every filter, and their combinations."""

from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.bodies import (
    MEMORY,
    create,
    create_task,
    entry,
    query,
    semantic,
    update,
    working,
)
from tests.contract.expect import invalid, ok
from tests.contract.service import Tenant, names
from tests.contract.transport import MovableClock

Shelf = tuple[httpx.Client, list[dict[str, Any]], MovableClock]

TAGS = ["red", "green", "blue"]
SPACES = ["billing", "billing.in", "billing.out", "bill*ing", "other"]


@pytest.fixture(params=["episodic", "working", "semantic"])
def shelf(request: pytest.FixtureRequest, tenant: Tenant, clock: MovableClock) -> Shelf:
    """A user with entries of one tier, one a second; and they, newest first."""
    alice = tenant.user("alice")
    made = []
    for number in range(10):
        clock.advance(seconds=1)
        tags = [tag for bit, tag in enumerate(TAGS) if number >> bit & 1]
        body = entry(memory_type=request.param, key=f"k{number}", tags=tags)
        made.append(create(alice, body | {"namespace": SPACES[number % len(SPACES)]}))
    return alice, made[::-1], clock


FILTERS: list[dict[str, str]] = [
    {},
    {"tags": "red"},
    {"tags": "red,blue"},
    {"tags": "blue,green,red"},
    {"tags_any": "red,blue"},
    {"tags_any": "blue,none"},
    {"tags": "green", "tags_any": "red,blue"},
    {"tags": "none"},
    {"tags": "re"},
    {"tags": "red", "key": "k1"},
    {"key": "k*"},
    {"namespace": "billing"},
    {"namespace": "billing*"},
    {"namespace": "bill*ing"},
    {"namespace": "bill**"},
    {"namespace": "*"},
    {"namespace": "Billing"},
    {"namespace": "billing.*", "tags": "red"},
]


def test_filters(shelf: Shelf, subtests: pytest.Subtests) -> None:
    alice, entries, _ = shelf
    for filters in FILTERS:
        with subtests.test(str(filters)):
            page = ok(alice.get(MEMORY, params=filters))
            assert page["entries"] == [each for each in entries if matches(each, filters)]
            assert (page["total"], page["limit"], page["offset"]) == (len(page["entries"]), 100, 0)
            assert "next_offset" not in page


def test_the_tier_is_a_filter(shelf: Shelf) -> None:
    alice, entries, _ = shelf
    (tier,) = {each["memory_type"] for each in entries}
    for each in ("working", "episodic", "semantic"):
        owner = {} if each == "semantic" else {"agent_id": "alice"}
        found = query(alice, memory_type=each, **owner)
        assert found == (entries if each == tier else [])


@pytest.mark.in_process
def test_times_of_update_are_strict_bounds(shelf: Shelf) -> None:
    alice, entries, clock = shelf
    clock.advance(seconds=1)
    changed = ok(update(alice, entries[-1]["id"], 1, value={"n": 2}))
    at = entries[4]["updated_at"]
    assert query(alice, updated_after=at) == [*entries[:4], changed]
    assert query(alice, updated_before=at) == entries[5:-1]
    assert query(alice, updated_after=entries[6]["updated_at"], updated_before=at) == [entries[5]]
    assert query(alice, updated_after=clock.time()) == []
    assert query(alice, updated_after=clock.time(ms=-1)) == [changed]


def test_limits_are_1_to_1000(tenant: Tenant) -> None:
    made = create(tenant.admin, entry())
    for limit in (1, 1000):
        assert query(tenant.admin, limit=limit) == [made]
    far = ok(tenant.admin.get(MEMORY, params={"offset": 10**9}))
    assert (far["entries"], far["total"]) == ([], 1)


@pytest.mark.moto
def test_pinned_is_a_filter_of_episodic_entries(tenant: Tenant) -> None:
    pinned, loose = [create(tenant.admin, entry(key=str(p), pinned=p)) for p in (True, False)]
    create(tenant.admin, working(key="w"))
    create(tenant.admin, semantic(key="s"))
    assert query(tenant.admin, pinned="true") == [pinned]
    assert query(tenant.admin, pinned="false") == [loose]


@pytest.mark.parametrize("make", [working, entry, semantic])
def test_scope_is_a_filter(tenant: Tenant, make: Any) -> None:
    alice = tenant.user("alice")
    create_task(alice, id="task_1", intent_id="intent_1", assigned_agent="alice")
    create_task(alice, id="task_2", intent_id="intent_1", assigned_agent="alice")
    create(alice, make(key="none"))
    one = create(alice, make(key="one", scope={"task_id": "task_1"}))
    two = create(alice, make(key="two", scope={"task_id": "task_2", "intent_id": "intent_1"}))
    three = create(alice, make(key="three", scope={"intent_id": "intent_1"}))
    assert query(alice, task_id="task_1") == [one]
    assert query(alice, task_id="task_2", intent_id="intent_1") == [two]
    with_intent = {each["id"] for each in query(alice, intent_id="intent_1")}
    assert {two["id"], three["id"]} <= with_intent <= {one["id"], two["id"], three["id"]}
    assert query(alice, task_id="task_3") == query(alice, intent_id="intent_3") == []
    assert query(alice, task_id="task_1", key="two") == []


words = st.sampled_from([*TAGS, "none"])
random_filters = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(words, min_size=1, max_size=3).map(",".join),
        "tags_any": st.lists(words, min_size=1, max_size=3).map(",".join),
        "namespace": st.sampled_from([*SPACES, "bill*", "billing.*", "o*"]),
        "key": st.sampled_from(["k1", "k7"]),
        "limit": st.sampled_from(["1", "2", "5"]),
        "offset": st.sampled_from(["1", "3"]),
    },
)


def matches(each: dict[str, Any], filters: dict[str, str]) -> bool:
    """Return whether an entry, as the seed describes it, passes all filters."""
    space = filters.get("namespace", "*")
    prefix = space.endswith("*") and each["namespace"].startswith(space[:-1])
    return (
        (prefix or each["namespace"] == space)
        and filters.get("key", each["key"]) == each["key"]
        and ("tags" not in filters or {*filters["tags"].split(",")} <= {*each["tags"]})
        and (
            "tags_any" not in filters
            or {*filters["tags_any"].split(",")} & {*each["tags"]} != set()
        )
    )


@pytest.mark.usefixtures("volume")
@settings(max_examples=25)
@given(filters=random_filters)
def test_any_combination_is_the_conjunction(shelf: Shelf, filters: dict[str, str]) -> None:
    alice, entries, _ = shelf
    wanted = [each for each in entries if matches(each, filters)]
    start, size = int(filters.get("offset", 0)), int(filters.get("limit", 100))
    page = ok(alice.get(MEMORY, params=filters))
    assert (page["entries"], page["total"]) == (wanted[start : start + size], len(wanted))


def test_an_agents_query_defaults_to_itself_and_the_shared(tenant: Tenant) -> None:
    alice, bob = tenant.agents("alice", "bob")
    own = {create(alice, entry(key="e"))["id"], create(alice, working(key="w"))["id"]}
    create(bob, entry(key="bobs"))
    shared = create(tenant.admin, semantic(key="s"))
    assert {each["id"] for each in query(alice)} == own | {shared["id"]}
    assert {each["id"] for each in query(alice, agent_id="alice")} == own
    assert names(query(alice, memory_type="episodic")) == ["e"]
    assert names(query(alice, memory_type="working")) == ["w"]
    assert query(alice, agent_id="bob") == query(alice, agent_id="nobody") == []


def test_a_page_of_a_task_without_total_has_its_working_memory(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = create(ada, working("task_early", key="k"))
    page = ok(ada.get(MEMORY, params={"scope.task_id": "task_early", "total": "none"}))
    assert [each["id"] for each in page["entries"]] == [made["id"]]


@pytest.mark.parametrize("kind", ["coordinator", "user"])
def test_others_name_the_agent_or_the_task_for_private_tiers(tenant: Tenant, kind: str) -> None:
    client = tenant.service.client(tenant.principal(kind, "pat")["api_key"])
    own, shared = create(client, entry(key="own")), create(client, semantic(key="shared"))
    assert {each["id"] for each in query(client)} == {own["id"], shared["id"]}
    for tier in ("working", "episodic"):
        invalid(client.get(MEMORY, params={"memory_type": tier}), "agent_id")
        ok(client.get(MEMORY, params={"memory_type": tier, "agent_id": "nobody"}))
        ok(client.get(MEMORY, params={"memory_type": tier, "scope.task_id": "task_1"}))
    assert query(client, memory_type="semantic") == [shared]
