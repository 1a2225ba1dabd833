"""Search of entries by meaning."""

from functions.api.http import Request, Response, json_response
from functions.api.paging import truncate_to_limit
from functions.api.parameters import TOUCH, VALUES
from functions.api.responses.entries import SearchResultsDocument, render_search_result
from functions.api.routing import RouteTable
from functions.identity.model import READ, Principal
from functions.search.requests import MemorySearch

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

    Compares the query with the words of key, tags and value by meaning. The results have only
    entries that you may read, and no `confidential` or `restricted` ones. A new entry is found
    within two seconds; a deleted entry is never found.
    """
    has_value, is_touched = VALUES.read(request) is None, TOUCH.read(request) is not False
    found = request.services.search.search(caller, asked, is_touched=is_touched)
    rendered = (render_search_result(each, has_value=has_value) for each in found)
    return json_response(200, SearchResultsDocument(results=truncate_to_limit(rendered)))
