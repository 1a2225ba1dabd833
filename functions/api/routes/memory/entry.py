"""One entry, by its id."""

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import entry_document
from functions.api.route import Route
from functions.entries.model import Entry
from functions.identity.model import READ, WRITE, Principal

MEMORY = "/api/v1/memory"


def get(call: Call, caller: Principal) -> Answer:
    entry = call.services.entries.get(caller, call.names["id"])
    if _unchanged(call.headers.get("if-none-match"), entry):
        return Answer(304, headers={"etag": _etag(entry)})
    return entry_answer(200, entry)


def delete(call: Call, caller: Principal) -> Answer:
    call.services.entries.delete(caller, call.names["id"], call.if_match)
    return Answer(204)


def entry_answer(status: int, entry: Entry, **headers: str) -> Answer:
    """An answer that shows an entry."""
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
        "GET",
        f"{MEMORY}/{{id}}",
        get,
        READ,
        "Get an entry",
        {200: "Entry", 304: None},
        also=(404,),
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
