"""Background tasks run again and again until they are stopped; the schedule with its event."""

import json
import threading
from pathlib import Path
from typing import Any

from functions.local.background_tasks import run_periodically, run_schedule, to_schedule_event

_PAYLOAD = Path(__file__).parents[3] / "events" / "schedule.json"
_SET_BY_AWS = ("account", "region", "resources", "id")
PATIENCE = 60.0  # seconds; far more than anything here takes


def test_the_event_is_the_one_that_aws_sends() -> None:
    real: dict[str, Any] = json.loads(_PAYLOAD.read_text(encoding="utf-8"))
    made = to_schedule_event(1_779_350_400_789)
    assert list(made) == list(real)
    assert made | {name: real[name] for name in _SET_BY_AWS} == real


def test_a_task_runs_at_once_and_again_even_after_a_failure() -> None:
    called = threading.Semaphore(0)

    def fail(_stopping: threading.Event) -> None:
        called.release()
        raise RuntimeError("no connection")

    with run_periodically(0.01, fail, "failing"):
        for _ in range(3):
            assert called.acquire(timeout=PATIENCE)


def test_a_stop_waits_for_the_sweep_under_way_and_ends_its_time() -> None:
    started, ended = threading.Event(), threading.Event()

    def sweep(event: dict[str, Any], context: Any) -> dict[str, Any]:
        assert event["source"] == "aws.scheduler"
        assert context.get_remaining_time_in_millis() > 0
        started.set()
        while context.get_remaining_time_in_millis() > 0:
            ended.wait(0.001)
        ended.set()
        return {}

    with run_periodically(60, lambda stopping: run_schedule(sweep, 0, stopping), "schedule"):
        assert started.wait(PATIENCE)
    assert ended.is_set()


def test_no_thread_is_left_after_a_stop() -> None:
    with run_periodically(60, lambda _stopping: None, "idle"):
        pass
    assert "idle" not in {thread.name for thread in threading.enumerate()}
