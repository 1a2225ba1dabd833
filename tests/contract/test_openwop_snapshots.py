"""OpenWOP RFC 0004 §A: a run sees what its memory held at its start, for its whole life."""

import httpx
import pytest

from tests.contract.openwop_calls import RUNS, erring, path, present, start
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock


@pytest.fixture
def bob(tenant: Tenant) -> httpx.Client:
    """Another principal of the tenant, who was given the reference."""
    return tenant.agent("bob")


def test_deletes_do_not_change_a_snapshot(ada: httpx.Client, bob: httpx.Client) -> None:
    maker = start(ada)
    entries = [maker.put(f"entry {number}") for number in range(4)]
    run, other = start(ada), start(ada)
    shown = run.entries()
    assert run.delete(entries[0]["id"])
    assert other.delete(entries[1]["id"])
    assert bob.delete(path(run.reference, entries[2]["id"])).json() == {"deleted": True}
    assert run.entries() == other.entries() == shown
    assert [run.get(entry["id"]) for entry in entries] == entries
    assert start(ada).contents() == present(bob, run.reference) == ["entry 3"]
    later = start(ada)
    assert [later.get(entry["id"]) for entry in entries] == [None, None, None, entries[3]]
    other.end()
    assert run.entries() == shown


def test_a_delete_says_whether_the_entry_existed(ada: httpx.Client) -> None:
    run = start(ada)
    entry = run.put("once")
    assert run.delete(entry["id"]) is True
    assert run.delete(entry["id"]) is False
    assert run.delete(entry["id"][:-1] + "0") is False
    assert run.delete("nonsense") is False
    assert start(ada).contents() == []


@pytest.mark.parametrize("ms", [0, 1, -5_000])
def test_the_order_is_that_of_the_writes_with_any_clock(
    ada: httpx.Client, clock: MovableClock, ms: int
) -> None:
    run = start(ada)
    snapshots = []
    for number in range(6):
        run.put(f"entry {number}")
        clock.advance(ms=ms)
        snapshots.append(start(ada))
        clock.advance(ms=ms)
    expected = [f"entry {number}" for number in range(6)]
    for number, snapshot in enumerate(snapshots, 1):
        assert snapshot.contents() == expected[:number][::-1]
    listed = snapshots[-1].entries()
    times = [entry["createdAt"] for entry in listed]
    assert times == sorted(times, reverse=True)
    assert times[0] <= snapshots[-1].snapshot
    clock.advance(seconds=30 if ms < 0 else 0)


def test_each_agent_and_scope_has_a_memory_of_its_own(ada: httpx.Client, bob: httpx.Client) -> None:
    runs = [
        start(ada, "planner"),
        start(ada, "planner", scope="a"),
        start(ada, "planner", scope="b"),
        start(ada, "plannera"),
        start(bob, "planner"),
    ]
    assert len({run.reference for run in runs}) == 5
    for number, run in enumerate(runs):
        run.put(f"of {number}")
    for number, run in enumerate(runs):
        assert present(run.client, run.reference) == [f"of {number}"]
    assert start(ada, "planner").reference == runs[0].reference
    assert start(ada, "planner", scope="a").contents() == ["of 1"]


def test_a_closed_run_reads_and_writes_nothing(ada: httpx.Client) -> None:
    run = start(ada)
    entry = run.put("kept")
    run.end()
    run.end()
    for answer in (
        ada.get(path(run.reference), params={"runId": run.id}),
        ada.get(path(run.reference, entry["id"]), params={"runId": run.id}),
        ada.delete(path(run.reference, entry["id"]), params={"runId": run.id}),
        run.try_put("late"),
    ):
        erring(answer, 409, "run_terminal")
    assert present(ada, run.reference) == ["kept"]


def test_a_run_ends_by_itself_after_a_day(ada: httpx.Client, clock: MovableClock) -> None:
    run = start(ada, secrets=[{"label": "k", "value": "sk-12345678"}])
    run.put("kept")
    clock.advance(seconds=86_400, ms=-1)
    assert run.contents() == []
    run.put("in time")
    clock.advance(ms=1)
    erring(run.try_put("late"), 409, "run_terminal")
    erring(ada.get(path(run.reference), params={"runId": run.id}), 409, "run_terminal")
    run.end()


def test_an_unknown_run_is_not_found(ada: httpx.Client) -> None:
    unknown = "run_" + "0" * 51
    run = start(ada)
    entry = run.put("kept")
    for answer in (
        ada.get(path(run.reference), params={"runId": unknown}),
        ada.get(path(run.reference, entry["id"]), params={"runId": unknown}),
        ada.delete(path(run.reference, entry["id"]), params={"runId": unknown}),
        ada.post(path(run.reference), json={"content": "x", "runId": unknown}),
        ada.post(f"{RUNS}/{unknown}/end"),
    ):
        erring(answer, 404, "not_found")
    assert present(ada, run.reference) == ["kept"]


def test_a_run_belongs_to_one_memory(ada: httpx.Client) -> None:
    run, other = start(ada), start(ada, scope="other")
    entry = other.put("elsewhere")
    target = path(other.reference)
    for answer in (
        ada.get(target, params={"runId": run.id}),
        ada.get(path(other.reference, entry["id"]), params={"runId": run.id}),
        ada.delete(path(other.reference, entry["id"]), params={"runId": run.id}),
        ada.post(target, json={"content": "x", "runId": run.id}),
    ):
        erring(answer, 404, "not_found")
    assert present(ada, other.reference) == ["elsewhere"]


@pytest.mark.in_process
def test_an_entry_id_belongs_to_one_memory(ada: httpx.Client, clock: MovableClock) -> None:
    """Even where two memories have an entry with the same sequence number."""
    run, other = start(ada), start(ada, scope="other")
    clock.advance(ms=1)
    here, there = run.put("here"), other.put("there")
    assert here["createdAt"] == there["createdAt"]
    assert here["id"] != there["id"]
    assert here["id"][:16] == there["id"][:16]
    assert ada.get(path(run.reference, there["id"])).status_code == 404
    assert start(ada).get(there["id"]) is None
    assert run.delete(there["id"]) is False
    assert present(ada, run.reference) == ["here"]
    assert present(ada, other.reference) == ["there"]
