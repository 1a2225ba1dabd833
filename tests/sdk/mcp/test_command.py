"""The command line of `agent-memory-mcp`: what it prints, and how it ends."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from agent_memory.mcp import logs
from agent_memory.mcp.__main__ import main
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.contract.local_server import LocalServer
from tests.sdk.mcp.serving import COMMAND, PATIENCE, environment, http_server


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command that ends by itself, in this process: that spares its start."""

    def run_main(*options: str, api_key: str = "am_any") -> Ended:
        monkeypatch.setenv("AGENT_MEMORY_API_KEY", api_key)
        monkeypatch.setattr(logs, "to_stderr", lambda: None)  # it would be for good
        try:
            code = main(options)
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Ended(code, *capsys.readouterr())

    return run_main


def run_alone(stdin: str, api_key: str) -> Ended:
    """Run the command over stdio in a separate process, until its input ends."""
    ended = subprocess.run(
        COMMAND,
        env=environment(AGENT_MEMORY_API_KEY=api_key),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_over_stdio_it_needs_a_key(run: Run) -> None:
    told = "agent-memory-mcp: set AGENT_MEMORY_API_KEY to the key of the principal to act as\n"
    for key in ("", "  ", "am one", "schlüssel"):
        assert run(api_key=key) == Ended(2, "", told)
    assert run_alone("", "") == Ended(2, "", told)


@pytest.mark.anyio
async def test_over_stdio_it_finds_the_service_of_its_folder(server: LocalServer) -> None:
    folder = environment(AGENT_MEMORY_DATA=str(server.data))
    command = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:]], env=folder)
    async with Client(stdio_client(command, errlog=sys.stderr)) as client:
        assert not (await client.call_tool("list_memories", {})).is_error


def test_stdout_has_nothing_but_the_protocol_and_it_ends_with_its_client() -> None:
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    ended = run_alone(f"no json\n{ping}\n", "am_any")
    assert ended.code == 0
    assert [json.loads(line)["jsonrpc"] for line in ended.out.splitlines()]
    assert "am_any" not in ended.err


def test_a_port_that_is_taken(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("--http", "--port", str(taken.getsockname()[1]))
    assert (ended.code, ended.out) == (2, "")
    assert "can't listen on port" in ended.err


def test_a_port_that_is_none(run: Run) -> None:
    for port in ("-1", "70000", "http"):
        ended = run("--http", "--port", port)
        assert (ended.code, ended.out) == (2, "")
        assert "port" in ended.err
        assert "Traceback" not in ended.err


def test_over_http_it_ends_by_ctrl_c(server: LocalServer) -> None:
    with http_server(server.address) as started:
        started.end(signal.SIGINT)


def test_an_address_that_is_none(run: Run) -> None:
    told = "agent-memory-mcp: --server-url must be like https://memory.example.com\n"
    assert run("--server-url", "memory.example") == Ended(2, "", told)
    assert run("--server-url", "memory.example", "--http") == Ended(2, "", told)


def test_help_says_whose_key_counts(run: Run) -> None:
    ended = run("--help")
    assert ended.code == 0
    assert "AGENT_MEMORY_API_KEY" in ended.out
    assert "Authorization: Bearer KEY" in ended.out
