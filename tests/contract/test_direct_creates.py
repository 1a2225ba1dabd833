"""Creates without a transaction: exact and whole, whatever is interrupted or comes between."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import pytest

from functions.entries.counter_store import RECONCILE_EVERY
from tests.contract.bodies import MEMORY, create, entry, query, semantic, working
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.faults import Killed, When, faulty
from tests.contract.service import Service, Tenant, start
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import sweep

LIMIT = 3
SUMMARY = "/api/v1/agents/alice/memory/summary"
TAGGED = semantic(key="new", tags=["urgent", "billing"])


@pytest.fixture
def alice(tenant: Tenant) -> httpx.Client:
    """An agent that may hold three entries of working memory."""
    config = {"working": {"max_entries": LIMIT}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    return tenant.agent("alice")


def count_working(alice: httpx.Client) -> int:
    count: int = ok(alice.get(SUMMARY))["working"]["entry_count"]
    return count


def fill(alice: httpx.Client) -> int:
    """Creates entries until no more are taken; gives how many there are."""
    answers = [alice.post(MEMORY, json=working(key=f"k{n}")) for n in range(LIMIT + 1)]
    refused(answers[-1], 429, "CAPACITY_EXCEEDED")
    found = query(alice, memory_type="working")
    assert count_working(alice) == len(found)
    return len(found)


def mortal(service: Service, client: httpx.Client) -> httpx.Client:
    """The same caller of another instance of the function."""
    another = start(service.engine, service.clock, service.key_file, 0)
    return another.client(client.headers["X-API-Key"])


def between(
    service: Service, client: httpx.Client, body: dict[str, Any], meanwhile: Callable[[], object]
) -> httpx.Response:
    """Creates an entry by an instance in which something happens right before the entry's put."""

    def is_entry(request: dict[str, Any]) -> bool:
        return "version" in request.get("Item", {})

    with faulty() as dynamodb:
        caller = mortal(service, client)
        dynamodb.interrupt("put_item", is_entry, meanwhile)
        return caller.post(MEMORY, json=body)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_killed_create_takes_no_place_unless_it_came(
    service: Service, alice: httpx.Client, nth: int, when: When
) -> None:
    create(alice, working(key="first"))
    with faulty(nth, when), pytest.raises(Killed):
        mortal(service, alice).post(MEMORY, json=working(key="k0"))
    count = count_working(alice)
    assert count == 1 + ((nth, when) == (2, "after"))
    assert fill(alice) == LIMIT


def test_a_place_of_a_create_that_pauses_is_given_back_and_it_never_comes_uncounted(
    service: Service, alice: httpx.Client
) -> None:
    late = between(service, alice, working(key="late"), lambda: fill(alice))
    assert (refused(late, 429, "CAPACITY_EXCEEDED")["limit"], fill(alice)) == ("max_entries", LIMIT)


def test_a_paused_create_never_comes_into_a_slot_that_was_used_and_freed(
    service: Service, alice: httpx.Client
) -> None:
    def use_and_free() -> None:
        fill(alice)
        assert_no_content(
            alice.delete(f"{MEMORY}/{query(alice, key='k0', namespace='notes')[0]['id']}")
        )
        made = create(alice, working(key="late", value={"by": "another"}))
        assert_no_content(alice.delete(f"{MEMORY}/{made['id']}"))
        create(alice, working(key="k0"))

    late = between(service, alice, working(key="late"), use_and_free)
    refused(late, 429, "CAPACITY_EXCEEDED")
    assert fill(alice) == LIMIT


def test_a_create_that_loses_its_slot_takes_no_place(service: Service, alice: httpx.Client) -> None:
    late = between(service, alice, working(key="k"), lambda: create(alice, working(key="k")))
    refused(late, 409, "ENTRY_EXISTS")
    assert count_working(alice) == 1
    assert fill(alice) == LIMIT


def test_a_create_whose_answer_got_lost_is_carried_out_once(
    service: Service, alice: httpx.Client
) -> None:
    retry = {"Idempotency-Key": "once"}
    for nth in (1, 2):
        with faulty(nth, "after"), pytest.raises(Killed):
            mortal(service, alice).post(MEMORY, json=working(), headers=retry)
        create(alice, working(), **retry)
    assert fill(alice) == LIMIT


def test_an_entry_that_came_and_went_gives_its_place_back_once(
    service: Service, alice: httpx.Client
) -> None:
    for _ in range(LIMIT + 1):
        made = create(alice, working(ttl="duration:PT1S"))
        service.clock.advance(seconds=2)  # the next create takes the slot of an expired entry
    refused(alice.get(f"{MEMORY}/{made['id']}"), 404, "ENTRY_NOT_FOUND")
    assert fill(alice) == LIMIT


def list_rows(service: Service) -> list[str]:
    return [each["sk"]["S"] for each in service.stored() if each["sk"]["S"].startswith("x#")]


@pytest.fixture
def curator(tenant: Tenant) -> httpx.Client:
    """A user whose namespace has one entry."""
    user = tenant.user("curator")
    create(user, semantic(key="first", tags=["urgent"]))
    return user


