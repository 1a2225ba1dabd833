"""Search of entries by meaning."""

from typing_extensions import TypedDict

from functions.api.http import Request, Response, json_response
from functions.api.paging import truncate_to_limit
from functions.api.parameters import TOUCH, VALUES
from functions.api.responses.entries import EntryDocument, render_entry
from functions.api.routing import RouteTable
from functions.identity.model import READ, Principal
from functions.search.requests import MemorySearch


class SearchResultDocument(TypedDict):
    """An entry that a search found."""

    entry: EntryDocument
    score: float
    """The relevance: 1 for the same words; for a search by vector, the cosine. Compare scores only
    within one response."""
    matched: list[str]
    """The words and ids of the query that the entry has, without case and accents."""


class SearchResultsDocument(TypedDict):
    """The results of a search, best first."""

    results: list[SearchResultDocument]


ROUTES = RouteTable()


@ROUTES.add(
    "POST /api/v1/memory/search",
    READ,
    {200: SearchResultsDocument},
    query=(VALUES, TOUCH),
    is_query=True,
)
def search_entries(request: Request, caller: Principal, asked: MemorySearch) -> Response:
    """Search entries by meaning.

    Compares the query with key, tags and value by meaning and by words. Results are entries that
    you may read, without `confidential` and `restricted` ones. A new entry is found within two
    seconds; a deleted entry is never found.
    """
    has_value, is_touched = VALUES.read(request) is None, TOUCH.read(request) is not False
    found = request.services.search.search(caller, asked, is_touched=is_touched)
    results: list[SearchResultDocument] = truncate_to_limit(
        {
            "entry": render_entry(each.element, has_value=has_value),
            "score": each.score,
            "matched": each.matched,
        }
        for each in found
    )
    return json_response(200, SearchResultsDocument(results=results))
