"""`agent-memory-mcp`: an MCP server in front of a memory service, over stdio or HTTP."""

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from agent_memory.mcp.keys import may_be_key
from agent_memory.settings import KEY, LOCAL_URL, URL, LocalService, find_local_service

_DESCRIPTION = """\
Lets MCP clients remember, say, recall, forget, and hand tasks over. Over stdio it acts under the
key in AGENT_MEMORY_API_KEY, or else as the service of its folder or of AGENT_MEMORY_DATA. With
--http, each client sends its own: `Authorization: Bearer KEY`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client or the user ends it; return the exit code of the process."""
    asked = _parser().parse_args(arguments)
    service = _find_service(asked.server_url)
    if not service.url.startswith(("http://", "https://")):
        return _refused("--server-url must be like https://memory.example.com")
    if not asked.http and not may_be_key(service.api_key):
        return _refused(f"set {KEY} to the key of the principal to act as")
    if find_spec("mcp") is None:  # an extra
        return _refused("`mcp` is missing; install the extra: pip install 'agent-memory[mcp]'")
    from agent_memory.mcp import logs  # noqa: PLC0415 - needs nothing, but comes with the rest

    logs.to_stderr()
    try:
        return _serve_http(asked, service) if asked.http else _serve_stdio(asked, service)
    except KeyboardInterrupt:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("agent-memory-mcp", description=_DESCRIPTION)
    url = os.environ.get(URL) or None
    parser.add_argument("--server-url", default=url, help=f"the memory service ({LOCAL_URL})")
    parser.add_argument(
        "--all-tools", action="store_true", help="also offer tools for entries and facts"
    )
    parser.add_argument("--http", action="store_true", help="streamable HTTP on 127.0.0.1")
    parser.add_argument("--port", type=int, default=8765, help="with --http; 0 takes a free one")
    parser.add_argument(
        "--allow-host", action="append", default=[], help="a proxy's name for this server"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], help="a web page that may use it"
    )
    return parser


def _find_service(url: str | None) -> LocalService:
    local = None if KEY in os.environ else find_local_service(os.environ)
    if local is not None and url in (None, local.url):
        return local
    return LocalService(url or LOCAL_URL, os.environ.get(KEY, "").strip())


def _serve_stdio(asked: argparse.Namespace, service: LocalService) -> int:
    import anyio  # noqa: PLC0415

    from agent_memory.mcp.server import serve_stdio  # noqa: PLC0415

    anyio.run(serve_stdio, *service, asked.all_tools)
    return 0


def _serve_http(asked: argparse.Namespace, service: LocalService) -> int:
    from agent_memory.mcp.http import HOST, PATH, app, serve  # noqa: PLC0415

    try:
        listener = socket.create_server((HOST, asked.port))
    except (OSError, OverflowError) as error:
        return _refused(f"can't listen on port {asked.port}: {error}")
    with listener:
        port = listener.getsockname()[1]
        _say(f"is ready at http://{HOST}:{port}{PATH}")
        application = app(
            service.url, asked.allow_host, asked.allow_origin, has_all_tools=asked.all_tools
        )
        serve(application, listener)
    return 0


def _refused(message: str) -> int:
    _say(message)
    return 2


def _say(message: str) -> None:
    """Tell the user; stdout belongs to the protocol."""
    sys.stderr.write(f"agent-memory-mcp: {message}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
