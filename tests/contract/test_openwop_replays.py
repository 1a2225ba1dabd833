"""Replays of finished runs, and what a debugger is shown of them."""

from collections.abc import Iterator

import httpx
import pytest

from tests.contract.expect import ok
from tests.contract.faults import Killed, When, faulty
from tests.contract.openwop_calls import RUNS, Run, erring, path, start, start_on, started
from tests.contract.service import Service, Tenant
from tests.contract.service import start as start_service
from tests.contract.sweeping import sweep
from tests.contract.transport import MovableClock

DAY = 86_400


def reads(run: Run, ids: list[str]) -> Iterator[bytes]:
    """Yield what a run reads, to the byte: lists, by tag, in pages, and each entry."""
    for query in ({}, {"tag": "even"}, {"limit": "3"}, {"limit": "2", "before": ids[4]}):
        yield run.client.get(path(run.reference), params={"runId": run.id} | query).content
    for id in ids:
        yield run.client.get(path(run.reference, id), params={"runId": run.id}).content


@pytest.mark.in_process
def test_a_replay_reads_what_the_finished_run_read(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    maker = start(ada)
    ids = [
        maker.put(f"é {n} \U0001f9e0", tags=["even"] if n % 2 == 0 else [])["id"] for n in range(9)
    ]
    maker.delete(ids[3])
    run = start(ada)
    first = list(reads(run, ids))
    ids.append(run.put("by the run itself")["id"])
    first.append(list(reads(run, ids))[-1])
    run.delete(ids[0])
    run.end()
    for id in ids[1:7]:
        start(ada).delete(id)
    start(ada).put("later", tags=["even"])
    clock.advance(seconds=29 * DAY)
    sweep(service)
    again = start_service(service.engine, clock, service.key_file, 60)  # after a cold start
    replay = run.replay(again.client(ada.headers["X-API-Key"]))
    assert list(reads(replay, ids)) == first
    assert (replay.reference, replay.snapshot) == (run.reference, run.snapshot)
    second = replay.replay(ttl="P3D")
    replay.end()
    clock.advance(seconds=DAY + 1)
    sweep(service)
    assert list(reads(second, ids)) == first
    erring(ada.post(RUNS, json={"replayOf": run.id}), 409, "run_terminal")


def test_a_replay_is_a_run_of_its_own(ada: httpx.Client) -> None:
    run = start(ada)
    run.end()
    replay = run.replay(secrets=[{"label": "k", "value": "sk-12345678"}])
    assert replay.put("it is sk-12345678")["content"] == "it is <REDACTED:k>"
    assert replay.entries() == []
    assert replay.state()["replayOf"] == run.id
    for answer in (run.try_put("late"), ada.get(path(run.reference), params={"runId": run.id})):
        erring(answer, 409, "run_terminal")
    replay.end()
    assert run.replay().entries() == []


def test_nobody_replays_a_run_of_another_tenant(ada: httpx.Client, service: Service) -> None:
    run = start(ada)
    stranger = service.tenant().admin
    for wrong in (run.id, "run_" + "0" * 26, "run_x", "x"):
        erring(stranger.post(RUNS, json={"replayOf": wrong}), 404, "not_found")


@pytest.mark.in_process
def test_a_retried_replay_is_one_run(ada: httpx.Client) -> None:
    run = start(ada)
    body, headers = {"replayOf": run.id}, {"Idempotency-Key": "once"}
    first = started(ada, ada.post(RUNS, json=body, headers=headers))
    assert started(ada, ada.post(RUNS, json=body, headers=headers)) == first
    other = body | {"ttl": "PT1H"}
    erring(ada.post(RUNS, json=other, headers=headers), 409, "idempotency_key_mismatch")


@pytest.mark.in_process
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_end_that_is_killed_leaves_a_run_that_can_be_replayed(
    ada: httpx.Client, service: Service, when: When
) -> None:
    entry = start(ada).put("kept")
    run = start(ada, secrets=[{"label": "k", "value": "sk-12345678"}])
    with faulty(1, when):
        again = start_service(service.engine, service.clock, service.key_file, 60)
        client = again.client(ada.headers["X-API-Key"])
        with pytest.raises(Killed):
            client.post(f"{RUNS}/{run.id}/end")
    assert run.state()["state"] == ("open" if when == "before" else "ended")
    start(ada).delete(entry["id"])
    run.end()
    assert run.replay().entries() == [entry]


def test_another_principal_runs_on_a_reference_that_it_holds(
    ada: httpx.Client, tenant: Tenant
) -> None:
    bob, reader = tenant.agent("bob"), tenant.agent("reader", permissions=["memory.read"])
    entry = start(ada, scope="customer-7").put("of ada")
    reference = start(ada, scope="customer-7").reference
    assert start(bob, scope="customer-7").entries() == []
    run, read_only = start_on(bob, reference), start_on(reader, reference)
    later = run.put("of bob")
    assert run.entries() == read_only.entries() == [entry]
    assert start(ada, scope="customer-7").entries() == [later, entry]
    assert start_on(bob, reference, agent="planner").reference == reference
    erring(read_only.try_put("no"), 403, "forbidden")
    erring(reader.post(f"{RUNS}/{run.id}/end"), 403, "forbidden")
    erring(reader.delete(f"{RUNS}/{run.id}"), 403, "forbidden")
    read_only.end()
    assert read_only.replay().entries() == [entry]


def test_a_run_sees_several_memories_as_they_are_at_one_moment(ada: httpx.Client) -> None:
    makers = [start(ada, f"agent {number}") for number in range(3)]
    entries = [maker.put(f"of {number}") for number, maker in enumerate(makers)]
    references = [maker.reference for maker in makers]
    run = start_on(
        ada, *references, references[0], secrets=[{"label": "k", "value": "sk-12345678"}]
    )
    for maker in makers:
        assert maker.put("it is sk-12345678")["content"] == "it is <REDACTED:k>"
    state = run.state()
    assert (state["memoryRef"], state["memoryRefs"]) == (references[0], references)
    run.end()
    replay = run.replay()
    for reference, entry in zip(references, entries, strict=True):
        shown = ok(ada.get(path(reference), params={"runId": replay.id}))["entries"]
        assert shown == [entry]
        seen = ok(ada.get(f"{RUNS}/{run.id}/entries", params={"memoryRef": reference}))["entries"]
        assert [(each["id"], each["memoryRef"]) for each in seen] == [(entry["id"], reference)]
    other = start(ada, "another").reference
    for answer in (
        ada.get(path(other), params={"runId": replay.id}),
        ada.post(path(other), json={"content": "x", "runId": replay.id}),
        ada.get(f"{RUNS}/{run.id}/entries", params={"memoryRef": other}),
    ):
        erring(answer, 404, "not_found")


@pytest.mark.in_process
def test_the_snapshots_of_several_memories_are_one_cut(ada: httpx.Client, service: Service) -> None:
    """A put between the two steps of a start, in the memory that comes first, isn't left out while
    a later one in the second memory shows."""
    first, second = start(ada, "first"), start(ada, "second")

    def put_in_both() -> None:
        service.clock.advance(ms=-500)  # by a clock that runs behind
        first.put("earlier")
        second.put("later")

    service.clock.advance(ms=1_000)
    with faulty() as held:
        again = start_service(service.engine, service.clock, service.key_file, 60)
        client = again.client(ada.headers["X-API-Key"])
        client.get("/api/v1/me")
        heads = iter(range(9))
        held.interrupt("update_item", lambda _: next(heads) == 1, put_in_both)
        run = start_on(client, first.reference, second.reference)
    shown = [
        [entry["content"] for entry in ok(ada.get(path(ref), params={"runId": run.id}))["entries"]]
        for ref in (first.reference, second.reference)
    ]
    assert shown == [["earlier"], ["later"]]


def test_a_debugger_sees_what_a_run_saw(
    ada: httpx.Client, tenant: Tenant, clock: MovableClock
) -> None:
    maker = start(ada)
    kept, gone = maker.put("kept", tags=["t"]), maker.put("gone")
    outside = ok(ada.post(path(maker.reference), json={"content": "outside of runs"}), 201)
    run = start(ada, ttl="PT1H", onSecret="reject", secrets=[{"label": "k", "value": "12345678"}])
    clock.advance(seconds=60)
    run.delete(gone["id"])
    run.put("later")
    state = run.state()
    assert state["state"] == "open"
    assert (state["onSecret"], state["secrets"]) == ("reject", ["k"])
    assert state["startedBy"] == "ada"
    assert (state["agent"], "scope" in state) == ("planner", False)
    assert "agent" not in start_on(ada, run.reference).state()
    debugger = tenant.user("debugger", permissions=["memory.read"])
    shown = Run(debugger, run.id, run.reference, run.snapshot)
    for _ in range(2):
        assert [entry["id"] for entry in shown.seen()] == [
            outside["id"],
            gone["id"],
            kept["id"],
        ]
        run.end()
    assert shown.state()["state"] == "ended"
    first, second, third = shown.seen()
    assert "putIn" not in first
    assert second == gone | {
        "memoryRef": run.reference,
        "putBy": "ada",
        "putIn": maker.id,
        "deletedAt": clock.time(),
    }
    assert shown.seen(tag="t") == [third]
    assert shown.seen(limit=1, before=second["id"]) == [third]
    state = shown.state()
    assert (state["secrets"], state["isReplayable"]) == ([], True)
    assert state["endsAt"] == clock.time()
    assert state["snapshotKeptUntil"] == clock.time(seconds=30 * DAY)


def test_an_expired_entry_is_in_no_replay(ada: httpx.Client, clock: MovableClock) -> None:
    maker = start(ada)
    kept = maker.put("for good")
    maker.put("for ten seconds", expiresAt=clock.time(seconds=10))
    run = start(ada)
    run.end()
    assert len(run.replay().entries()) == 2
    clock.advance(seconds=10)
    assert run.replay().entries() == [kept]


def test_an_open_run_lasts_as_its_ttl_says(ada: httpx.Client, clock: MovableClock) -> None:
    run = start(ada, ttl="duration:P3D")
    short = start(ada, ttl=60)
    clock.advance(seconds=60)
    erring(short.try_put("late"), 409, "run_terminal")
    assert short.state()["state"] == "expired"
    clock.advance(seconds=3 * DAY - 61)
    run.put("in time")
    clock.advance(seconds=1)
    erring(run.try_put("late"), 409, "run_terminal")
    for wrong in ({"ttl": "P31D"}, {"ttl": 0}, {"retainSnapshot": "P366D"}, {"ttl": "soon"}):
        answer = ada.post(RUNS, json={"agent": "planner"} | wrong)
        refusal = erring(answer, 400, "validation_error")
        assert refusal["details"]["errors"][0]["field"] == next(iter(wrong))


def test_the_memory_of_an_agent_type_is_shared(tenant: Tenant) -> None:
    """A run that names a scope uses the memory of its agent's type, if the agent has a type."""
    one, two = (tenant.agent(name, agent_type="researcher") for name in ("one", "two"))
    entry = start(one, scope="s").put("shared")
    assert start(two, scope="s").entries() == [entry]
    for stranger in (tenant.agent("three"), tenant.agent("four", agent_type="writer")):
        assert start(stranger, scope="s").entries() == []
    assert start(tenant.agent("researcher"), scope="s").entries() == []
