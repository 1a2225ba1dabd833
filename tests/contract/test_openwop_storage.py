"""Once no run can see a deleted entry any more, it is gone from storage."""

from typing import Any

import httpx
import pytest

from tests.contract.faults import When
from tests.contract.openwop_calls import RUNS, Run, erring, memory_items, path, present, start
from tests.contract.service import Service
from tests.contract.sweeping import ShortTime, after_each_kill, sweep, sweeper
from tests.contract.test_sensitive import is_stored
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.in_process

SECRETS = [{"label": "k", "value": "sk-12345678"}]
HOUR, DAY = 3_600, 86_400
UNKEPT: dict[str, Any] = {"retainSnapshot": 0}


def kept(service: Service) -> int:
    """Count the entries, rows and requests of memories in storage."""
    return len(memory_items(service, "o#", "x#", "q#"))


def settled(service: Service, seconds: int = 4) -> None:
    """A sweep once everything that was written has settled."""
    service.clock.advance(seconds=seconds)
    sweep(service)


def test_a_deleted_entry_is_purged_by_the_next_sweep(ada: httpx.Client, service: Service) -> None:
    run = start(ada)
    entry, control = run.put("xylophone", tags=["a", "b"]), run.put("stays", tags=["a"])
    run.end()
    ada.delete(path(run.reference, entry["id"]))
    assert is_stored(service, "xylophone")
    settled(service)
    assert not is_stored(service, "xylophone")
    assert kept(service) == 2
    assert present(ada, run.reference, tag="a") == [control["content"]]


def test_a_deleted_entry_is_kept_for_runs_that_see_it(ada: httpx.Client, service: Service) -> None:
    maker = start(ada)
    entry = maker.put("xylophone", tags=["t"])
    first, second = start(ada, **UNKEPT), start(ada, **UNKEPT)
    second.delete(entry["id"])
    start(ada)
    settled(service)
    for run in (first, second):
        assert run.entries() == run.entries(tag="t") == [entry]
        assert run.get(entry["id"]) == entry
        run.end()
        settled(service, HOUR)  # a deleted entry that an open run sees is looked at each hour
        assert is_stored(service, "xylophone") == (run is first)
    assert kept(service) == 0


def test_a_snapshot_is_kept_for_as_long_as_the_run_said(
    ada: httpx.Client, service: Service
) -> None:
    entry = start(ada).put("xylophone", tags=["t"])
    run = start(ada, retainSnapshot="P2D")
    run.delete(entry["id"])
    run.end()
    settled(service, 2 * DAY - 1)
    assert run.replay(**UNKEPT).entries() == [entry]
    settled(service, DAY + 61)  # the replay is over, too
    assert kept(service) == 0
    erring(ada.post(RUNS, json={"replayOf": run.id}), 409, "run_terminal")
    assert run.state()["isReplayable"] is False


def test_a_replay_keeps_the_snapshot_of_a_run_that_does_not(
    ada: httpx.Client, service: Service
) -> None:
    entry = start(ada).put("xylophone")
    run = start(ada, retainSnapshot="PT1H")
    run.delete(entry["id"])
    run.end()
    replay = run.replay(ttl="P3D")
    settled(service, 2 * DAY)
    assert replay.entries() == [entry]
    again = replay.replay()
    assert again.entries() == [entry]


def test_a_deleted_run_keeps_nothing(ada: httpx.Client, service: Service) -> None:
    entry = start(ada).put("xylophone")
    run = start(ada, secrets=SECRETS)
    run.delete(entry["id"])
    assert ada.delete(f"{RUNS}/{run.id}").status_code == 204
    assert memory_items(service, "k#") == []
    settled(service)
    assert kept(service) == 0
    for answer in (ada.get(f"{RUNS}/{run.id}"), ada.delete(f"{RUNS}/{run.id}")):
        erring(answer, 404, "not_found")


def test_a_run_that_does_not_see_an_entry_does_not_keep_it(
    ada: httpx.Client, service: Service
) -> None:
    before = start(ada)
    entry = before.put("xylophone")
    before.delete(entry["id"])
    after = start(ada)
    settled(service)
    assert not is_stored(service, "xylophone")
    assert before.entries() == after.entries() == []


def test_a_run_that_nobody_ends_keeps_its_snapshot_from_its_ttl_on(
    ada: httpx.Client, service: Service
) -> None:
    entry = start(ada, **UNKEPT).put("xylophone")
    run = start(ada, ttl="PT2H", retainSnapshot="P1D", secrets=SECRETS)
    run.delete(entry["id"])
    settled(service, 2 * HOUR - 1)
    assert run.entries() == [entry]
    settled(service, DAY - 2 * HOUR)
    assert run.state()["state"] == "expired"
    assert run.replay(**UNKEPT, ttl=1).entries() == [entry]
    settled(service, 3 * HOUR)
    assert kept(service) == 0
    assert memory_items(service, "k#") == []
    assert sweep(service) == {"lag_ms": 0}


