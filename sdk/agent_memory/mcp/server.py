"""The MCP server: who calls what, and what the answer is if it fails."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from pydantic import BaseModel, ValidationError

from agent_memory import AsyncClient
from agent_memory.exceptions import AgentMemoryError
from agent_memory.mcp import resources
from agent_memory.mcp.explain import failed, invalid
from agent_memory.mcp.resources import CursorError
from agent_memory.mcp.schemas import Arguments
from agent_memory.mcp.tools import TOOLS, NothingThereError, Tool

Context = ServerRequestContext[httpx.AsyncBaseTransport]
KeyOf = Callable[[Context], str]
_Paged = types.PaginatedRequestParams | None
_T = TypeVar("_T")

_INSTRUCTIONS = """\
A memory that outlives this conversation, shared with other agents where you say so.

Before you start, look for what you know of the matter: `search_memories` finds your own and the \
shared memories by meaning, names and ids; `recall_facts` finds what the team knows; \
`list_conversations` and `read_conversation` show what a user said before. Use `recall` and \
`list_memories` where you know the namespace.

When you have learned something worth keeping, keep it at once, in the user's words:
- one short statement that holds for everybody: `learn_fact`
- all else: `remember`, plain text or JSON, under a namespace (the topic) and a key (its name); \
`memory_type` says whether it is for you (`episodic`), for a task in progress (`working`) or for \
all (`semantic`)
- what was said in a session that others will continue with: `append_message`

To correct a memory, `update` it with the version that you saw, so that nothing which others wrote \
meanwhile is lost; to remove it, `forget` it. Don't keep passwords, keys or other secrets."""
_TIMEOUT, _RETRIES = 15.0, 2  # seconds; MCP clients mostly wait for a minute
_UNFORESEEN = (
    "the answer of the memory service makes no sense; a change that you asked for may have been "
    "made, so look before you try again"
)
_log = logging.getLogger(__name__)


class _Pool(httpx.AsyncBaseTransport):
    """Connections that outlive the clients that use them."""

    def __init__(self, transport: httpx.AsyncHTTPTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._transport.handle_async_request(request)


class MemoryServer:
    """The handlers of an MCP server in front of a memory service.

    Args:
        server_url: where the memory service is.
        key_of: the API key of who sends a message.
    """

    def __init__(self, server_url: str, key_of: KeyOf) -> None:
        self._server_url = server_url
        self._key_of = key_of

    @asynccontextmanager
    async def _connections(self, _server: object) -> AsyncIterator[httpx.AsyncBaseTransport]:
        async with httpx.AsyncHTTPTransport(proxy=_proxy(self._server_url)) as transport:
            yield _Pool(transport)

    def server(self) -> Server[httpx.AsyncBaseTransport]:
        """Return the server, for any transport."""
        return Server(
            "agent-memory",
            version=version("agent-memory"),
            title="Agent memory",
            instructions=_INSTRUCTIONS,
            lifespan=self._connections,
            on_list_tools=_list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=self._read_resource,
        )

    def _client(self, context: Context) -> AsyncClient:
        """Return a client under the caller's own key; none is kept for the next message."""
        return AsyncClient(
            self._server_url,
            self._key_of(context),
            timeout=_TIMEOUT,
            max_retries=_RETRIES,
            transport=context.lifespan_context,
        )

    async def _call_tool(
        self, context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = TOOLS.get(asked.name)
        if tool is None:
            return _refusal(f"there is no such tool; there are {', '.join(TOOLS)}")
        try:
            arguments = tool.arguments.model_validate(asked.arguments or {})
        except ValidationError as error:
            return _refusal(invalid(error))
        return await self._run(context, tool, arguments)

    async def _run(self, context: Context, tool: Tool, asked: Arguments) -> types.CallToolResult:
        try:
            async with self._client(context) as client:
                return _result(await tool.run(client, asked))
        except AgentMemoryError as error:
            return _refusal(failed(error))
        except NothingThereError as error:
            return _refusal(str(error))
        except Exception:  # noqa: BLE001 - the client gets an error, and nothing of what it says
            _log.exception("a tool failed")
            return _refusal(_UNFORESEEN)

    async def _list_resources(self, context: Context, asked: _Paged) -> types.ListResourcesResult:
        cursor = None if asked is None else asked.cursor
        return await self._resource(context, lambda client: resources.listed(client, cursor))

    async def _read_resource(
        self, context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await self._resource(context, lambda client: resources.read(client, asked.uri))

    async def _resource(self, context: Context, take: Callable[[AsyncClient], Awaitable[_T]]) -> _T:
        try:
            async with self._client(context) as client:
                return await take(client)
        except AgentMemoryError as error:
            raise MCPError(types.INTERNAL_ERROR, failed(error)) from None
        except (NothingThereError, CursorError) as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except Exception:  # noqa: BLE001 - likewise
            _log.exception("a resource failed")
            raise MCPError(types.INTERNAL_ERROR, _UNFORESEEN) from None


async def serve_stdio(server_url: str, api_key: str) -> None:
    """Serve the client at stdin and stdout, under one key, until it goes away."""
    server = MemoryServer(server_url, lambda _context: api_key).server()
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment prescribes for a URL."""
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


async def _list_tools(_context: Context, _asked: _Paged) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[tool.described(name) for name, tool in TOOLS.items()])


async def _list_templates(_context: Context, _asked: _Paged) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)


def _result(result: BaseModel) -> types.CallToolResult:
    text = types.TextContent(type="text", text=result.model_dump_json())
    return types.CallToolResult(content=[text], structured_content=result.model_dump(mode="json"))


def _refusal(message: str) -> types.CallToolResult:
    text = types.TextContent(type="text", text=message)
    return types.CallToolResult(content=[text], is_error=True)
