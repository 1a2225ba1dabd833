"""Events of the local server: soon, once, and without values, however it ends (contract §1, §5)."""

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.local.engine import find_binary
from functions.local.stream_reader import POSITION
from tests.contract.bodies import (
    MEMORY,
    change_task,
    create,
    create_task,
    entry,
    update,
    working,
)
from tests.contract.expect import assert_no_content, ok
from tests.contract.local_server import PATIENCE, ROOT, LocalServer, running
from tests.contract.streaming import log, summarize

pytestmark = pytest.mark.skipif(
    find_binary(ROOT) is None, reason="no embedded database for this platform"
)
SOON = 2.0  # seconds
HUSH = "hush-hush"
PATH = "agents/admin"


def await_events(client: httpx.Client, count: int, path: str = PATH) -> list[dict[str, Any]]:
    """Return the log, once it has so many events."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        events = log(client, path, limit=1000)
        if len(events) >= count:
            return events
        time.sleep(0.01)
    raise AssertionError(f"only {len(events)} of {count} events: {summarize(events)}")


def secret(key: str, **changes: Any) -> dict[str, Any]:
    return entry(key=key, value={"secret": HUSH}, **changes)


def create_update_delete(client: httpx.Client, key: str) -> list[str]:
    """Create, update and delete an entry, and return its events."""
    made = create(client, secret(key))
    ok(update(client, made["id"], 1, value={"secret": HUSH, "n": 2}))
    assert_no_content(client.delete(f"{MEMORY}/{made['id']}"))
    return [f"created {key} 1", f"updated {key} 2", f"deleted {key} 2"]


def test_events_appear_soon_without_values_anywhere(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        for number in range(5):
            began = time.monotonic()
            create(client, secret(f"k{number}"))
            await_events(client, number + 1)
            assert time.monotonic() - began < SOON
        create_task(client, id="t", intent_id="i", assigned_agent="admin")
        create(client, working("t", key="w", value={"secret": HUSH}, sensitivity="restricted"))
        assert summarize(await_events(client, 1, "intents/i")) == ["created w 1"]
        assert HUSH not in client.get(f"/api/v1/{PATH}/events").text
        server.end(signal.SIGTERM)
        assert server.process.stdout is not None
        assert HUSH not in server.process.stdout.read()
        assert HUSH not in (tmp_path / "data" / POSITION).read_text()


def test_each_event_is_logged_once_however_the_server_ends(tmp_path: Path) -> None:
    expected: list[str] = []
    for round_, by in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)):
        with running(tmp_path / "data") as server, server.client() as client:
            for number in range(15):
                expected += create_update_delete(client, f"{round_}-{number}")
            server.end(by)
    with running(tmp_path / "data") as server, server.client() as client:
        assert summarize(await_events(client, len(expected))) == expected
        assert_log(server, client, expected)


def test_no_event_is_logged_twice_after_a_lost_position(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        expected = [
            each for number in range(10) for each in create_update_delete(client, str(number))
        ]
        await_events(client, len(expected))
        server.end(signal.SIGKILL)
    (tmp_path / "data" / POSITION).unlink(missing_ok=True)  # it may not have been written yet
    with running(tmp_path / "data") as server, server.client() as client:
        assert_log(server, client, expected)


def assert_log(server: LocalServer, client: httpx.Client, expected: list[str]) -> None:
    """Assert that the log is as expected once a further event has been processed."""
    assert server.process.poll() is None
    create(client, secret("last"))
    assert summarize(await_events(client, len(expected) + 1)) == [*expected, "created last 1"]


def test_the_data_folder_can_be_copied_while_stopped(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        expected = create_update_delete(client, "k")
        server.end(signal.SIGTERM)
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    with running(tmp_path / "copy") as server, server.client() as client:
        assert_log(server, client, expected)


def test_expiry_has_an_event_and_no_event_of_an_entry_comes_after_its_archival(
    tmp_path: Path,
) -> None:
    with (
        running(tmp_path / "data", AGENT_MEMORY_SWEEP_SECONDS="0.2") as server,
        server.client() as client,
    ):
        create(client, secret("k", ttl="duration:PT0.3S"))
        assert summarize(await_events(client, 2)) == ["created k 1", "expired k 1"]
        for number in range(4):
            at = create_task(client, id=f"t{number}", intent_id="i", assigned_agent="admin")
            made = create(client, working(at["id"], key=f"k{number}"))
            for version in (1, 2):
                made = ok(update(client, made["id"], version, value={"n": "x" * version}))
            ok(change_task(client, at, status="completed"))
        events = await_events(client, 16, "intents/i")
        assert [each["type"].removeprefix("memory.") for each in events] == [
            "created",
            "updated",
            "updated",
            "archived",
        ] * 4
