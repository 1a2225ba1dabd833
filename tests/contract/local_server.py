"""`python -m functions.local` as a child process, as its user sees it."""

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds; far more than anything here takes
_END_SECONDS = 15.0  # for a server to end, which takes half a second
ENDED = (FileNotFoundError, ProcessLookupError)  # raised by reads of /proc
# A server that is started under nohup is right not to end by SIGHUP.
HANG_UP = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
_ENGINE = str(ROOT / "node_modules")
_NO_ROOTS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # to load them takes longer than ten requests
ROOT_KEY = "am_root_key_of_the_shared_server"
SERVE = (  # the tests of frameworks run in an environment without the service
    os.environ.get("AGENT_MEMORY_SERVICE_PYTHON", sys.executable),
    "-m",
    "functions.local",
)


@dataclass(frozen=True)
class LocalServer:
    """A server that has said that it is ready."""

    process: subprocess.Popen[str]
    greeting: str
    data: Path

    @property
    def address(self) -> str:
        return self._fact("address")

    @property
    def api_key(self) -> str:
        return self._fact("API key")

    @property
    def commands(self) -> list[str]:
        """The shell commands that the greeting offers."""
        _, _, offered = self.greeting.partition("Try it:")
        return [each.strip() for each in offered.strip().split("\n\n")]

    def client(self, api_key: str | None = None) -> httpx.Client:
        """A client that holds the printed key, or another."""
        return httpx.Client(
            base_url=self.address,
            headers={"X-API-Key": api_key or self.api_key},
            timeout=PATIENCE,
            verify=_NO_ROOTS,
        )

    def descendants(self) -> dict[int, str]:
        """The processes that the server has started, by id, with their commands (Linux)."""
        return dict(_descendants(self.process.pid))

    def engine(self) -> int:
        (engine,) = (pid for pid, name in self.descendants().items() if name.startswith(_ENGINE))
        return engine

    def end(self, by: signal.Signals) -> int:
        """Signal the server and wait; return its exit code."""
        self.process.send_signal(by)
        return self.process.wait(_END_SECONDS)

    def _fact(self, name: str) -> str:
        found = re.search(rf"^ *{name} +(\S+)$", self.greeting, re.MULTILINE)
        assert found, self.greeting
        return found.group(1)


def environment(data: Path, **variables: str) -> dict[str, str]:
    """The environment of a server on any free port with its own data folder."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("AGENT_MEMORY_", "AWS_"))}
    chosen = {
        "AGENT_MEMORY_DATA": str(data),
        "AGENT_MEMORY_PORT": "0",
    }
    return inherited | chosen | variables


@contextmanager
def running(
    data: Path, *, command: tuple[str, ...] = SERVE, **variables: str
) -> Iterator[LocalServer]:
    """A server on `data`; it is killed at the end if it still runs."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(data, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield LocalServer(process, _greeting(process), data)
    finally:
        process.kill()
        process.communicate()


def start_error(data: Path, **variables: str) -> str:
    """Return the error message of a server that can't start."""
    ended = subprocess.run(
        SERVE,
        cwd=ROOT,
        env=environment(data, **variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr


def _greeting(process: "subprocess.Popen[str]") -> str:
    """Read what the server prints, up to the last command."""
    assert process.stdout is not None
    impatient = threading.Timer(PATIENCE, process.kill)
    impatient.start()
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "How does Ada pay?" in line:
            impatient.cancel()
            return "".join(lines)
    impatient.cancel()
    raise AssertionError(f"no greeting: {''.join(lines)}{process.communicate()[1]}")


def _descendants(pid: int) -> Iterator[tuple[int, str]]:
    with suppress(*ENDED):
        for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            yield child, Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
            yield from _descendants(child)


def await_end(pid: int) -> None:
    """Return once no process has this id, or it has only to be reaped."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except ENDED:
            return
        if state == "Z":
            return
        time.sleep(0.005)
    raise AssertionError(f"process {pid} still runs")


def await_refusal(url: httpx.URL) -> None:
    """Return once nothing listens at this address."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((url.host, url.port or 80)) != 0:
                return
        time.sleep(0.005)
    raise AssertionError(f"{url} still takes connections")
