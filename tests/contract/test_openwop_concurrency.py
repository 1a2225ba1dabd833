"""OpenWOP RFC 0004 §A: snapshots are exact during concurrent writes. dynoxide only."""

import itertools
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from tests.contract.expect import ok
from tests.contract.openwop_calls import RUNS, Run, memory_items, path, start, started
from tests.contract.service import Service
from tests.contract.sweeping import sweeper
from tests.contract.test_concurrency import at_once
from tests.e2e.waiting import awaited

pytestmark = [pytest.mark.in_process, pytest.mark.usefixtures("parallel")]

ENOUGH = 20  # of each kind of call, for their times to overlap in every way


@dataclass(frozen=True)
class Done:
    """A call and the two times between which it took effect."""

    what: Any
    began: float
    ended: float


@dataclass
class History:
    """All that happened to a memory."""

    puts: list[Done] = field(default_factory=list)
    deletes: dict[str, Done] = field(default_factory=dict)
    starts: list[tuple[Done, list[str]]] = field(default_factory=list)

    def is_long(self) -> bool:
        return min(len(self.puts), len(self.starts), len(self.deletes)) > ENOUGH


def timed(call: Callable[[], Any]) -> Done:
    """A call, and when it was made."""
    began = time.monotonic()
    return Done(call(), began, time.monotonic())


@contextmanager
def background(*jobs: Callable[[], object]) -> Iterator[None]:
    """Repeat the jobs in the context, each in its own thread."""
    over = Event()
    failures: list[BaseException] = []

    def repeat(job: Callable[[], object]) -> None:
        while not over.is_set():
            try:
                job()
            except BaseException as failure:  # noqa: BLE001 - whatever it is, the test fails
                failures.append(failure)
                return

    threads = [Thread(target=repeat, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert failures == [], [getattr(f, "args", f) for f in failures]


def ids(run: Run, **query: Any) -> list[str]:
    return [entry["id"] for entry in run.entries(**query)]


def test_every_snapshot_is_exact_under_puts_and_deletes(
    ada: httpx.Client, service: Service
) -> None:
    """Each run shows all that was there at its start, nothing that came after it, and the same
    whenever it is asked, while entries come, go, and are swept out of storage."""
    history, numbers, luck = History(), itertools.count(), random.Random(7)  # noqa: S311
    reference = start(ada).reference

    def put() -> None:
        body = {"content": str(next(numbers)), "tags": ["t"]}
        history.puts.append(timed(lambda: ok(ada.post(path(reference), json=body), 201)["id"]))

    def delete() -> None:
        if history.puts:
            entry = luck.choice(history.puts).what
            done = timed(lambda: ok(ada.delete(path(reference, entry)))["deleted"])
            if done.what:
                history.deletes[entry] = done

    def begin() -> None:
        done = timed(lambda: start(ada))
        shown = ids(done.what)
        history.starts.append((done, shown))
        if len(history.starts) % 3 == 0:
            earlier, seen = luck.choice(history.starts)
            assert ids(earlier.what, tag="t") == seen

    sweep = sweeper(service)
    with background(put, put, delete, begin, begin, sweep, lambda: tick(service)):
        awaited(history.is_long, "a long history")
    for done, shown in history.starts:
        assert ids(done.what) == ids(done.what, tag="t") == shown
        assert_exact(history, done, shown)
    assert_in_one_order(history)


def tick(service: Service) -> None:
    """Time passes quickly, so that the sweep has something to do."""
    service.clock.advance(ms=20)
    time.sleep(0.001)


def assert_exact(history: History, done: Done, shown: list[str]) -> None:
    """Assert what the times of the calls make certain."""
    for put in history.puts:
        removal = history.deletes.get(put.what)
        if put.began > done.ended or (removal and removal.ended < done.began):
            assert put.what not in shown
        elif put.ended < done.began and (removal is None or removal.began > done.ended):
            assert put.what in shown


def assert_in_one_order(history: History) -> None:
    """All snapshots are cuts of one order: of two that both hold an entry, and neither a delete,
    the later one lacks nothing that the earlier one shows."""
    kept = {put.what for put in history.puts} - history.deletes.keys()
    cuts = sorted((set(shown) & kept for _, shown in history.starts), key=len)
    for earlier, later in itertools.pairwise(cuts):
        assert earlier <= later
    assert len({put.what for put in history.puts}) == len(history.puts)


def test_concurrent_puts_each_get_a_sequence_number(ada: httpx.Client) -> None:
    run = start(ada)
    answers = at_once(24, lambda n: run.try_put(str(n)))
    assert {answer.status_code for answer in answers} == {201}
    shown = start(ada).entries()
    assert sorted(int(entry["content"]) for entry in shown) == list(range(24))
    assert len({entry["id"] for entry in shown}) == 24
    assert [entry["id"] for entry in shown] == sorted((e["id"] for e in shown), reverse=True)
    times = [entry["createdAt"] for entry in shown]
    assert times == sorted(times, reverse=True)


def test_one_of_many_concurrent_deletes_deletes(ada: httpx.Client) -> None:
    run = start(ada)
    for _ in range(5):
        entry = run.put("x")
        answers = at_once(
            8,
            lambda _, id=entry["id"]: ada.delete(path(run.reference, id)),  # type: ignore[misc]
        )
        assert sorted(answer.json()["deleted"] for answer in answers) == [False] * 7 + [True]


def test_concurrent_retries_of_a_start_are_one_run(ada: httpx.Client, service: Service) -> None:
    for number in range(5):
        headers = {"Idempotency-Key": f"once {number}".replace(" ", "-")}
        answers = at_once(
            8,
            lambda _, sent=headers: ada.post(RUNS, json={"agent": "a"}, headers=sent),  # type: ignore[misc]
        )
        assert len({started(ada, answer) for answer in answers}) == 1
    assert len(memory_items(service, "r#")) == len(memory_items(service, "l")) == 5


def test_concurrent_retries_of_a_put_are_one_entry(ada: httpx.Client) -> None:
    run = start(ada)
    for number in range(5):
        headers = {"Idempotency-Key": f"once-{number}"}
        body = {"content": str(number), "runId": run.id}
        answers = at_once(
            8,
            lambda _, sent=headers, text=body: ada.post(
                path(run.reference), json=text, headers=sent
            ),  # type: ignore[misc]
        )
        assert len({answer.text for answer in answers}) == 1
    assert start(ada).contents() == list("43210")


def test_no_put_is_stored_after_the_end_of_its_run(ada: httpx.Client) -> None:
    secrets = [{"label": "k", "value": "sk-12345678"}]
    for _ in range(5):
        run = start(ada, secrets=secrets)

        def act(number: int, run: Run = run) -> httpx.Response:
            if number == 0:
                return ada.post(f"{RUNS}/{run.id}/end")
            return run.try_put("it is sk-12345678")

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(act, range(8)))
        assert {answer.status_code for answer in answers} <= {200, 201, 409}
        assert run.try_put("late").status_code == 409
    assert set(start(ada).contents()) <= {"it is <REDACTED:k>"}