def count(client: httpx.Client, **filters: Any) -> tuple[int, int]:
    """The exact total of shared entries that match, and how many are listed."""
    filters |= {"memory_type": "semantic", "namespace": "facts"}
    page = ok(client.get(MEMORY, params=filters))
    return page["total"], len(page["entries"])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_killed_create_of_shared_memory_is_whole_or_leaves_nothing(
    service: Service, curator: httpx.Client, nth: int, when: When
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    with faulty(nth, when), pytest.raises(Killed):
        mortal(service, curator).post(MEMORY, json=TAGGED)
    came = (nth, when) == (2, "after")
    for _ in range(2):  # before the change stream brings what is left over, and after
        assert count(curator) == (1 + came,) * 2
        assert count(curator, tags="billing") == (came,) * 2
        assert deliver(stream.read()) == []
    assert len(list_rows(service)) == 2 + 3 * came
    create(curator, TAGGED | {"key": "next"})
    assert count(curator, tags="urgent,billing") == (1 + came,) * 2


def test_rows_that_are_taken_from_a_paused_create_are_there_with_its_entry(
    service: Service, curator: httpx.Client
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    made = between(service, curator, TAGGED, lambda: deliver(stream.read()))
    assert ok(made, 201)["key"] == "new"
    assert count(curator, tags="urgent,billing") == (1, 1)
    assert len(list_rows(service)) == 5


def test_rows_of_a_create_that_goes_on_are_not_removed_behind_it(
    service: Service, curator: httpx.Client
) -> None:
    stream, has_barred, has_answered = Stream(service), Event(), Event()

    def pause() -> None:
        has_barred.set()
        has_answered.wait(30)

    with faulty() as dynamodb, ThreadPoolExecutor(1) as pool:
        deliver = stream_function(service)
        dynamodb.interrupt("batch_write_item", lambda _: True, pause)

        def bar() -> None:
            pool.submit(deliver, stream.read()).add_done_callback(lambda _: has_barred.set())
            assert has_barred.wait(30)

        ok(between(service, curator, TAGGED, bar), 201)
        has_answered.set()
    assert count(curator, tags="urgent,billing") == (1, 1)
    assert len(list_rows(service)) == 5


@pytest.mark.parametrize("is_brought", [False, True])
def test_a_create_of_shared_memory_that_loses_its_slot_leaves_no_rows(
    service: Service, curator: httpx.Client, is_brought: bool
) -> None:
    stream, deliver = Stream(service), stream_function(service)

    def take_slot() -> None:
        made = create(curator, TAGGED | {"tags": ["other"]})
        if is_brought:  # the rows of the paused create go, and it never comes once the slot is free
            assert deliver(stream.read()) == []
            changed = {"value": {"n": 2}}
            headers = {"If-Match": "1"}
            ok(curator.patch(f"{MEMORY}/{made['id']}", json=changed, headers=headers))

    refused(between(service, curator, TAGGED, take_slot), 409, "ENTRY_EXISTS")
    assert count(curator, tags="billing") == (0, 0)
    assert len(list_rows(service)) == 4


def test_counters_are_not_corrected_while_a_place_is_held(
    service: Service, alice: httpx.Client
) -> None:
    create(alice, working(key="first"))
    service.clock.advance(ms=RECONCILE_EVERY)

    def die_after_reserving() -> None:
        with faulty(1, "after"), pytest.raises(Killed):
            mortal(service, alice).post(MEMORY, json=working(key="k0"))

    reads = iter([False, True])  # that the agent is due, and its counters

    def reads_counters(request: dict[str, Any]) -> bool:
        (wanted,) = request["RequestItems"].values()
        return any(key["sk"]["S"] == "a" for key in wanted["Keys"]) and next(reads)

    with faulty() as dynamodb:
        dynamodb.interrupt("batch_get_item", reads_counters, die_after_reserving)
        assert "reconciled" not in sweep(service)
    service.clock.advance(ms=RECONCILE_EVERY)
    assert sweep(service)["reconciled"] == 1
    assert fill(alice) == LIMIT


def test_an_eviction_waits_for_no_entry_of_working_memory(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    config = {"episodic": {"capacity": 1}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    create(alice, entry(key="old"))
    create(alice, entry(key="newer"))  # the instance knows by now that the agent is full
    late = between(service, alice, working(key="late"), lambda: create(alice, entry(key="newest")))
    assert ok(late, 201)["key"] == "late"
    assert [each["key"] for each in query(alice, memory_type="episodic")] == ["newest"]


def test_an_eviction_is_not_for_the_sake_of_an_entry_that_never_came(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    config = {"episodic": {"capacity": 2}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    create(alice, entry(key="one"))
    with faulty(1, "after"), pytest.raises(Killed):
        mortal(service, alice).post(MEMORY, json=entry(key="never"))
    create(alice, entry(key="two"))
    assert {each["key"] for each in query(alice, memory_type="episodic")} == {"one", "two"}


@pytest.mark.parametrize("evict", ["a create", "the schedule"])
def test_a_paused_create_never_comes_into_a_slot_whose_entry_was_evicted(
    service: Service, tenant: Tenant, alice: httpx.Client, evict: str
) -> None:
    def limit_to(capacity: int) -> None:
        config = {"episodic": {"capacity": capacity}}
        ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))

    def use_and_evict() -> None:
        create(alice, entry(key="second"))  # in the place of the paused one, which has none left
        create(alice, entry(key="late", priority="low"))
        if evict == "a create":
            create(alice, entry(key="third"))
        else:
            limit_to(1)
            assert sweep(service)["evicted"] == 1

    limit_to(2)
    create(alice, entry(key="first"))
    ok(between(service, alice, entry(key="late"), use_and_evict), 201)
    found = query(alice, memory_type="episodic")
    assert len(found) == (2 if evict == "a create" else 1)
    assert "late" in {each["key"] for each in found}
    assert ok(alice.get(SUMMARY))["episodic"]["entry_count"] == len(found)
