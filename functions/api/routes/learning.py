"""Strategies that learn from conversations."""

from functools import partial
from operator import attrgetter
from urllib.parse import quote

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate_uncounted
from functions.api.parameters import UNCOUNTED_PAGE
from functions.api.responses.learning import (
    StrategyDocument,
    StrategyPageDocument,
    StrategyStatusDocument,
    render_status,
    render_strategy,
)
from functions.api.routing import RouteTable
from functions.identity.model import ADMIN, READ, Principal
from functions.learning.authority import CHANGE_STRATEGY, DELETE_STRATEGY
from functions.learning.requests import NewStrategy

ROUTES = RouteTable()
_STRATEGIES = "/api/v1/strategies"
_STRATEGY = f"{_STRATEGIES}/{{name}}"


@ROUTES.add(f"GET {_STRATEGIES}", READ, {200: StrategyPageDocument}, query=UNCOUNTED_PAGE)
def list_strategies(request: Request, caller: Principal) -> Response:
    """List the strategies that learn from conversations."""
    read = partial(request.services.strategies.list_all, caller)
    page, position = paginate_uncounted(request, caller, read, render_strategy, attrgetter("name"))
    return json_response(200, StrategyPageDocument(strategies=page, **position))


@ROUTES.add(
    f"PUT {_STRATEGY}",
    ADMIN,
    {200: StrategyDocument, 201: StrategyDocument},
    error_statuses=(404, 409, 429),
    if_match="optional",
    audited=(CHANGE_STRATEGY,),
)
def put_strategy(request: Request, caller: Principal, new: NewStrategy) -> Response:
    """Create or change a strategy.

    A changed strategy has a new version. It reads the messages that the former version has not
    read. Repeating the request changes nothing.
    """
    name = request.path_param("name")
    stored, is_new = request.services.strategies.put(caller, name, new, request.if_match)
    response = json_response(201 if is_new else 200, render_strategy(stored), stored.version)
    if is_new:
        response.headers["location"] = f"{_STRATEGIES}/{quote(name, safe='')}"
    return response


@ROUTES.add(f"GET {_STRATEGY}", READ, {200: StrategyDocument})
def get_strategy(request: Request, caller: Principal) -> Response:
    """Get a strategy."""
    found = request.services.strategies.get(caller, request.path_param("name"))
    return json_response(200, render_strategy(found), found.version)


@ROUTES.add(
    f"DELETE {_STRATEGY}", ADMIN, {204: None}, if_match="optional", audited=(DELETE_STRATEGY,)
)
def delete_strategy(request: Request, caller: Principal) -> Response:
    """Delete a strategy; the memory that it has learned stays."""
    request.services.strategies.delete(caller, request.path_param("name"), request.if_match)
    return Response(204)


@ROUTES.add(f"GET {_STRATEGY}/status", READ, {200: StrategyStatusDocument}, response_headers=())
def get_strategy_status(request: Request, caller: Principal) -> Response:
    """Get the progress of a strategy.

    `budget` is the tenant's, for all of its strategies.
    """
    status = request.services.strategies.get_status(caller, request.path_param("name"))
    return json_response(200, render_status(status))
