"""The embedded database: a DynamoDB engine on SQLite, run as a child process."""

import platform
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from functions.local.failure import CannotServe
from functions.local.lifeline import end_with_parent

_PACKAGED = Path("node_modules/@dynoxide/linux-x64/dynoxide")
_READY_WITHIN, _STOPPED_WITHIN, _POLL = 15.0, 10.0, 0.005  # seconds
_PORT_ATTEMPTS = 5


def has_build() -> bool:
    """Whether the engine is published for this platform."""
    return (sys.platform, platform.machine()) == ("linux", "x86_64")


def find_binary(root: Path) -> Path | None:
    """The engine's binary: npm's under the project `root`, else `dynoxide` on the PATH."""
    packaged = root / _PACKAGED
    if has_build() and packaged.is_file():
        return packaged
    on_path = shutil.which("dynoxide")
    return Path(on_path) if on_path else None


class Engine:
    """A running engine. It ends with this process, however this process ends."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self._stopping = False
        self.url = f"http://127.0.0.1:{port}"

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def on_death(self, tell: Callable[[], None]) -> None:
        """Calls `tell`, from another thread, if the engine ends without `stop`."""
        threading.Thread(target=self._watch, args=(tell,), daemon=True).start()

    def _watch(self, tell: Callable[[], None]) -> None:
        self._process.wait()
        if not self._stopping:
            tell()

    def stop(self) -> None:
        """Lets the engine finish what it is writing, and waits until it has ended."""
        self._stopping = True
        self._process.terminate()
        try:
            self._process.wait(_STOPPED_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start(binary: Path, database: Path | None, log: Path) -> Engine:
    """Starts the engine on a free loopback port and waits until it answers.

    Call it from the main thread: Linux ties the child's life to the thread that made it.

    Args:
        binary: the engine.
        database: its file, made if it isn't there; None keeps everything in memory.
        log: what it prints goes here.

    Raises:
        CannotServe: it ended at once, or did not answer in time.
    """
    for _ in range(_PORT_ATTEMPTS):
        port = _free_port()
        process = _spawn(binary, port, database, log)
        if _answers(process, port):
            return Engine(process, port)
        if process.poll() is None:
            process.kill()
            process.wait()
            break
        if "already in use" not in log.read_text(errors="replace"):
            break
    raise CannotServe(f"the embedded database {binary} does not start; see {log}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _spawn(binary: Path, port: int, database: Path | None, log: Path) -> subprocess.Popen[bytes]:
    command = [str(binary), "serve", "--host", "127.0.0.1", "--port", str(port)]
    if database is not None:
        command += ["--db-path", str(database)]
    try:
        with log.open("wb") as output:
            return subprocess.Popen(  # noqa: S603 - no shell, and our own binary
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Ctrl-C reaches the whole process group; requests in flight still need the engine.
                start_new_session=True,
                preexec_fn=end_with_parent() if sys.platform == "linux" else None,  # noqa: PLW1509
            )
    except OSError as error:
        raise CannotServe(
            f"the embedded database {binary} can't be run ({error.strerror})"
        ) from error


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + _READY_WITHIN
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(_POLL)
        else:
            # Another program may have taken the port first; then the engine ends by itself.
            return process.poll() is None
    return False
