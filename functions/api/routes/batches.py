"""Batches: many entries written, or deleted by filters, in one request."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import (
    Count,
)
from functions.api.filters import FILTERS, NARROWING, read_filters
from functions.api.http import Request, Response, json_response
from functions.api.responses.entries import EntryDocument, render_entry
from functions.api.routing import RouteTable
from functions.entries.authority import CHANGE_ENTRY, DELETE_ENTRY
from functions.entries.requests import BatchUpdate, NewEntry
from functions.identity.model import WRITE, Principal
from functions.namespaces.authority import CLAIM_NAMESPACE
from functions.platform.errors import BatchTooLarge, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.limits import MAX_BATCH_ENTRIES
from functions.platform.validation import RequestModel, validate


class EntryBatchDocument(TypedDict):
    """The entries of a batch, in its order."""

    entries: list[EntryDocument]


class DeletedDocument(TypedDict):
    """The number of deleted entries."""

    deleted: Count


ROUTES = RouteTable()

_BATCH = "/api/v1/memory/batch"


class Batch(RequestModel):
    """Body of `POST /api/v1/memory/batch`: items with a `version` update, the others create."""

    entries: list[NewEntry | BatchUpdate] = Field(min_length=1, max_length=MAX_BATCH_ENTRIES)
    """Creates and updates; an item with a `version` updates."""


class _Items(RequestModel):
    """A batch with items that are validated one by one, so that errors name the item."""

    entries: list[Any] = Field(min_length=1)


@ROUTES.add(
    f"POST {_BATCH}",
    WRITE,
    {200: EntryBatchDocument},
    request_model=Batch,
    error_statuses=(404, 409),
    idempotent=True,
    audited=(CHANGE_ENTRY, CLAIM_NAMESPACE),
)
def write_batch(request: Request, caller: Principal) -> Response:
    """Create or update many entries atomically.

    All or none are written. The error of the first failed item has its `index`.
    """
    asked = request.parse_body(_Items).entries
    if len(asked) > MAX_BATCH_ENTRIES:
        raise BatchTooLarge(
            f"a batch has at most {MAX_BATCH_ENTRIES} entries; split it",
            max=MAX_BATCH_ENTRIES,
            actual=len(asked),
        )
    items = [_item(index, each) for index, each in enumerate(asked)]
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    try:
        entries = request.services.batches.write(caller, items, token)
    except ValidationFailed as error:
        raise _name_item(error, error.index) from error
    return json_response(
        200, EntryBatchDocument(entries=[render_entry(entry) for entry in entries])
    )


_NAMES = {"id", "namespace", "key"}


def _item(index: int, asked: Any) -> NewEntry | BatchUpdate:
    try:
        if isinstance(asked, dict) and ("version" in asked or asked.keys() & _NAMES == {"id"}):
            return validate(BatchUpdate, asked)
        return validate(NewEntry, asked)
    except ValidationFailed as error:
        raise _name_item(error, index) from error


def _name_item(error: ValidationFailed, index: int | None) -> ValidationFailed:
    where = f"entries.{index}"
    errors = [
        (f"{where}.{e['field']}".removesuffix(".body"), e["message"])
        for e in error.members["errors"]
    ]
    return error if index is None else ValidationFailed(*errors[0], *errors[1:]).at(index)


@ROUTES.add(
    f"DELETE {_BATCH}",
    WRITE,
    {200: DeletedDocument},
    query=FILTERS,
    error_statuses=(409,),
    audited=(DELETE_ENTRY,),
)
def delete_batch(request: Request, caller: Principal) -> Response:
    """Delete the entries that match.

    Only entries that you may write are deleted. Needs at least one parameter besides `agent_id`,
    `memory_type` and `pinned`.
    """
    names = [parameter.name for parameter in NARROWING]
    if request.query.keys().isdisjoint(names):
        raise ValidationFailed("query", f"needs at least one of {', '.join(names)}")
    deleted = request.services.batches.delete(caller, read_filters(request))
    return json_response(200, DeletedDocument(deleted=deleted))
