"""What takes an entry in a body: create, change."""

from functions.api.call import Answer, Call
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.api.routes.memory.entry import MEMORY, entry_answer
from functions.entries.requests import EntryChange, NewEntry
from functions.identity.model import WRITE, Principal


def create(call: Call, caller: Principal) -> Answer:
    entry = call.services.entries.create(caller, parsed(call, NewEntry), call.token(caller))
    return entry_answer(201, entry, location=f"{MEMORY}/{entry.id}")


def change(call: Call, caller: Principal) -> Answer:
    entry = call.services.entries.change(
        caller,
        call.names["id"],
        call.required_version,
        parsed(call, EntryChange),
        call.token(caller),
    )
    return entry_answer(200, entry)


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
