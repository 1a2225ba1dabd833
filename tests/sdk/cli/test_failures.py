"""Test the messages and exit codes of failures (agent_memory.cli.failures)."""

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import Cli

OTHER_JSON = {
    "/object": b"{}",
    "/array": b"[1]",
    "/text": b'"hello"',
    "/lists": b'{"entries": [{}], "events": [{}], "next": 1, "total": 1, "tasks": [1]}',
}
COMMANDS = [
    ["query"],
    ["get", "ns", "k"],
    ["get", "mem_1"],
    ["set", "ns", "k", "{}"],
    ["rm", "mem_1"],
    ["summary"],
    ["summary", "--agent", "a"],
    ["tail", "--agent", "a"],
    ["tail"],
    ["tasks", "list", "--intent", "i"],
    ["tasks", "show", "t"],
    ["tasks", "assigned"],
    ["export"],
    ["import", "-"],
    ["workflow", "apply", "-"],
    ["login"],
]
LINE = '{"namespace": "n", "key": "k", "memory_type": "working", "value": {}}'


@pytest.fixture
def web_server() -> Iterator[str]:
    """The address of a server that isn't a memory service."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Quiet(http.server.BaseHTTPRequestHandler):
    """Answers web pages, or other JSON."""

    def do_GET(self) -> None:
        named = (page for name, page in OTHER_JSON.items() if name in self.path)
        page = next(named, b"<h1>It works!</h1>")
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def test_a_wrong_key_is_told(tenant: Tenant) -> None:
    wrong = replace(tenant.cli(), api_key="am_wrong")
    for arguments in (["query"], ["get", "ns", "k"], ["export"], ["import"], ["tail"]):
        told = wrong(*arguments)
        assert told.code == 4
        assert "UNAUTHENTICATED" in told.err
        assert "am_wrong" not in told.err
    revoked = tenant.agent("agent_1")
    tenant.http.delete("/api/v1/principals/agent_1").raise_for_status()
    assert tenant.cli(revoked)("summary").code == 4


def test_a_server_that_is_not_there_is_told(cli: Cli) -> None:
    told = cli.at("http://127.0.0.1:9")("query")
    assert told.code == 5
    assert len(told.err.splitlines()) == 1
    assert "127.0.0.1:9" in told.err


def test_a_server_of_another_kind_is_told(
    cli: Cli, web_server: str, subtests: pytest.Subtests
) -> None:
    for path in ("", "/missing"):
        for arguments in (["query"], ["get", "ns", "k"], ["get", "mem_1"], ["export"]):
            with subtests.test(f"{path} {arguments}"):
                told = cli.at(web_server + path)(*arguments)
                assert told.code == 5
                assert "not from the memory service" in told.err


def test_a_server_of_other_json_is_told(cli: Cli, web_server: str) -> None:
    for path, command in product(OTHER_JSON, COMMANDS):
        address = web_server + path
        arguments = [*command, address] if command == ["login"] else command
        stdin = "am_other" if command == ["login"] else LINE
        told = cli.at(address)(*arguments, stdin=stdin)
        assert told.code == 5, (path, command, told)
        assert "not from the memory service" in told.err


def test_what_one_may_not_do_is_told(tenant: Tenant) -> None:
    agent = tenant.cli(tenant.agent("agent_1"))
    tenant.create(namespace="shared", memory_type="semantic")
    refused = agent("set", "shared", "x", "{}", "--type", "semantic")
    assert refused.code == 1
    assert "ACCESS_DENIED" in refused.err
    assert "[request " in refused.err


def test_a_value_that_is_too_large_is_told(cli: Cli) -> None:
    told = cli("set", "ns", "k", "-", stdin=json.dumps({"v": "x" * 70_000}))
    assert told.code == 1
    assert "VALUE_TOO_LARGE" in told.err
    assert "xxxx" not in told.err


INEXACT = [
    *("", "x", "[1]", "1", '{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}', '{"a": "\\ud800"}'),
    '{"a": ' + "1" * 4301 + "}",
    '{"a":' * 100_000,
]


def test_a_value_that_can_not_be_kept_exactly_is_refused(
    cli: Cli, subtests: pytest.Subtests
) -> None:
    for value in INEXACT:
        with subtests.test(value[:20]):
            refused = cli("set", "ns", "k", "-", stdin=value)
            assert refused.code == 2
            assert "VALUE" in refused.err
    assert cli("get", "ns", "k").code == 1


MISTAKES: list[list[str]] = [
    *([], ["nothing"], ["get"], ["set", "ns", "k"], ["query", "--limit", "0"]),
    ["set", "ns", "", "{}"],
    ["set", "ns", "k", "{}", "--version", "1", "--overwrite"],
    ["query", "--api-key", "am_x"],
    ["--timeout", "-1", "query"],
    ["query", "--updated-after", "yesterday"],
    ["import", "/nonexistent"],
    ["export", "-o", "/nonexistent/file"],
    ["import", "--on-conflict", "maybe"],
    ["query", "--tag", "a,b"],
    ["procedures", "types", "a/b"],
    ["objects", "list", "a/b"],
    ["import", "n" * 300],
]


def test_a_mistake_in_the_command_is_told(cli: Cli, subtests: pytest.Subtests) -> None:
    for arguments in MISTAKES:
        with subtests.test(" ".join(arguments)):
            told = cli(*arguments)
            assert told.code == 2
            assert told.err.startswith("agent-memory: error: ")
            assert told.out == ""
