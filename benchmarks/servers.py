"""The two servers that are compared, each a process of its own with its data in a given folder."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.connection import Address

REFERENCE = "openintent[server]==0.17.0"
_T = TypeVar("_T")
_HOST = "127.0.0.1"
_OUR_KEY = re.compile(r"\bam_[A-Za-z0-9_-]{16,}")
_START_SECONDS, _STOP_SECONDS = 90, 20


class ServerError(RuntimeError):
    """A server did not start, or refused what the benchmark prepares; its own words are in it."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Attributes:
        process: its process id.
        key: an all-permission key.
        created: the status that it answers a create with.
        has_principals: whether an agent needs a key of its own (for the reference any key does).
    """

    name: str
    process: int
    address: Address
    key: str
    created: int
    has_principals: bool

    def call(self, method: str, target: str, key: str, body: object = None) -> Any:
        """One request beside the measured ones; gives the parsed answer. Raises `ServerError`."""
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        try:
            headers = {"X-API-Key": key, "Content-Type": "application/json"}
            content = None if body is None else json.dumps(body)
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status >= http.client.BAD_REQUEST:
            raise ServerError(f"{self.name}: {method} {target}: {response.status} {text[:500]}")
        return json.loads(text)

    def key_of(self, agent: str) -> str:
        """A key with which `agent` owns what it writes; the agent is new."""
        if not self.has_principals:
            return self.key
        body = {"id": agent, "kind": "agent"}
        answer = self.call("POST", "/api/v1/principals", self.key, body)
        return str(answer["api_key"])


@contextmanager
def ours(folder: Path) -> Iterator[Server]:
    """This project's local server, as `make run` starts it. Raises `ServerError`."""
    port = _free_port()
    settings = {"AGENT_MEMORY_PORT": str(port), "AGENT_MEMORY_DATA": str(folder / "ours")}
    log = folder / "ours.log"
    with _process([sys.executable, "-m", "functions.local"], settings, log) as process:
        key = _await(process, log, lambda: _printed_key(log))
        server = Server("ours", process.pid, (_HOST, port), key, 201, has_principals=True)
        _await(process, log, lambda: _listening(server.address))
        yield server


@contextmanager
def reference(folder: Path, environment: Path) -> Iterator[Server]:
    """The published OpenIntent server on SQLite, without its access log. Raises `ServerError`.

    `environment`: where its virtual environment is, or is made.
    """
    program = environment_with(environment, [REFERENCE]) / "bin" / "openintent-server"
    command = [str(program), "--host", _HOST, "--log-level", "warning"]
    port, key, log = _free_port(), "benchmark-key", folder / "reference.log"
    command += ["--port", str(port), "--api-keys", key]
    settings = {"DATABASE_URL": f"sqlite:///{folder / 'reference.db'}"}
    with _process(command, settings, log) as process:
        server = Server("reference", process.pid, (_HOST, port), key, 200, has_principals=False)
        _await(process, log, lambda: _listening(server.address))
        yield server


@contextmanager
def listening(command: Sequence[str], log: Path) -> Iterator[int]:
    """Run a server whose command ends with its port; the port. Raises `ServerError`."""
    port = _free_port()
    with _process([*command, str(port)], {}, log) as process:
        _await(process, log, lambda: _listening((_HOST, port)))
        yield port


def prepare(bench: Path) -> None:
    """The folder of environments and data, of which git is to know nothing."""
    bench.mkdir(parents=True, exist_ok=True)
    (bench / ".gitignore").write_text("*\n")


def environment_with(folder: Path, packages: Sequence[str]) -> Path:
    """A virtual environment with these packages in `folder`, made if it isn't there."""
    marker, wanted = folder / "installed", " ".join(packages)
    if not marker.exists() or marker.read_text() != wanted:
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", *packages]
        subprocess.run(pip, check=True)  # noqa: S603 - pinned packages, no input from outside
        marker.write_text(wanted)
    return folder


def _free_port() -> int:
    with socket.create_server((_HOST, 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def _process(
    command: Sequence[str], settings: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **settings}
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - commands of this module
            command, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await(process: subprocess.Popen[bytes], log: Path, look: Callable[[], _T | None]) -> _T:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := look():
            return found
        time.sleep(0.02)
    raise ServerError(f"{process.args!r} did not start:\n{log.read_text()[-2000:]}")


def _printed_key(log: Path) -> str | None:
    match = _OUR_KEY.search(log.read_text(errors="replace"))
    return match.group() if match else None


def _listening(address: Address) -> bool:
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError:
        return False
    return True
