"""A local server of several processes: no client can tell it from one of one process."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event

import httpx
import pytest

from functions.local.engine import find_binary
from tests.contract.local_server import ENDED, PATIENCE, ROOT, LocalServer, await_end, running

pytestmark = [
    pytest.mark.skipif(find_binary(ROOT) is None, reason="no embedded database here"),
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one process serves"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """One that is only talked to."""
    with running(tmp_path_factory.mktemp("shared"), AGENT_MEMORY_WORKERS="2") as ready:
        yield ready


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    with running(tmp_path, AGENT_MEMORY_WORKERS="2") as ready:
        yield ready


def links(*paths: Path) -> list[str]:
    """Where links of /proc lead, but for those of what has ended."""
    found = []
    for path in paths:
        with suppress(*ENDED):
            found.append(str(path.readlink()))
    return found


def open_files(pid: int) -> list[str]:
    with suppress(*ENDED):
        return links(*Path(f"/proc/{pid}/fd").iterdir())
    return []


def pythons(server: LocalServer) -> set[int]:
    """What the server has forked off: all that it has started but for the engine."""
    return {pid for pid in server.children() if "python" in executable(pid)}


def executable(pid: int) -> str:
    return "".join(links(Path(f"/proc/{pid}/exe")))


def workers(server: LocalServer) -> set[int]:
    """Those that wait for requests."""
    return {pid for pid in pythons(server) if "anon_inode:[eventpoll]" in open_files(pid)}


def connections(server: LocalServer) -> dict[int, int]:
    """How many clients each worker has."""
    port = f":{httpx.URL(server.address).port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    accepted = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(port) and row[3] == "01"}
    return {pid: len(accepted.intersection(open_files(pid))) for pid in workers(server)}


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


@contextmanager
def four_clients(server: LocalServer, api_key: str | None = None) -> Iterator[list[httpx.Client]]:
    """Clients that keep their connections; each has been told who it is."""
    until(lambda: len(workers(server)) == 2, "there are no two workers")
    with ExitStack() as stack:
        clients = [stack.enter_context(server.client(api_key)) for _ in range(4)]
        assert [each.get("/api/v1/me").status_code for each in clients] == [200] * 4
        yield clients


def test_clients_who_stay_are_shared_evenly(shared: LocalServer) -> None:
    with four_clients(shared):
        assert list(connections(shared).values()) == [2, 2]


def test_the_greeting_comes_once(server: LocalServer) -> None:
    with four_clients(server):
        server.process.send_signal(signal.SIGTERM)
        said, errors = server.process.communicate(timeout=PATIENCE)
    assert ("is ready" in said, errors) == (False, "")


@pytest.mark.parametrize("how", ["revoked", "rotated"])
def test_a_key_that_is_taken_back_works_at_no_worker(shared: LocalServer, how: str) -> None:
    with shared.client() as admin:
        made = admin.post("/api/v1/principals", json={"id": how, "kind": "agent"})
        with four_clients(shared, made.json()["api_key"]) as clients:
            if how == "revoked":
                changed = admin.delete(f"/api/v1/principals/{how}")
            else:
                changed = admin.post(f"/api/v1/principals/{how}/rotate")
            changed.raise_for_status()
            assert [each.get("/api/v1/me").status_code for each in clients] == [401] * 4


_MOST = 240  # entries of each of four writers: fewer than evict each other


def reached(acknowledged: list[str], goal: int) -> bool:
    return len(acknowledged) >= goal


def write(server: LocalServer, writer: str, stop: Event, acknowledged: list[str]) -> None:
    """Goes on with the next entry where a connection breaks."""
    with server.client() as client:
        for number in range(_MOST):
            if stop.is_set():
                return
            key = f"{writer}-{number}"
            body = {"namespace": "n", "key": key, "value": {}, "memory_type": "episodic"}
            try:
                answer = client.post("/api/v1/memory", json=body)
            except httpx.TransportError:
                continue
            assert answer.status_code == 201, answer.text
            acknowledged.append(key)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_ends_is_replaced_and_nothing_acknowledged_is_lost(
    server: LocalServer, by: signal.Signals
) -> None:
    acknowledged: list[str] = []
    stop = Event()
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, server, f"w{n}", stop, acknowledged) for n in range(4)]
        try:
            for goal in (20, 40):
                until(partial(reached, acknowledged, goal), "nothing is written any more")
                end_one(server, by)
        finally:
            stop.set()
        for each in writers:
            each.result()
    with server.client() as client:
        page = client.get("/api/v1/memory", params={"agent_id": "admin", "limit": 1000}).json()
        assert set(acknowledged) <= {each["key"] for each in page["entries"]}
    assert server.end(signal.SIGTERM) == 0


def end_one(server: LocalServer, by: signal.Signals) -> None:
    until(lambda: len(workers(server)) == 2, "there are no two workers")
    before = workers(server)
    victim = min(before)
    os.kill(victim, by)
    await_end(victim)
    until(lambda: len(workers(server) - before) == 1, "no worker takes its place")
    assert victim not in server.children()  # not even its remains


def test_what_goes_on_beside_is_replaced_too(server: LocalServer) -> None:
    until(lambda: len(workers(server)) == 2, "there are no two workers")
    (upkeep,) = pythons(server) - workers(server)
    os.kill(upkeep, signal.SIGKILL)
    with server.client() as client:
        body = {"namespace": "n", "key": "k", "value": {}, "memory_type": "working"}
        client.post("/api/v1/memory", json=body).raise_for_status()
        log = "/api/v1/agents/admin/events"
        until(lambda: client.get(log).json()["events"] != [], "no event comes any more")


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_request_that_has_begun_is_finished(server: LocalServer, by: signal.Signals) -> None:
    body = b'{"namespace": "n", "key": "k", "value": {}, "memory_type": "working"}'
    url = httpx.URL(server.address)
    with socket.create_connection((url.host, url.port), timeout=PATIENCE) as connection:
        head = (
            f"POST /api/v1/memory HTTP/1.1\r\nhost: {url.host}\r\nx-api-key: {server.api_key}\r\n"
            f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        server.process.send_signal(by)
        until(lambda: refuses(url), "it takes new connections")
        connection.sendall(body)
        assert connection.recv(1000).startswith(b"HTTP/1.1 201 ")
    assert server.process.wait(PATIENCE) == 0


def refuses(url: httpx.URL) -> bool:
    """Whether nobody accepts connections any more."""
    with socket.socket() as probe:
        return probe.connect_ex((url.host, url.port)) != 0
