"""The local server, started as a user starts it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Any

import httpx
import pytest

from functions.local.engine import find_binary, start
from tests.contract import openwop_calls
from tests.contract.local_server import (
    HANG_UP,
    PATIENCE,
    ROOT,
    SERVE,
    LocalServer,
    await_end,
    await_refusal,
    running,
    start_error,
)

pytestmark = pytest.mark.skipif(
    find_binary(ROOT) is None, reason="no embedded database for this platform"
)
ELSEWHERE = "import platform; platform.machine = lambda: 'riscv64'; import runpy; "
ON_ANOTHER_PLATFORM = (
    sys.executable,
    "-c",
    f"{ELSEWHERE}runpy.run_module('functions.local', run_name='__main__')",
)


def shell(command: str) -> Any:
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    return json.loads(done.stdout)


def entry(key: str, value: Any) -> dict[str, Any]:
    return {"namespace": "test", "key": key, "value": {"is": value}, "memory_type": "episodic"}


def value_of(client: httpx.Client, key: str) -> Any:
    found = client.get(
        "/api/v1/memory", params={"agent_id": "admin", "namespace": "test", "key": key}
    )
    entries = found.raise_for_status().json()["entries"]
    return entries[0]["value"]["is"] if entries else None


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_printed_commands_remember_and_recall(server: LocalServer) -> None:
    remember, recall = server.commands
    stored, found = shell(remember), shell(recall)
    assert [each["id"] for each in found["items"]][:1] == [stored["id"]]
    assert "Ada pays by invoice" in found["text"]


def test_the_operator_chooses_the_address_the_root_key_and_the_limit_of_requests(
    tmp_path: Path,
) -> None:
    """An open address is warned of, and only the owner can read keys and data."""
    root_key = "an-operators-own-key"
    with running(
        tmp_path / "data",
        AGENT_MEMORY_HOST="0.0.0.0",  # noqa: S104 - warned of
        AGENT_MEMORY_ROOT_KEY=root_key,
        AGENT_MEMORY_PRINCIPAL_REQUESTS_PER_MINUTE="1",
    ) as server:
        assert "unencrypted" in server.greeting
        made = server.client(root_key).post("/api/v1/tenants", json={"id": "acme"})
        assert made.status_code == 201
        answers = [server.client().get("/api/v1/me").status_code for _ in range(2)]
        assert answers == [200, 429]
        assert server.data.stat().st_mode & 0o777 == 0o700
        assert not (server.data / "root-key").exists()
        assert (server.data / "address").read_text() == server.address
    # Only now: the server replaces a file by writing another one beside it. The database, which
    # ends after the server, may still remove its log.
    modes = set()
    for file in server.data.iterdir():
        with suppress(FileNotFoundError):
            modes.add(file.stat().st_mode & 0o777)
    assert modes == {0o600}


def test_it_says_when_the_printed_key_no_longer_works(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert "rotated" not in server.greeting
        rotated = server.client().post("/api/v1/principals/admin/rotate")
        new_key = rotated.raise_for_status().json()["api_key"]
        assert server.end(signal.SIGINT) == 0
    with running(tmp_path) as server:
        assert "rotated" in server.greeting
        assert server.end([signal.SIGTERM, *HANG_UP][-1]) == 0
    (tmp_path / "api-key").write_text(f"{new_key}\n")
    with running(tmp_path) as server:
        assert "rotated" not in server.greeting
        assert server.api_key == new_key


@pytest.mark.parametrize("command", [SERVE, ON_ANOTHER_PLATFORM], ids=["engine", "journal"])
def test_no_acknowledged_write_is_lost_however_it_ends(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """And it ends at once, between two sweeps, without a child that outlives it."""
    acknowledged: list[str] = []
    api_keys = set()
    start = partial(running, tmp_path, command=command)
    for by in (signal.SIGTERM, signal.SIGKILL):
        with start(AGENT_MEMORY_SWEEP_SECONDS="3600") as server:
            assert_stored(server, acknowledged)
            runs = Runs(server) if by is signal.SIGKILL else None
            code = end_under_writes(server, by, acknowledged)
            assert code == (-signal.SIGKILL if by is signal.SIGKILL else 0)
            api_keys.add(server.api_key)
    with start(AGENT_MEMORY_ROOT_KEY="another-root-key-of-mine") as server:
        assert_stored(server, acknowledged)
        await_events(server, acknowledged)
        assert api_keys == {server.api_key}
        assert runs
        runs.assert_replayed(server)


class Runs:
    """Two OpenWOP runs, of which one is ended, of a memory whose entries are deleted then."""

    def __init__(self, server: LocalServer) -> None:
        with server.client() as client:
            self.maker = openwop_calls.start(client)
            entries = [self.maker.put(f"entry {number}") for number in range(3)]
            self.runs = [openwop_calls.start_on(client, self.maker.reference) for _ in range(2)]
            self.seen = [self._read(client, self.maker.reference, run.id) for run in self.runs]
            self.runs[0].end()
            for entry in entries:
                self.maker.delete(entry["id"])

    def assert_replayed(self, server: LocalServer) -> None:
        """Assert that replays show to the byte what the runs saw."""
        with server.client() as client:
            replays = [run.replay(client) for run in self.runs]
            assert [self._read(client, each.reference, each.id) for each in replays] == self.seen
            assert openwop_calls.present(client, self.maker.reference) == []

    def _read(self, client: httpx.Client, reference: str, run_id: str) -> bytes:
        return client.get(openwop_calls.path(reference), params={"runId": run_id}).content


def end_under_writes(server: LocalServer, by: signal.Signals, acknowledged: list[str]) -> int:
    """End a server in the middle of writes, and wait for all of its processes; its exit code."""
    enough = Semaphore(0)
    with ThreadPoolExecutor(4) as writers:
        for number in range(4):
            name = f"{by.name}-{number}"
            writers.submit(write_until_it_ends, server, name, acknowledged, enough)
        try:
            for _ in range(25):
                assert enough.acquire(timeout=PATIENCE), "nothing is written"
            children = server.descendants()
            code = server.end(by)  # before a sweep, which would be in an hour
        finally:
            server.process.kill()  # whatever has failed: the writers end with it
    for child in children:
        await_end(child)
    return code


def assert_stored(server: LocalServer, acknowledged: list[str]) -> None:
    """Assert that each write is there, with its value."""
    with server.client() as client:
        page = client.get("/api/v1/memory", params={"agent_id": "admin", "limit": 1000}).json()
    stored = {each["key"] for each in page["entries"] if each["value"] == {"is": each["key"]}}
    assert set(acknowledged) <= stored


def await_events(server: LocalServer, acknowledged: list[str]) -> None:
    """Return once each write has its event, also those that the killed server hadn't logged."""
    deadline = time.monotonic() + PATIENCE
    missing = set(acknowledged)
    with server.client() as client:
        while missing and time.monotonic() < deadline:
            params: dict[str, Any] = {"limit": 1000}
            while page := client.get("/api/v1/agents/admin/events", params=params).json():
                missing -= {each["data"].get("key") for each in page["events"]}
                if not page["events"] or "next" not in page:
                    break
                params["after"] = page["next"]
    assert missing == set()