def test_a_deletion_is_purged_once_it_has_settled(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    run = start(ada)
    run.delete(run.put("xylophone")["id"])
    run.end()
    clock.advance(seconds=3, ms=-1)
    assert "entries_purged" not in sweep(service)
    assert is_stored(service, "xylophone")
    clock.advance(seconds=3)
    assert sweep(service)["entries_purged"] == 1
    assert not is_stored(service, "xylophone")


def test_an_expired_entry_is_purged_with_its_rows(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    run = start(ada)
    headers = {"Idempotency-Key": "once"}
    body = {"content": "xylophone", "tags": ["a", "b"], "expiresAt": clock.time(seconds=10)}
    ada.post(path(run.reference), json=body, headers=headers)
    deleted = run.put("xylophone 2", tags=["a"], expiresAt=clock.time(seconds=10))
    run.delete(deleted["id"])
    control = run.put("stays", tags=["a"], expiresAt=clock.time(seconds=11))
    clock.advance(seconds=10)
    assert sweep(service)["expired"] == 2
    assert not is_stored(service, "xylophone")
    assert present(ada, run.reference, tag="a") == [control["content"]]
    settled(service)
    settled(service)
    assert kept(service) == 0


def test_other_memories_are_left_alone(ada: httpx.Client, service: Service) -> None:
    runs = [start(ada, scope=f"scope {number}") for number in range(4)]
    entries = [run.put(f"entry {number}") for number, run in enumerate(runs)]
    holder = start(ada, scope="scope 1")
    for run, entry in zip(runs[:2], entries, strict=False):
        run.delete(entry["id"])
        run.end()
    settled(service)
    assert holder.entries() == [entries[1]]
    assert [present(ada, run.reference) for run in runs] == [[], [], ["entry 2"], ["entry 3"]]
    assert len(memory_items(service, "o#")) == 3


def test_a_sweep_out_of_time_is_continued_by_the_next(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    run = start(ada)
    for number in range(30):
        run.delete(run.put(f"entry {number}")["id"])
    run.end()
    clock.advance(seconds=4)
    first = sweeper(service)(ShortTime(looks=9))
    assert 0 < first["entries_purged"] < 30
    assert first["entries_purged"] + sweep(service)["entries_purged"] == 30
    assert kept(service) == 0


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_sweep_killed_at_any_write_is_finished_by_the_next(
    ada: httpx.Client, service: Service, clock: MovableClock, when: When
) -> None:
    holder = furnish(ada, clock)
    clock.advance(seconds=DAY + 61)
    start(ada, **UNKEPT).put("of the present")
    snapshot = service.stored()
    settled(service)

    def kept_keys() -> list[str]:
        return [item["sk"] for item in memory_items(service)]

    undisturbed = kept_keys()
    seen = after_each_kill(service, snapshot, when, kept_keys)
    assert len(seen) >= 3  # an expired entry, secrets, deleted entries
    assert seen == [undisturbed] * len(seen)
    assert present(ada, holder.reference) == ["of the present"]


def furnish(client: httpx.Client, clock: MovableClock) -> Run:
    """A memory with an open run, deleted entries, one of them put once, and an expiring one."""
    maker = start(client)
    made = [maker.put(f"entry {number}", tags=["a", "b"]) for number in range(3)]
    body = {"content": "once"}
    headers = {"Idempotency-Key": "once"}
    made.append(client.post(path(maker.reference), json=body, headers=headers).json())
    maker.put("short-lived", tags=["a"], expiresAt=clock.time(seconds=10))
    maker.end()
    holder = start(client, secrets=SECRETS, **UNKEPT)
    for entry in made:
        holder.delete(entry["id"])
    return holder


def test_dynamodbs_ttl_is_set_in_case_the_schedule_fails(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    now = -(-clock.now // 1000)
    run = start(ada, secrets=SECRETS)
    run.put("expiring", expiresAt=clock.time(seconds=10))
    assert [item["ttl_at"] for item in memory_items(service, "o#")] == [now + 10]
    (secrets,) = memory_items(service, "k#")
    assert secrets["ttl_at"] == now + DAY + 60
    (pin,) = memory_items(service, "r#")
    assert pin["ttl_at"] == now + 31 * DAY + 60
    run.end()
    (pin,) = memory_items(service, "r#")
    assert pin["ttl_at"] == now + 30 * DAY + 60
    (item,) = memory_items(service, "l")
    assert item["ttl_at"] == now + 31 * DAY
