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
    "runId", "A run on this memory; its snapshot shows. The present unless given."
)
_MEMORY_REF = TextParameter("memoryRef", "Which of the run's memories; the first one unless given.")
_TAG = TextParameter("tag", "Entries that have this tag.")
_AFTER, _BEFORE = (
    TextParameter(
        name, meaning, pattern="mem_[0-9a-hjkmnp-tv-z]{22}", expected="is the id of an entry"
    )
    for name, meaning in (
        ("after", "Where the page begins: the `next` of the page before."),
        ("before", "Entries older than the one with this id; the same as `after`."),
    )
)
_LIMIT = IntegerParameter(
    "limit",
    "How many to answer at most; 0 is no limit of yours, and {MAX_PAGE_ITEMS} or {MAX_PAGE_BYTES}.",
    0,
    MAX_PAGE_ITEMS,
    0,
)
_BUDGET = IntegerParameter(
    "tokenBudget",
    "Answer the beginning of the list whose contents have this many tokens at most.",
    1,
    10**9,
)
_RANK = ChoiceParameter[Rank](
    "rank",
    "`relevance` sorts by how well the contents fit `query`, without further pages; `recency` is "
    "the default.",
    Rank,
)
_QUERY = TextParameter("query", "What the contents are compared with.", MAX_QUERY_CHARACTERS)
_LIST = (_LIMIT, _TAG, _AFTER, _BEFORE, UNCOUNTED, VALUES_OF_ANSWER)


@ROUTES.add(
    f"GET {_SEEN}",
    READ,
    {200: SeenMemoryEntryListDocument},
    query=(_MEMORY_REF, *_LIST),
    error_statuses=(404, 409),
)
def list_seen_entries(request: Request, caller: Principal) -> Response:
    """List what a run sees or saw, with who put each entry and when it was deleted.

    Newest first, of open and closed runs, as long as the snapshot is kept.
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
    """List your memories and those of your agent type, the last one first.

    Each that a run has named, or a call of `POST`, but those whose names hold a secret of a
    run. Others' are in no list, since who holds the reference of one may use it.
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


@ROUTES.add(f"POST {_MEMORIES}", READ, {200: NamedMemoryDocument}, request_model=NewMemory)
def name_memory(request: Request, caller: Principal) -> Response:
    """Get the reference of your memory of this name, without a run.

    That of your agent type, if you have one. Again changes nothing.
    """
    services = request.services
    memory = services.memory_runs.name_memory(caller, request.parse_body(NewMemory))
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
    """Get an entry that a snapshot shows."""
    entry = request.services.memories.get(
        caller, request.path_params["memoryRef"], request.path_params["id"], _RUN_ID.read(request)
    )
    if entry is None:
        message = "no entry that shows here has this id"
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

    Snapshots that are kept continue showing it; after the last of them it leaves the storage.
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
    """List what a snapshot shows.

    Newest first. In a run it is always the same, but for entries that expire; without one it is
    what there is now.
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
        raise ValidationFailed("rank", "send rank=relevance with a query")
    if is_ranked and read_either(request, _AFTER, _BEFORE) is not None:
        raise ValidationFailed("rank", "a list by relevance has no further pages")
    return query


def _take_within(
    entries: Iterator[MemoryEntry], budget: int
) -> tuple[Iterator[MemoryEntry], str | None]:
    """Take entries until the next one would exceed the budget.

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
    request_model=NewMemoryEntry,
    error_statuses=(404, 409, 422),
    idempotent=True,
)
def put_memory_entry(request: Request, caller: Principal) -> Response:
    """Put an entry, clean of the secrets of the memory's open runs.

    Each secret is replaced by `<REDACTED:label>` before anything is stored, or refused if the
    run that puts rejects secrets. Empty tags are dropped.
    """
    new = request.parse_body(NewMemoryEntry)
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
