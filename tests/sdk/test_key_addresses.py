"""A key goes to the address that it belongs to, and to no other, from each program that sends one.

Listeners on this machine stand for the servers of an attacker. They see what really arrives.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[2] / "sdk/typescript/dist/index.js"
PATIENCE = 60.0  # seconds; far more than anything here takes
USERS, FOLDERS = "am_of_the_user", "am_of_the_folder"

_PYTHON = "import agent_memory; agent_memory.Client(max_retries=0).memory.get('n', 'k')"
_TYPESCRIPT = (
    f"const {{ Client }} = await import({json.dumps(PACKAGE.as_uri())});"
    "await new Client({ maxRetries: 0 }).memory.get('n', 'k');"
)
_MCP: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "list_memories", "arguments": {}}},
]
_COMMANDS = {
    "python": [sys.executable, "-c", _PYTHON],
    "command line": [sys.executable, "-m", "agent_memory.cli", "query"],
    "mcp": [sys.executable, "-m", "agent_memory.mcp"],
    "typescript": ["node", "--input-type=module", "-e", _TYPESCRIPT],
}


@dataclass
class Listener:
    """A server that notes the headers of what it gets, and answers all of it alike."""

    port: int
    requests: list[str] = field(default_factory=list)

    def at(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}"

    @property
    def keys(self) -> set[str]:
        """The keys that arrived."""
        return {key for key in (USERS, FOLDERS) for each in self.requests if key in each}


@contextmanager
def listening(status: int = 401, location: str | None = None) -> Iterator[Listener]:
    """A listener that answers with a status, and redirects to a location."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            listener.requests.append(f"{self.requestline}\n{self.headers}")
            self.send_response(status)
            if location is not None:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_PUT = do_HEAD = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        listener = Listener(server.server_port)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            yield listener
        finally:
            server.shutdown()


@pytest.fixture(params=_COMMANDS)
def program(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if name == "typescript" and not PACKAGE.exists():
        pytest.skip("it is not built; run make typescript")
    return name


def run(program: str, folder: Path, variables: Mapping[str, str]) -> None:
    """Let a program read from the service, in a folder and with these variables; it may fail."""
    inherited = {
        name: each
        for name, each in os.environ.items()
        if not name.startswith("AGENT_MEMORY_") and not name.lower().endswith("_proxy")
    }
    command = _COMMANDS[program]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=inherited | {"HOME": str(folder)} | dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        impatient = threading.Timer(PATIENCE, process.kill)
        impatient.start()
        assert process.stdin is not None
        assert process.stdout is not None
        if program == "mcp":
            _call_tool(process)
        process.communicate()
        impatient.cancel()
        assert process.returncode >= 0, "it did not end"


def _call_tool(process: "subprocess.Popen[str]") -> None:
    """Call a tool, and wait for its answer, or for the end of a server that doesn't start."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for each in _MCP:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | each) + "\n")
            process.stdin.flush()
    except BrokenPipeError:
        return
    for line in process.stdout:
        if json.loads(line).get("id") == 2:
            return


def plant(folder: Path, address: str) -> None:
    """Put a data folder there, as a cloned repository brings it."""
    data = folder / ".agent-memory"
    data.mkdir()
    (data / "address").write_text(address)
    (data / "api-key").write_text(FOLDERS)


def test_a_folder_gets_its_own_key_at_most(program: str, tmp_path: Path) -> None:
    with listening() as own, listening() as planted:
        plant(tmp_path, planted.at())
        run(program, tmp_path, {"AGENT_MEMORY_URL": own.at(), "AGENT_MEMORY_API_KEY": USERS})
        assert (own.keys, planted.requests) == ({USERS}, [])
        run(program, tmp_path, {"AGENT_MEMORY_API_KEY": USERS})
        assert planted.requests == []
        run(program, tmp_path, {})
    assert planted.keys == {FOLDERS}


def test_the_key_of_a_folder_goes_to_no_other_address(program: str, tmp_path: Path) -> None:
    with listening() as planted, listening() as other:
        plant(tmp_path, planted.at())
        run(program, tmp_path, {"AGENT_MEMORY_URL": other.at()})
    assert other.keys == set()


def test_a_folder_directs_no_request_beyond_this_machine(program: str, tmp_path: Path) -> None:
    with listening() as planted:
        plant(tmp_path, planted.at("0.0.0.0"))  # noqa: S104 - reaches the listener on Linux
        run(program, tmp_path, {})
    assert planted.requests == []


def test_a_redirect_takes_no_key_along(program: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(listening())
        own = stack.enter_context(listening(307, f"{other.at('localhost')}/api/v1/memory"))
        run(program, tmp_path, {"AGENT_MEMORY_URL": own.at(), "AGENT_MEMORY_API_KEY": USERS})
    assert (own.keys, other.keys) == ({USERS}, set())
