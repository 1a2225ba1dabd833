"""`agent-memory-mcp` as a child process, and the official client in front of it."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

COMMAND = (sys.executable, "-m", "agent_memory.mcp")
PATIENCE = 60.0  # seconds; far more than anything here takes
Json = dict[str, Any]


@dataclass(frozen=True)
class Talk:
    """One client's conversation with the MCP server."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> Json:
        """A tool's structured answer; it must be what its text says, too."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, said(result)
        assert isinstance(result.structured_content, dict)
        assert json.loads(said(result)) == result.structured_content
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        assert result.structured_content is None
        return said(result)


def said(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without settings of the memory service, and with these."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("AGENT_MEMORY_")}
    return inherited | variables


@asynccontextmanager
async def over_stdio(
    url: str,
    key: str,
    errlog: TextIO | None = None,
    mode: str = "auto",
    options: Sequence[str] = ("--all-tools",),
) -> AsyncIterator[Talk]:
    """A separate server process, which acts under this key."""
    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], *options],
        env=environment(AGENT_MEMORY_URL=url, AGENT_MEMORY_API_KEY=key),
    )
    transport = stdio_client(server, errlog=errlog or sys.stderr)
    async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
        yield Talk(client)


@asynccontextmanager
async def over_http(endpoint: str, key: str, mode: str = "auto") -> AsyncIterator[Talk]:
    """A client of a running server, which sends this key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http:
        transport = streamable_http_client(endpoint, http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
            yield Talk(client)


@dataclass(frozen=True)
class HttpServer:
    """A running `agent-memory-mcp --http`."""

    endpoint: str
    process: subprocess.Popen[str]

    def end(self, by: signal.Signals) -> None:
        self.process.send_signal(by)
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert (output, "Traceback" in errors) == ("", False)
        assert self.process.returncode in (0, -by)


@contextmanager
def http_server(url: str, *options: str, **variables: str) -> Iterator[HttpServer]:
    """Starts `agent-memory-mcp --http` on a free port; it is killed at the end if it still runs."""
    process = subprocess.Popen(
        [*COMMAND, "--http", "--port", "0", "--server-url", url, "--all-tools", *options],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield HttpServer(_endpoint(process), process)
    finally:
        process.kill()
        process.communicate()


def _endpoint(process: "subprocess.Popen[str]") -> str:
    """The address that the server prints when it is ready."""
    assert process.stderr is not None
    impatient = threading.Timer(PATIENCE, process.kill)
    impatient.start()
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "is ready at" in line:
            impatient.cancel()
            return line.split()[-1]
    raise AssertionError("".join(lines))


@contextmanager
def kept_stderr() -> Iterator[TextIO]:
    """A file for what a child process prints."""
    with (
        TemporaryDirectory() as folder,
        (Path(folder) / "stderr").open("w+", encoding="utf-8") as file,
    ):
        yield file
