"""What takes entries in a body: create, change, write many."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import entry_document
from functions.api.parsing import parsed
from functions.api.rooms.entries import entries
from functions.api.rooms.queries import batches
from functions.api.route import Route
from functions.api.routes.memory.entry import MEMORY, entry_answer
from functions.entries.bodies import BatchUpdate, EntryChange, NewEntry
from functions.entries.model import MOST_IN_BATCH
from functions.identity.model import WRITE, Principal
from functions.platform.errors import BatchTooLarge, ValidationFailed
from functions.platform.models import validated


class Batch(BaseModel):
    """Body of `POST /api/v1/memory/batch`: what has a version updates, what has none creates."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[NewEntry | BatchUpdate] = Field(min_length=1, max_length=MOST_IN_BATCH)


class _Items(BaseModel):
    """The same before its items are looked at, so that each error names its item."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[dict[str, Any]] = Field(min_length=1)


def create(call: Call, caller: Principal) -> Answer:
    entry = call.use(entries).create(caller, parsed(call, NewEntry), call.token(caller))
    return entry_answer(201, entry, location=f"{MEMORY}/{entry.id}")


def change(call: Call, caller: Principal) -> Answer:
    entry = call.use(entries).change(
        caller,
        call.names["id"],
        call.required_version,
        parsed(call, EntryChange),
        call.token(caller),
    )
    return entry_answer(200, entry)


def batch(call: Call, caller: Principal) -> Answer:
    asked = parsed(call, _Items).entries
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
]
