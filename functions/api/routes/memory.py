"""Memory entries (contract §4)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from functions.api.call import Answer, Call, json_answer, validated
from functions.api.documents import entry_document, summary_document
from functions.api.filters import FILTERS, NARROWING, OF_AGENT, filters_of
from functions.api.paging import PAGE, cut, envelope, limits, position
from functions.api.rooms.entries import entries
from functions.api.rooms.queries import batches, queries, summaries
from functions.api.route import Route
from functions.entries.model import MOST_IN_BATCH, BatchUpdate, Entry, EntryChange, NewEntry
from functions.entries.query import Found
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import BatchTooLarge, ValidationFailed

MEMORY = "/api/v1/memory"


class Batch(BaseModel):
    """Body of `POST /api/v1/memory/batch`: what has a version updates, what has none creates."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[NewEntry | BatchUpdate] = Field(min_length=1, max_length=MOST_IN_BATCH)


class _Items(BaseModel):
    """The same before its items are looked at, so that each error names its item."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[dict[str, Any]] = Field(min_length=1)


def create(call: Call, caller: Principal) -> Answer:
    entry = call.use(entries).create(caller, call.parsed(NewEntry), call.token(caller))
    return _entry_answer(201, entry, location=f"{MEMORY}/{entry.id}")


def get(call: Call, caller: Principal) -> Answer:
    entry = call.use(entries).get(caller, call.names["id"])
    if _unchanged(call.headers.get("if-none-match"), entry):
        return Answer(304, headers={"etag": _etag(entry)})
    return _entry_answer(200, entry)


def change(call: Call, caller: Principal) -> Answer:
    entry = call.use(entries).change(
        caller,
        call.names["id"],
        call.required_version,
        call.parsed(EntryChange),
        call.token(caller),
    )
    return _entry_answer(200, entry)


def delete(call: Call, caller: Principal) -> Answer:
    call.use(entries).delete(caller, call.names["id"], call.if_match)
    return Answer(204)


def query(call: Call, caller: Principal) -> Answer:
    limit, offset = limits(call)
    found = call.use(queries).find(caller, filters_of(call))
    page, taken = _page(call, caller, found, limit, offset)
    return json_answer(200, envelope("entries", page, found.total, limit, offset, taken))


def of_agent(call: Call, caller: Principal) -> Answer:
    limit, offset = limits(call)
    found = call.use(queries).find(caller, filters_of(call, call.names["agent_id"]))
    page, taken = _page(call, caller, found, limit, offset)
    return json_answer(200, page, **position(found.total, offset, taken))


def _page(
    call: Call, caller: Principal, found: Found, limit: int, offset: int
) -> tuple[list[Any], int]:
    """A page's documents, and how many of what was found they account for."""
    entries = call.use(queries).page(caller, found, offset, limit)
    page = cut(map(entry_document, entries))
    if len(page) < len(entries):
        taken = found.orders.index(entries[len(page)].order) - offset
    else:
        taken = min(limit, max(found.total - offset, 0))
    return page, taken


def batch(call: Call, caller: Principal) -> Answer:
    asked = call.parsed(_Items).entries
    if len(asked) > MOST_IN_BATCH:
        raise BatchTooLarge(
            f"a batch holds {MOST_IN_BATCH} entries; split it",
            max=MOST_IN_BATCH,
            actual=len(asked),
        )
    items = [_item(index, each) for index, each in enumerate(asked)]
    entries = call.use(batches).write(caller, items, call.token(caller))
    return json_answer(200, {"entries": [entry_document(entry) for entry in entries]})


def _item(index: int, asked: dict[str, Any]) -> NewEntry | BatchUpdate:
    try:
        if "version" in asked:
            return validated(BatchUpdate, asked)
        return validated(NewEntry, asked)
    except ValidationFailed as error:
        where = f"entries.{index}"
        errors = [(f"{where}.{e['field']}", e["message"]) for e in error.members["errors"]]
        named = ValidationFailed(*errors[0], *errors[1:])
        named.index = index
        raise named from error


def delete_batch(call: Call, caller: Principal) -> Answer:
    if not call.query.keys() & set(NARROWING):
        raise ValidationFailed("query", f"needs at least one of {', '.join(NARROWING)}")
    return json_answer(200, {"deleted": call.use(batches).delete(caller, filters_of(call))})


def summary(call: Call, caller: Principal) -> Answer:
    return json_answer(
        200, summary_document(call.use(summaries).of(caller, call.names["agent_id"]))
    )


def _entry_answer(status: int, entry: Entry, **headers: str) -> Answer:
    return json_answer(status, entry_document(entry), etag=_etag(entry), **headers)


def _etag(entry: Entry) -> str:
    return f'"{entry.version}"'


def _unchanged(if_none_match: str | None, entry: Entry) -> bool:
    if if_none_match is None:
        return False
    given = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in given or _etag(entry) in given


ROUTES = [
    Route(
        "POST",
        MEMORY,
        create,
        WRITE,
        "Create an entry",
        {201: "Entry"},
        body=NewEntry,
        also=(404, 409, 413, 429),
        once=True,
    ),
    Route("GET", MEMORY, query, READ, "Query entries", {200: "EntryPage"}, query=(*FILTERS, *PAGE)),
    Route(
        "POST",
        f"{MEMORY}/batch",
        batch,
        WRITE,
        "Create or update many entries atomically",
        {200: "EntryBatch"},
        body=Batch,
        also=(404, 409, 413, 429),
        once=True,
    ),
    Route(
        "DELETE",
        f"{MEMORY}/batch",
        delete_batch,
        WRITE,
        "Delete the entries that match",
        {200: "Deleted"},
        query=FILTERS,
        also=(409,),
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/memory/summary",
        summary,
        READ,
        "An agent's memory in figures",
        {200: "Summary"},
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/memory",
        of_agent,
        READ,
        "Query an agent's entries, as a bare array",
        {200: "Entries"},
        query=(*OF_AGENT, *PAGE),
    ),
    Route(
        "GET",
        f"{MEMORY}/{{id}}",
        get,
        READ,
        "Get an entry",
        {200: "Entry", 304: None},
        also=(404,),
    ),
    Route(
        "PATCH",
        f"{MEMORY}/{{id}}",
        change,
        WRITE,
        "Change an entry",
        {200: "Entry"},
        body=EntryChange,
        also=(404, 409, 413, 428, 429),
        if_match="required",
        once=True,
    ),
    Route(
        "DELETE",
        f"{MEMORY}/{{id}}",
        delete,
        WRITE,
        "Delete an entry",
        {204: None},
        also=(404, 409),
        if_match="optional",
    ),
]
