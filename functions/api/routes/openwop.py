"""Memories of replayable runs, by OpenWOP RFC 0004."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Literal

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate_uncounted, render_page
from functions.api.parameters import (
    UNCOUNTED,
    UNCOUNTED_PAGE,
    VALUES_OF_ANSWER,
    ChoiceParameter,
    IntegerParameter,
    TextParameter,
    read_either,
)
from functions.api.responses.openwop import (
    FoundMemoryEntryDocument,
    MemoryEntryDeletedDocument,
    MemoryEntryDocument,
    MemoryEntryListDocument,
    MemoryListDocument,
    NamedMemoryDocument,
    SeenMemoryEntryListDocument,
    render_memory,
    render_memory_entry,
    render_seen_entry,
)
from functions.api.routing import RouteTable
from functions.identity.model import READ, WRITE, Principal
from functions.openwop.authority import DELETE_ENTRY
from functions.openwop.model import EntryListQuery, MemoryEntry
from functions.openwop.requests import NewMemory, NewMemoryEntry
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_PAGE_ITEMS, MAX_QUERY_CHARACTERS
from functions.platform.openwop_keys import parse_memory_entry_id
from functions.recall.tokens import count_tokens

ROUTES = RouteTable()
Rank = Literal["recency", "relevance"]
_SEEN = "/v1/runs/{runId}/entries"
_MEMORIES = "/v1/memories"
_MEMORY = "/v1/memory/{memoryRef+}"
_ENTRY = f"{_MEMORY}/{{id}}"
_RUN_ID = TextParameter(
    "runId", "A run on this memory; its snapshot is read. By default, the present entries are read."
)
_MEMORY_REF = TextParameter("memoryRef", "One of the run's memories; by default, the first one.")
_TAG = TextParameter("tag", "Only entries with this tag.")
_AFTER, _BEFORE = (
    TextParameter(
        name, meaning, pattern="mem_[0-9a-hjkmnp-tv-z]{22}", expected="is the id of an entry"
    )
    for name, meaning in (
        ("after", "The `next` of the previous page."),
        ("before", "Entries older than the one with this id; the same as `after`."),
    )
)
_LIMIT = IntegerParameter(
    "limit",
    "The maximum number of entries. 0 means as many as fit: {MAX_PAGE_ITEMS} or {MAX_PAGE_BYTES}.",
    0,
    MAX_PAGE_ITEMS,
    0,
)
_BUDGET = IntegerParameter(
    "tokenBudget",
    "The maximum number of tokens of all contents. Entries at the end are dropped.",
    1,
    10**9,
)
_RANK = ChoiceParameter[Rank](
    "rank",
    "`relevance` sorts by relevance to `query`, and returns only one page. Default: `recency`.",
    Rank,
)
_QUERY = TextParameter(
    "query", "The text that the contents are compared with.", MAX_QUERY_CHARACTERS
)
_LIST = (_LIMIT, _TAG, _AFTER, _BEFORE, UNCOUNTED, VALUES_OF_ANSWER)


@ROUTES.add(
    f"GET {_SEEN}",
    READ,
    {200: SeenMemoryEntryListDocument},
    query=(_MEMORY_REF, *_LIST),
    error_statuses=(404, 409),
)
def list_seen_entries(request: Request, caller: Principal) -> Response:
    """List the entries that a run sees or saw, with their authors and deletions.

    Newest first, for open and closed runs, while the snapshot is kept.
    """
    services, limit = request.services, _LIMIT.read(request)
    reference, found = services.memories.list_seen(
        caller, request.path_params["runId"], _MEMORY_REF.read(request), _query(request, limit)
    )
    seen, last_id = render_page(
        found,
        limit or MAX_PAGE_ITEMS,
        lambda entry: render_seen_entry(entry, reference),
        attrgetter("id"),
    )
    document = SeenMemoryEntryListDocument(entries=seen)
    if last_id is not None:
        document["next"] = last_id
    return json_response(200, document)


@ROUTES.add(f"GET {_MEMORIES}", READ, {200: MemoryListDocument}, query=UNCOUNTED_PAGE)
def list_memories(request: Request, caller: Principal) -> Response:
    """List your memories and those of your agent type, newest first.

    Lists memories that a run or a `POST` has used by name, except names that contain a secret of a
    run. Others' memories are never listed, because a reference is enough to use one.
    """
    services = request.services
    make = partial(services.memory_references.make_reference, caller.tenant)
    page, position = paginate_uncounted(
        request,
        caller,
        partial(services.memory_runs.list_memories, caller),
        lambda each: render_memory(each, make(each.memory)),
        lambda each: each.position,
    )
    return json_response(200, MemoryListDocument(memories=page, **position))


@ROUTES.add(f"POST {_MEMORIES}", READ, {200: NamedMemoryDocument})
def name_memory(request: Request, caller: Principal, new: NewMemory) -> Response:
    """Get the reference of your memory with this name, without a run.

    If you have an agent type, the memory belongs to the type. Repeating the request changes
    nothing.
    """
    services = request.services
    memory = services.memory_runs.name_memory(caller, new)
    reference = services.memory_references.make_reference(caller.tenant, memory)
    return json_response(200, NamedMemoryDocument(memoryRef=reference))


@ROUTES.add(
    f"GET {_ENTRY}",
    READ,
    {200: FoundMemoryEntryDocument},
    query=(_RUN_ID,),
    error_statuses=(404, 409),
)
def get_memory_entry(request: Request, caller: Principal) -> Response:
    """Get an entry of a snapshot."""
    entry = request.services.memories.get(
        caller, request.path_params["memoryRef"], request.path_params["id"], _RUN_ID.read(request)
    )
    if entry is None:
        message = "this memory shows no entry with this id here; list its entries"
        return json_response(404, {"error": "not_found", "message": message, "entry": None})
    return json_response(200, FoundMemoryEntryDocument(entry=render_memory_entry(entry)))


def _query(request: Request, limit: int) -> EntryListQuery:
    UNCOUNTED.read(request)
    return EntryListQuery(_TAG.read(request), _before(request), (limit or MAX_PAGE_ITEMS) + 1)


@ROUTES.add(
    f"DELETE {_ENTRY}",
    WRITE,
    {200: MemoryEntryDeletedDocument},
    query=(_RUN_ID,),
    error_statuses=(404, 409),
    audited=(DELETE_ENTRY,),
)
def delete_memory_entry(request: Request, caller: Principal) -> Response:
    """Delete an entry for all later runs.

    Kept snapshots still show it. After the last of them expires, it is removed from storage.
    """
    deleted = request.services.memories.delete(
        caller, request.path_params["memoryRef"], request.path_params["id"], _RUN_ID.read(request)
    )
    return json_response(200, MemoryEntryDeletedDocument(deleted=deleted))


@ROUTES.add(
    f"GET {_MEMORY}",
    READ,
    {200: MemoryEntryListDocument},
    query=(_RUN_ID, _BUDGET, _RANK, _QUERY, *_LIST),
    error_statuses=(404, 409),
)
def list_memory_entries(request: Request, caller: Principal) -> Response:
    """List the entries of a snapshot.

    Newest first. In a run, the list never changes, except for entries that expire. Without a run,
    the present entries are listed.
    """
    limit, query = _LIMIT.read(request), _read_ranking(request)
    reference = request.path_params["memoryRef"]
    asked = _query(request, 0 if query else limit)
    found = request.services.memories.list(caller, reference, _RUN_ID.read(request), asked)
    if query is not None:
        newest = list(islice(found, MAX_PAGE_ITEMS))
        ranked = request.services.memory_ranking.rank(caller.tenant, reference, query, newest)
        found = iter(ranked[: limit or MAX_PAGE_ITEMS])
    budget = _BUDGET.read(request)
    found, cut_after = _take_within(found, budget) if budget else (found, None)
    entries, last_id = render_page(
        found, limit or MAX_PAGE_ITEMS, render_memory_entry, attrgetter("id")
    )
    last_id = last_id or cut_after
    document = MemoryEntryListDocument(entries=entries)
    if last_id is not None and query is None:
        document["next"] = last_id
    return json_response(200, document)


def _read_ranking(request: Request) -> str | None:
    """Read the query of a ranked list; None for a list by time."""
    query, is_ranked = _QUERY.read(request), _RANK.read(request) == "relevance"
    if query is None and is_ranked:
        raise ValidationFailed("query", "rank=relevance needs a query")
    if query is not None and not is_ranked:
        raise ValidationFailed("rank", "must be relevance, with a query")
    if is_ranked and read_either(request, _AFTER, _BEFORE) is not None:
        raise ValidationFailed(
            "rank", "can't be combined with rank=relevance, which has only one page"
        )
    return query


def _take_within(
    entries: Iterator[MemoryEntry], budget: int
) -> tuple[Iterator[MemoryEntry], str | None]:
    """Take entries until the budget is reached.

    Returns:
        The entries, and the id of the last one if there are more.
    """
    taken: list[MemoryEntry] = []
    for entry in islice(entries, MAX_PAGE_ITEMS + 1):
        budget -= count_tokens(entry.content)
        if budget < 0:
            return iter(taken), taken[-1].id if taken else None
        taken.append(entry)
    return iter(taken), None


@ROUTES.add(
    f"POST {_MEMORY}",
    WRITE,
    {201: MemoryEntryDocument},
    error_statuses=(404, 409, 422),
    idempotent=True,
)
def put_memory_entry(request: Request, caller: Principal, new: NewMemoryEntry) -> Response:
    """Put an entry, with the secrets of the memory's open runs redacted.

    Each secret is replaced by `<REDACTED:label>` before anything is stored, or the entry is
    rejected if the run rejects secrets. Empty tags are dropped.
    """
    reference = request.path_params["memoryRef"]
    entry = request.services.memories.put(
        caller, reference, new, request.optional_idempotency_token(caller)
    )
    return json_response(201, render_memory_entry(entry))


def _before(request: Request) -> int | None:
    text = read_either(request, _AFTER, _BEFORE)
    if text is None:
        return None
    named = parse_memory_entry_id(text)
    if named is None:
        raise ValidationFailed(_BEFORE.name, _BEFORE.expected)
    return named[0]