def write_until_it_ends(
    server: LocalServer, writer: str, acknowledged: list[str], enough: Semaphore
) -> None:
    with server.client() as client:
        for number in range(100_000):
            key = f"{writer}-{number}"
            try:
                answer = client.post("/api/v1/memory", json=entry(key, key))
            except httpx.TransportError:
                return
            if answer.status_code == 201:
                acknowledged.append(key)
                enough.release()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_it_says_so_when_the_database_dies(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        os.kill(server.engine(), signal.SIGKILL)
        _, errors = server.process.communicate(timeout=PATIENCE)
    assert server.process.returncode == 1
    assert "database has stopped" in errors
    assert errors.count("\n") == 1


def test_a_taken_port_is_one_line(server: LocalServer, tmp_path: Path) -> None:
    errors = start_error(tmp_path, AGENT_MEMORY_PORT=server.address.rpartition(":")[2])
    assert "AGENT_MEMORY_PORT" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--port=9000", 2)])
def test_an_argument_names_the_variables_and_starts_nothing(argument: str, code: int) -> None:
    done = subprocess.run(
        [*SERVE, argument], check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == code
    assert "environment variables" in done.stdout + done.stderr
    assert ("AGENT_MEMORY_PORT" in done.stdout) is (code == 0)


def test_another_dynamodb_can_serve(tmp_path: Path) -> None:
    binary = find_binary(ROOT)
    assert binary
    engine = start(binary, None, tmp_path / "engine.log")
    try:
        for data in ("one", "again"):
            with running(tmp_path / data, AWS_ENDPOINT_URL_DYNAMODB=engine.url) as server:
                assert server.client().get("/health").status_code == 200
                assert not (tmp_path / data / "memory.db").exists()
    finally:
        engine.stop()


def test_where_the_database_has_no_build_it_serves_and_warns(tmp_path: Path) -> None:
    with running(tmp_path, command=ON_ANOTHER_PLATFORM) as server, server.client() as client:
        assert "every acknowledged write is kept" in server.greeting
        with ThreadPoolExecutor(8) as callers:
            answers = callers.map(
                lambda n: client.post("/api/v1/memory", json=entry(f"key-{n}", n)), range(24)
            )
            assert {answer.status_code for answer in answers} == {201}
        assert [value_of(client, f"key-{n}") for n in range(24)] == list(range(24))
        assert server.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, *HANG_UP])
