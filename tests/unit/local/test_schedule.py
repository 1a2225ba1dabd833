"""The local schedule: the cloud's event, again and again, until it is told to stop."""

import json
import threading
from pathlib import Path
from typing import Any

from functions.local import schedule
from functions.local.regular import regularly

_PAYLOAD = Path(__file__).parents[3] / "events" / "schedule.json"
_PLACE = ("account", "region", "resources", "id")
PATIENCE = 10.0  # seconds


def test_a_laptop_makes_the_event_that_the_cloud_sends() -> None:
    real: dict[str, Any] = json.loads(_PAYLOAD.read_text(encoding="utf-8"))
    made = schedule.to_event(1_779_350_400_789)
    assert list(made) == list(real)
    assert made | {name: real[name] for name in _PLACE} == real


def test_it_calls_at_once_and_again_even_after_a_failure() -> None:
    called = threading.Semaphore(0)

    def fail(event: dict[str, Any], _context: object) -> dict[str, Any]:
        assert event["source"] == "aws.scheduler"
        called.release()
        raise RuntimeError("the store is away")

    with schedule.running(fail, 0.01):
        for _ in range(3):
            assert called.acquire(timeout=PATIENCE)


def test_its_end_waits_for_the_sweep_under_way_and_shortens_it() -> None:
    started, ended = threading.Event(), threading.Event()

    def sweep(_event: dict[str, Any], context: Any) -> dict[str, Any]:
        assert context.get_remaining_time_in_millis() > 0
        started.set()
        while context.get_remaining_time_in_millis() > 0:
            ended.wait(0.001)
        ended.set()
        return {}

    with schedule.running(sweep, 60):
        assert started.wait(PATIENCE)
    assert ended.is_set()


def test_nothing_runs_after_the_end() -> None:
    with regularly(60, lambda _ending: None, "idle"):
        pass
    assert "idle" not in {thread.name for thread in threading.enumerate()}
