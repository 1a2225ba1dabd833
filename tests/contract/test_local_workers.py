"""A local server of several worker processes: no client can tell it from one of one process."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from threading import Semaphore

import httpx
import pytest

from functions.local.engine import find_binary
from tests.contract.local_server import (
    ENDED,
    HANG_UP,
    PATIENCE,
    ROOT,
    LocalServer,
    await_end,
    running,
)

pytestmark = [
    pytest.mark.skipif(find_binary(ROOT) is None, reason="no embedded database here"),
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
]
_ENTRIES = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    with running(tmp_path_factory.mktemp("workers"), AGENT_MEMORY_WORKERS="2") as ready:
        yield ready
        finish_a_request(ready, signal.SIGTERM)  # as the test of the other signals does


def await_that(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)


def count_connections(server: LocalServer) -> list[int]:
    """Count the clients' connections of each worker."""
    port = f":{httpx.URL(server.address).port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    accepted = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(port) and row[3] == "01"}
    return [len(accepted.intersection(open_files(pid))) for pid in server.workers()]


def open_files(pid: int) -> list[str]:
    found = []
    with suppress(*ENDED):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(*ENDED):
                found.append(str(descriptor.readlink()))
    return found


def connect_to_both(server: LocalServer, api_key: str, stack: ExitStack) -> list[httpx.Client]:
    """Open connections, each of which has sent a request, until both workers have one."""
    clients: list[httpx.Client] = []

    def is_connected_to_both() -> bool:
        clients.append(stack.enter_context(server.client(api_key)))
        assert clients[-1].get("/api/v1/me").status_code == 200
        return len(server.workers()) == 2 and min(count_connections(server)) > 0

    await_that(is_connected_to_both, "one worker gets all connections")
    return clients


def make_agent(admin: httpx.Client, name: str) -> dict[str, str]:
    made = admin.post("/api/v1/principals", json={"id": name, "kind": "agent"})
    found: dict[str, str] = made.raise_for_status().json()
    return found


STOP_KEY: dict[str, Callable[[httpx.Client], httpx.Response]] = {
    "revoked": lambda admin: admin.delete("/api/v1/principals/revoked"),
    "rotated": lambda admin: admin.post("/api/v1/principals/rotated/rotate"),
    "deleted": lambda admin: admin.post(
        "/api/v1/deletions", json={"kind": "agent", "id": "deleted"}
    ),
}


@pytest.mark.parametrize("how", STOP_KEY)
def test_a_key_stops_at_every_worker_at_once(server: LocalServer, how: str) -> None:
    with ExitStack() as stack, server.client() as admin:
        made = make_agent(admin, how)
        clients = connect_to_both(server, made["api_key"], stack)
        STOP_KEY[how](admin).raise_for_status()
        assert {each.get("/api/v1/me").status_code for each in clients} == {401}


def write_entries(
    server: LocalServer, api_key: str, writer: str, allowed: Semaphore, acknowledged: list[str]
) -> None:
    """Write an entry whenever it is allowed, the next one where a connection breaks."""
    with server.client(api_key) as client:
        for number in count():
            assert allowed.acquire(timeout=PATIENCE)
            if len(acknowledged) >= _ENTRIES or server.process.poll() is not None:
                allowed.release()  # for the next writer to end
                return
            key = f"{writer}-{number}"
            body = {"namespace": "n", "key": key, "value": {}, "memory_type": "episodic"}
            try:
                response = client.post("/api/v1/memory", json=body)
            except httpx.TransportError:
                allowed.release()
                continue
            assert response.status_code == 201, response.text
            acknowledged.append(key)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_ends_is_replaced_and_no_acknowledged_write_is_lost(
    server: LocalServer, by: signal.Signals
) -> None:
    acknowledged: list[str] = []
    allowed = Semaphore(_ENTRIES // 2)  # the rest is written once the worker is replaced
    with server.client() as admin:
        key = make_agent(admin, by.name)["api_key"]
    with ThreadPoolExecutor(4) as pool:
        writers = [
            pool.submit(write_entries, server, key, f"w{n}", allowed, acknowledged)
            for n in range(4)
        ]
        try:
            await_that(lambda: len(acknowledged) > 10, "nothing is written")
            end_one_worker(server, by)
        finally:
            allowed.release(_ENTRIES // 2 + len(writers))  # each may write one too many
        await_that(lambda: len(acknowledged) >= _ENTRIES, "nothing more is written")
        for each in writers:
            each.result()
    with server.client(key) as client:
        page = client.get("/api/v1/memory", params={"agent_id": by.name, "limit": 1000}).json()
        assert set(acknowledged) <= {each["key"] for each in page["entries"]}


def end_one_worker(server: LocalServer, by: signal.Signals) -> None:
    await_that(lambda: len(server.workers()) == 2, "there are no two workers")
    before = server.workers()
    ended = min(before)
    os.kill(ended, by)
    await_end(ended)
    await_that(lambda: len(server.workers() - before) == 1, "the worker is not replaced")


@pytest.mark.parametrize("by", [signal.SIGINT, *HANG_UP])
def test_a_request_that_has_begun_is_finished(tmp_path: Path, by: signal.Signals) -> None:
    with running(tmp_path, AGENT_MEMORY_WORKERS="2") as server:
        finish_a_request(server, by)


def finish_a_request(server: LocalServer, by: signal.Signals) -> None:
    """End a server during a request: it is answered, and then no process is left."""
    body = b'{"namespace": "n", "key": "k", "value": {}, "memory_type": "working"}'
    url = httpx.URL(server.address)
    await_that(lambda: len(server.workers()) == 2, "there are no two workers")
    children = server.descendants()
    with socket.create_connection((url.host, url.port), timeout=PATIENCE) as connection:
        head = (
            f"POST /api/v1/memory HTTP/1.1\r\nhost: {url.host}\r\nx-api-key: {server.api_key}\r\n"
            f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        server.process.send_signal(by)
        await_that(lambda: len(server.workers()) == 1, "the idle worker does not stop")
        connection.sendall(body)
        assert connection.recv(1000).startswith(b"HTTP/1.1 201 ")
    assert server.process.wait(PATIENCE) == 0
    for child in children:
        await_end(child)
