"""Streamable HTTP: every request has its sender's key; this server has none."""

import json
import socket
from collections.abc import Sequence

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_memory.mcp.keys import may_be_key
from agent_memory.mcp.server import Context, MemoryServer

PATH = "/mcp"
HOST = "127.0.0.1"
_ADVICE = "send the API key of a principal of the memory service: `Authorization: Bearer KEY`"


class KeyRequired:
    """Rejects requests without a key with 401, before any other processing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or key_in(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        body = json.dumps({"error": "unauthenticated", "error_description": _ADVICE}).encode()
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def key_in(headers: Headers) -> str:
    """Return the key of a request, from either of the service's headers; empty if none."""
    key = headers.get("x-api-key", "").strip()
    if not key:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        key = given.strip() if scheme.lower() == "bearer" else ""
    return key if may_be_key(key) else ""


def _key_of(context: Context) -> str:
    return "" if context.request is None else key_in(context.request.headers)


def app(
    server_url: str,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    *,
    has_all_tools: bool = False,
) -> ASGIApp:
    """Return the ASGI application. It has no sessions that could be hijacked.

    Args:
        server_url: of the memory service.
        hosts: accepted host names besides this machine's own, such as a proxy's.
        origins: web pages besides this machine's own that may use it.
        has_all_tools: whether to offer the tools for entries, facts and conversations, too.
    """
    names = ("127.0.0.1", "localhost", "[::1]")
    security = TransportSecuritySettings(
        allowed_hosts=[*names, *(f"{name}:*" for name in names), *hosts],
        allowed_origins=[*(f"http://{name}:*" for name in names), *origins],
    )
    server = MemoryServer(server_url, _key_of, has_all_tools=has_all_tools).server()
    return KeyRequired(
        server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            transport_security=security,
        )
    )


def serve(application: ASGIApp, listener: socket.socket) -> None:
    """Serve until it is asked to stop."""
    config = uvicorn.Config(application, log_config=None, access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listener])
