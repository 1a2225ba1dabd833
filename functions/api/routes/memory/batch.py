"""Many entries at once: written, and deleted by filters."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import entry_document
from functions.api.filters import FILTERS, NARROWING, filters_of
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.api.routes.memory.entry import MEMORY
from functions.entries.requests import BatchUpdate, NewEntry
from functions.identity.model import WRITE, Principal
from functions.platform.errors import BatchTooLarge, ValidationFailed
from functions.platform.limits import MAX_BATCH_ENTRIES
from functions.platform.models import validated


class Batch(BaseModel):
    """Body of `POST /api/v1/memory/batch`: what has a version updates, what has none creates."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[NewEntry | BatchUpdate] = Field(min_length=1, max_length=MAX_BATCH_ENTRIES)


class _Items(BaseModel):
    """The same before its items are looked at, so that each error names its item."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[dict[str, Any]] = Field(min_length=1)


def batch(call: Call, caller: Principal) -> Answer:
    asked = parsed(call, _Items).entries
    if len(asked) > MAX_BATCH_ENTRIES:
        raise BatchTooLarge(
            f"a batch holds {MAX_BATCH_ENTRIES} entries; split it",
            max=MAX_BATCH_ENTRIES,
            actual=len(asked),
        )
    items = [_item(index, each) for index, each in enumerate(asked)]
    entries = call.services.batches.write(caller, items, call.token(caller))
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
    return json_answer(200, {"deleted": call.services.batches.delete(caller, filters_of(call))})


ROUTES = [
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
]
