"""Events of the local server: soon, once, and without values, however it ends."""

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.local.engine import find_binary
from functions.local.stream_mapping import POSITION
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
HUSH = "hush-hush"
PATH = "agents/admin"


def await_events(client: httpx.Client, count: int, path: str = PATH) -> list[dict[str, Any]]:
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
    made = create(client, secret(key))
    ok(update(client, made["id"], 1, value={"secret": HUSH, "n": 2}))
    assert_no_content(client.delete(f"{MEMORY}/{made['id']}"))
    return [f"created {key} 1", f"updated {key} 2", f"deleted {key} 2"]


def test_events_appear_once_without_values_anywhere(tmp_path: Path) -> None:
    with (
        running(tmp_path, AGENT_MEMORY_SWEEP_SECONDS="0.2") as server,
        server.client() as client,
    ):
        for number in range(5):
            create(client, secret(f"k{number}"))
            await_events(client, number + 1)
        create(client, secret("k", ttl="duration:PT0.3S"))
        assert summarize(await_events(client, 7))[5:] == ["created k 1", "expired k 1"]
        assert_archival_comes_last(client)
        assert HUSH not in client.get(f"/api/v1/{PATH}/events").text
        server.end(signal.SIGTERM)
        assert server.process.stdout is not None
        assert HUSH not in server.process.stdout.read()
        assert HUSH not in (tmp_path / POSITION).read_text()


def assert_archival_comes_last(client: httpx.Client) -> None:
    """End tasks, and assert that no event of an entry comes after its archival."""
    for number in range(4):
        at = create_task(client, id=f"t{number}", intent_id="i", assigned_agent="admin")
        body = working(at["id"], key=f"w{number}", value={"secret": HUSH})
        made = create(client, body | {"sensitivity": "restricted"})
        for version in (1, 2):
            made = ok(update(client, made["id"], version, value={"n": "x" * version}))
        ok(change_task(client, at, status="completed"))
    events = await_events(client, 16, "intents/i")
    expected = ["created", "updated", "updated", "archived"] * 4
    assert [each["type"].removeprefix("memory.") for each in events] == expected


def test_each_event_is_logged_once_however_the_server_ends(tmp_path: Path) -> None:
    """In a copy of the folder, too, and after the loss of the position in the stream."""
    expected: list[str] = []

    def write(folder: str, by: signal.Signals, *, awaited: bool = False) -> Path:
        with running(tmp_path / folder) as server, server.client() as client:
            for number in range(5):
                expected.extend(create_update_delete(client, f"{len(expected)}-{number}"))
            if awaited:
                await_events(client, len(expected))
            server.end(by)
        return tmp_path / folder

    write("data", signal.SIGKILL)
    shutil.copytree(write("data", signal.SIGTERM), tmp_path / "copy")
    write("copy", signal.SIGKILL)
    stopped = write("copy", signal.SIGKILL, awaited=True)
    (stopped / POSITION).unlink(missing_ok=True)  # it may not have been written yet
    with running(tmp_path / "copy") as server, server.client() as client:
        assert summarize(await_events(client, len(expected))) == expected
        assert_log(server, client, expected)


def assert_log(server: LocalServer, client: httpx.Client, expected: list[str]) -> None:
    """Assert that the log is as expected once a further event has been processed."""
    assert server.process.poll() is None
    create(client, secret("last"))
    assert summarize(await_events(client, len(expected) + 1)) == [*expected, "created last 1"]