def test_a_request_that_has_begun_is_finished(tmp_path: Path, by: signal.Signals) -> None:
    """The server answers it after it was asked to end, and leaves no process."""
    body = b'{"namespace": "n", "key": "k", "value": {}, "memory_type": "working"}'
    with running(tmp_path) as server:
        url = httpx.URL(server.address)
        children = server.descendants()
        with socket.create_connection((url.host, url.port), timeout=PATIENCE) as connection:
            head = (
                f"POST /api/v1/memory HTTP/1.1\r\nhost: a\r\nx-api-key: {server.api_key}\r\n"
                f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n"
            )
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            server.process.send_signal(by)
            await_refusal(url)
            connection.sendall(body)
            assert connection.recv(1000).startswith(b"HTTP/1.1 201 ")
        assert server.process.wait(PATIENCE) == 0
        for child in children:
            await_end(child)


STOP_KEY: dict[str, Callable[[httpx.Client], httpx.Response]] = {
    "revoked": lambda admin: admin.delete("/api/v1/principals/revoked"),
    "rotated": lambda admin: admin.post("/api/v1/principals/rotated/rotate"),
    "deleted": lambda admin: admin.post(
        "/api/v1/deletions", json={"kind": "agent", "id": "deleted"}
    ),
}


@pytest.mark.parametrize("how", STOP_KEY)
def test_a_key_stops_at_once(server: LocalServer, how: str) -> None:
    with server.client() as admin:
        made = admin.post("/api/v1/principals", json={"id": how, "kind": "agent"})
        with server.client(made.raise_for_status().json()["api_key"]) as agent:
            assert agent.get("/api/v1/me").status_code == 200
            STOP_KEY[how](admin).raise_for_status()
            assert agent.get("/api/v1/me").status_code == 401


def test_requests_in_parallel_never_get_each_others_answers(server: LocalServer) -> None:
    def write_and_read(number: int) -> Any:
        key = f"parallel-{number}"
        client.post("/api/v1/memory", json=entry(key, number)).raise_for_status()
        return value_of(client, key)

    with server.client() as client, ThreadPoolExecutor(32) as callers:
        assert list(callers.map(write_and_read, range(100))) == list(range(100))
