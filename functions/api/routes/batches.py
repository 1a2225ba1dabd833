"""Batches: many entries written, or deleted by filters, in one request (contract §4)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from functions.api.documents import entry_document
from functions.api.filters import FILTERS, NARROWING, filters_of
from functions.api.http import Request, Response, json_response
from functions.api.routing import Route
from functions.entries.requests import BatchUpdate, NewEntry
from functions.identity.model import WRITE, Principal
from functions.platform.errors import BatchTooLarge, ValidationFailed
from functions.platform.limits import MAX_BATCH_ENTRIES
from functions.platform.models import validated

_BATCH = "/api/v1/memory/batch"


class Batch(BaseModel):
    """Body of `POST /api/v1/memory/batch`: what has a version updates, what has none creates."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[NewEntry | BatchUpdate] = Field(min_length=1, max_length=MAX_BATCH_ENTRIES)


class _Items(BaseModel):
    """The same before its items are looked at, so that each error names its item."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[dict[str, Any]] = Field(min_length=1)


def write_batch(request: Request, caller: Principal) -> Response:
    asked = request.parse_body(_Items).entries
    if len(asked) > MAX_BATCH_ENTRIES:
        raise BatchTooLarge(
            f"a batch holds {MAX_BATCH_ENTRIES} entries; split it",
            max=MAX_BATCH_ENTRIES,
            actual=len(asked),
        )
    items = [_item(index, each) for index, each in enumerate(asked)]
    entries = request.services.batches.write(caller, items, request.idempotency_token(caller))
    return json_response(200, {"entries": [entry_document(entry) for entry in entries]})


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


def delete_batch(request: Request, caller: Principal) -> Response:
    if not request.query.keys() & set(NARROWING):
        raise ValidationFailed("query", f"needs at least one of {', '.join(NARROWING)}")
    return json_response(
        200, {"deleted": request.services.batches.delete(caller, filters_of(request))}
    )


ROUTES = [
    Route(
        "POST",
        _BATCH,
        write_batch,
        WRITE,
        "Create or update many entries atomically",
        {200: "EntryBatch"},
        request_model=Batch,
        error_statuses=(404, 409, 413, 429),
        idempotent=True,
        description="All or nothing; the first failure's problem says its `index`.",
    ),
    Route(
        "DELETE",
        _BATCH,
        delete_batch,
        WRITE,
        "Delete the entries that match",
        {200: "Deleted"},
        query=FILTERS,
        error_statuses=(409,),
        description="Only what you may write is deleted. Takes at least one parameter beside "
        "`agent_id`, `memory_type` and `pinned`.",
    ),
]
