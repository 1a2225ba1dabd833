"""The resources: an overview, and each memory by its namespace and key."""

import re
from urllib.parse import quote, unquote

import mcp_types as types
from pydantic import BaseModel

from agent_memory import AsyncClient
from agent_memory.exceptions import ValidationError
from agent_memory.mcp.schemas import ListEntries, Memory, MemoryPage, ReadEntry, Summarize
from agent_memory.mcp.tools import NothingThereError, list_entries, memory_summary, read_entry
from agent_memory.model import MemoryType

_ENTRIES = "memory://entries"
_SUMMARY = "memory://summary"
_JSON = "application/json"
_PAGE = 50
_CURSOR = re.compile(r"([01]):([!-~]{0,2048})")
_NO_PAGE = "no page has this cursor; list from the start"
_TIERS: tuple[MemoryType | None, ...] = (None, "semantic")  # private entries, then shared ones


class CursorError(Exception):
    """The message says that no page has the given cursor."""


OVERVIEW = [
    types.Resource(
        uri=_ENTRIES,
        name="entries",
        title="Your newest memories",
        description=f"The {_PAGE} newest memories of your own",
        mime_type=_JSON,
    ),
    types.Resource(
        uri=_SUMMARY,
        name="summary",
        title="Your memory in figures",
        description="The size of your memory, and the shared namespaces that you may read",
        mime_type=_JSON,
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{_ENTRIES}/{{namespace}}/{{key}}",
        name="entry",
        title="A memory",
        description="One memory by its namespace and key, your own or a shared one",
        mime_type=_JSON,
    )
]


def uri_of(namespace: str, key: str) -> str:
    """Return the URI of a memory; slashes in names are percent-encoded."""
    return f"{_ENTRIES}/{quote(namespace, safe='')}/{quote(key, safe='')}"


async def listed(client: AsyncClient, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of readable resources: the overview, private memories, then shared ones.

    Raises:
        CursorError: no page has this cursor.
    """
    tier, after = _parse_cursor(cursor)
    asked = ListEntries(memory_type=_TIERS[tier], limit=_PAGE, after=after)
    try:
        page = await list_entries(client, asked)
    except ValidationError:
        raise CursorError(_NO_PAGE) from None
    found = OVERVIEW if cursor is None else []
    return types.ListResourcesResult(
        resources=[*found, *map(_resource, page.memories)], next_cursor=_build_cursor(tier, page)
    )


def _parse_cursor(cursor: str | None) -> tuple[int, str | None]:
    """Return the tier of a page, and the position that it begins after."""
    if cursor is None:
        return 0, None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise CursorError(_NO_PAGE)
    return int(match[1]), match[2] or None


def _build_cursor(tier: int, page: MemoryPage) -> str | None:
    if page.next is not None:
        return f"{tier}:{page.next}"
    return f"{tier + 1}:" if tier + 1 < len(_TIERS) else None


def _resource(memory: Memory) -> types.Resource:
    tags = f", tagged {', '.join(memory.tags)}" if memory.tags else ""
    return types.Resource(
        uri=uri_of(memory.namespace, memory.key),
        name=f"{memory.namespace}/{memory.key}",
        description=f"{memory.memory_type} memory, version {memory.version}{tags}",
        mime_type=_JSON,
    )


async def read(client: AsyncClient, uri: str) -> types.ReadResourceResult:
    """Return a resource as JSON.

    Raises:
        NothingThereError: no resource has this URI.
    """
    found: BaseModel
    if uri == _ENTRIES:
        found = await list_entries(client, ListEntries(limit=_PAGE))
    elif uri == _SUMMARY:
        found = await memory_summary(client, Summarize())
    else:
        found = await read_entry(client, _entry_at(uri))
    text = found.model_dump_json()
    contents = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
    return types.ReadResourceResult(contents=[contents])


def _entry_at(uri: str) -> ReadEntry:
    try:
        namespace, key = uri.removeprefix(f"{_ENTRIES}/").split("/")
        return ReadEntry(
            namespace=unquote(namespace, errors="strict"), key=unquote(key, errors="strict")
        )
    except ValueError as error:
        raise NothingThereError(
            f"memories are at {TEMPLATES[0].uri_template}, with names percent-encoded"
        ) from error
