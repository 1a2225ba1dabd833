"""Private spaces: the routes of objects below their owner's path."""

from dataclasses import replace
from functools import wraps
from typing import Any

from functions.api.http import Response
from functions.api.routes import objects, spaces
from functions.api.routing import Route

_SHARED, _PRIVATE = "/api/v1/objects/", "/api/v1/agents/{agent_id}/objects/"


def _make_private(route: Route) -> Route:
    @wraps(route.handler)
    def handle(*arguments: Any) -> Response:
        return route.handler(*arguments)

    handle.__name__ = f"{route.handler.__name__}_in_private_space"
    handle.__doc__ = (handle.__doc__ or "").replace(".", ", in a private space.", 1)
    return replace(route, operation=route.operation.replace(_SHARED, _PRIVATE), handler=handle)


ROUTES = [
    _make_private(route)
    for route in (*spaces.ROUTES, *objects.ROUTES)
    if _SHARED in route.operation
]
