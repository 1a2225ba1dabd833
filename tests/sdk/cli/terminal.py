"""`agent-memory` as a user starts it: in a pipe, or at a terminal of a certain width."""

import fcntl
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO
from unittest.mock import patch

from agent_memory.cli import main

PROGRAM = (sys.executable, "-m", "agent_memory.cli")
PATIENCE = 60.0  # seconds; far more than anything here takes


@dataclass(frozen=True)
class Ended:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON value that it wrote."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def documents(self) -> list[Any]:
        """The JSON Lines that it wrote."""
        assert self.code == 0, self.err
        return [json.loads(line) for line in self.out.split("\n") if line]


@dataclass(frozen=True)
class Cli:
    """Runs commands with a home of their own, at a server and with a key, if given."""

    home: Path
    url: str | None = None
    api_key: str | None = None

    def __call__(self, *arguments: str | Path, stdin: str | bytes = b"") -> Ended:
        """Runs a command to its end, in this process: that spares its start. See `alone`."""
        with ExitStack() as stack:
            files = [stack.enter_context(TemporaryFile()) for _ in range(3)]
            files[0].write(stdin.encode() if isinstance(stdin, str) else stdin)
            files[0].seek(0)
            streams = [io.TextIOWrapper(file, encoding="utf-8", newline="\n") for file in files]
            stack.enter_context(_standing_in(streams, self.environment))
            code = _code([str(each) for each in arguments])
            for stream in streams[1:]:
                stream.flush()
                stream.seek(0)
            return Ended(code, streams[1].read(), streams[2].read())

    def alone(self, *arguments: str | Path, stdin: str = "", **variables: str) -> Ended:
        """Run a command to its end, in a separate process and with further variables."""
        ended = subprocess.run(
            [*PROGRAM, *arguments],
            env=self.environment | variables,
            input=stdin.encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def at(self, url: str) -> "Cli":
        """Return this command line with another server."""
        return replace(self, url=url)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its commands."""
        ours = ("AGENT_MEMORY_", "PYTHONUNBUFFERED")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        chosen = {"AGENT_MEMORY_URL": self.url, "AGENT_MEMORY_API_KEY": self.api_key}
        home = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "AGENT_MEMORY_DATA": str(self.home / "data"),  # not what `make run` left in this folder
        }
        return inherited | home | {k: v for k, v in chosen.items() if v is not None}

    @property
    def profile_file(self) -> Path:
        """The file of the profiles."""
        return self.home / "config" / "agent-memory" / "profiles.toml"

    @contextmanager
    def started(self, *arguments: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
        """A command that runs; killed at the end, or when patience is over, if it still does."""
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        impatient = threading.Timer(PATIENCE, process.kill)
        impatient.start()
        try:
            yield process
        finally:
            impatient.cancel()
            process.kill()
            process.communicate()

    def at_terminal(self, columns: int, *arguments: str | Path) -> Ended:
        """Runs a command whose stdout and stderr are one terminal; what it showed is `out`."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        plain = {n: v for n, v in self.environment.items() if n not in ("COLUMNS", "LINES")}
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            env=plain | {"TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b"".join(shown_at(ours))
        os.close(ours)
        return Ended(process.wait(PATIENCE), shown.decode().replace("\r\n", "\n"), "")


@contextmanager
def _standing_in(streams: Sequence[TextIO], environment: dict[str, str]) -> Iterator[None]:
    """Set streams, environment and signals as in a separate process."""
    handler = signal.getsignal(signal.SIGTERM)
    with ExitStack() as stack:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            stack.enter_context(patch.object(sys, name, stream))
        stack.enter_context(patch.dict(os.environ, environment, clear=True))
        yield
    signal.signal(signal.SIGTERM, handler)


def _code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def shown_at(descriptor: int) -> Iterator[bytes]:
    """Yield all that a terminal shows, until no process has it open."""
    while True:
        try:
            yield os.read(descriptor, 65_536)
        except OSError:
            return
