"""The command line of `agent-memory-mcp`: what it prints, and how it ends."""

import json
import signal
import socket
import subprocess

import pytest

from tests.contract.local_server import LocalServer
from tests.sdk.mcp.serving import COMMAND, PATIENCE, environment, http_server


def run(*options: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *options],
        env=environment(**variables),
        input="",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("key", ["", "  ", "am one", "schlüssel"])
def test_over_stdio_it_needs_a_key(key: str) -> None:
    ended = run(AGENT_MEMORY_API_KEY=key)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "agent-memory-mcp: set AGENT_MEMORY_API_KEY to the key of the principal to act as\n"
    )


def test_it_ends_with_its_client() -> None:
    ended = run(AGENT_MEMORY_API_KEY="am_any")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_stdout_has_nothing_but_the_protocol() -> None:
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    ended = subprocess.run(
        COMMAND,
        env=environment(AGENT_MEMORY_API_KEY="am_any"),
        input=f"no json\n{ping}\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert [json.loads(line)["jsonrpc"] for line in ended.stdout.splitlines()]
    assert "am_any" not in ended.stderr


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("--http", "--port", str(taken.getsockname()[1]))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "can't listen on port" in ended.stderr


@pytest.mark.parametrize("port", ["-1", "70000", "http"])
def test_a_port_that_is_none(port: str) -> None:
    ended = run("--http", "--port", port)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "port" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_over_http_it_ends_when_told_to(server: LocalServer, by: signal.Signals) -> None:
    with http_server(server.address) as started:
        started.process.send_signal(by)
        output, errors = started.process.communicate(timeout=PATIENCE)
    assert (output, "Traceback" in errors) == ("", False)
    assert started.process.returncode in (0, -by)


@pytest.mark.parametrize("options", [[], ["--http"]])
def test_an_address_that_is_none(options: list[str]) -> None:
    ended = run("--server-url", "memory.example", *options, AGENT_MEMORY_API_KEY="am_any")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "agent-memory-mcp: --server-url is like https://memory.example.com\n"


def test_help_says_whose_key_counts() -> None:
    ended = run("--help")
    assert ended.returncode == 0
    assert "AGENT_MEMORY_API_KEY" in ended.stdout
    assert "Authorization: Bearer KEY" in ended.stdout
