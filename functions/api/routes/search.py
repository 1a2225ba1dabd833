"""Search of memory by meaning (contract §8)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import Document, entry_document
from functions.api.paging import cut
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.identity.model import READ, Principal
from functions.search.model import Match
from functions.search.requests import MemorySearch


def memory(call: Call, caller: Principal) -> Answer:
    found = call.services.search.find(caller, parsed(call, MemorySearch))
    return json_answer(200, {"results": cut(map(_document, found))})


def _document(match: Match) -> Document:
    return {"entry": entry_document(match.entry), "score": match.score}


ROUTES = [
    Route(
        "POST",
        "/api/v1/memory/search",
        memory,
        READ,
        "Search entries by meaning",
        {200: "SearchResults"},
        body=MemorySearch,
    ),
]
