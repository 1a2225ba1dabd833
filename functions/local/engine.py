"""The embedded database: a DynamoDB engine on SQLite, run as a child process.

On each write, the engine searches for a table's newest stream record without an index, and it never
drops records: after 40,000 records, a write costs forty times as much. The engine has no option
against either. Therefore this module adds an index and deletes processed records.
"""

import os
import platform
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from functions.local.settings import StartupError

_OF_WHEEL = Path(__file__).with_name("dynoxide")
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
_START_TIMEOUT, _STOP_TIMEOUT, _POLL = 15.0, 10.0, 0.005  # seconds
_PORT_ATTEMPTS = 5
_LOCK_TIMEOUT = 10.0  # seconds to wait for the engine's own writes
_INDEX = """
    CREATE INDEX IF NOT EXISTS agent_memory_stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER))
"""
_TRIM = """
    DELETE FROM _stream_records
    WHERE table_name = ? AND CAST(sequence_number AS INTEGER) < ?
"""
# The engine doesn't notice when its parent ends. This shell does, because its input ends.
_RUN_UNTIL_INPUT_ENDS = """
exec 3<&0
"$@" </dev/null 3<&- & engine=$!
{ read -r _ <&3; kill "$engine"; } 2>/dev/null &
wait "$engine"
"""


def find_binary(root: Path) -> Path | None:
    """Find the engine's binary.

    Search the service's wheel, then npm's folder in the project `root`, then the PATH.
    """
    machine = platform.machine().lower()
    is_of_wheel = (sys.platform, machine) == ("linux", "x86_64")
    of_npm = root / f"node_modules/@dynoxide/{sys.platform}-{_ARCHITECTURES.get(machine, machine)}"
    if is_of_wheel and _OF_WHEEL.is_file():
        return _OF_WHEEL
    if (binary := of_npm / "dynoxide").is_file():
        return binary
    on_path = shutil.which("dynoxide")
    return Path(on_path) if on_path else None


class Engine:
    """A running engine. It stops when this process ends, even by SIGKILL."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self._stopping = False
        self.url = f"http://127.0.0.1:{port}"
        self.has_failed = False

    def watch(self, on_failure: Callable[[], None]) -> None:
        """If the engine ends without `stop`, set `has_failed` and call `on_failure` in a thread."""
        threading.Thread(target=self._watch, args=(on_failure,), daemon=True).start()

    def _watch(self, on_failure: Callable[[], None]) -> None:
        self._process.wait()
        if not self._stopping:
            self.has_failed = True
            on_failure()

    def stop(self) -> None:
        """Let the engine finish its writes, and wait until it has ended."""
        self._stopping = True
        _stop(self._process)


def start(binary: Path, database: Path | None, log: Path) -> Engine:
    """Start the engine on a free loopback port and wait until it answers.

    Args:
        database: its file, created if it doesn't exist; None stores everything in memory.
        log: the file for its output.
    """
    for _ in range(_PORT_ATTEMPTS):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port: int = probe.getsockname()[1]
        process = _spawn(binary, port, database, log)
        if _is_answering(process, port):
            return Engine(process, port)
        if process.poll() is None:
            _stop(process)
            break
        if "already in use" not in log.read_text(errors="replace"):
            break
    raise StartupError(f"the embedded database {binary} does not start; see its output in {log}")


def _spawn(binary: Path, port: int, database: Path | None, log: Path) -> subprocess.Popen[bytes]:
    command = [str(binary), "serve", "--host", "127.0.0.1", "--port", str(port)]
    if database is not None:
        command += ["--db-path", str(database)]
    with log.open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - the shell gets the engine's command as arguments
            ["/bin/sh", "-c", _RUN_UNTIL_INPUT_ENDS, "engine", *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C signals the whole process group, but requests in flight still need the engine.
            start_new_session=True,
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Close a shell's input, and wait until its engine has ended."""
    try:
        process.communicate(timeout=_STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _is_answering(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + _START_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(_POLL)
        else:
            # If another program took the port first, the engine ends by itself.
            return process.poll() is None
    return False


def index_stream(database: Path) -> None:
    """Index the stream records of a database; the engine may be running."""
    try:
        with _connect(database) as connection, connection:
            connection.execute(_INDEX)
    except sqlite3.Error as error:
        raise StartupError(f"the database {database} can't be prepared: {error}") from error


def trim_stream(database: Path, table: str, sequence: int) -> None:
    """Drop a table's records before number `sequence`; all of them must be processed.

    The record `sequence` stays, because the engine numbers the next record after the newest one.
    """
    with _connect(database) as connection, connection:
        connection.execute(_TRIM, (table, sequence))


@contextmanager
def _connect(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=_LOCK_TIMEOUT)) as connection:
        yield connection
