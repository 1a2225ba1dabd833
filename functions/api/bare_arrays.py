"""Lists whose answer is a bare array, as published clients read them."""

from typing import Any

from functions.api.http import Request, Response, json_response
from functions.api.parameters import ARRAY_LIMIT
from functions.api.responses.types import PagePosition
from functions.platform.errors import PageTooLarge

BARE_ARRAY_HEADERS = ("X-Total-Count", "X-Next-Offset", "X-Next", "X-Hidden")


def bare_array_response(
    request: Request, page: list[Any], position: PagePosition, available: int
) -> Response:
    """Make a response whose body is a bare array; its position is in headers.

    Args:
        request: asks for it; without a limit, for the whole list.
        page: the elements that fit into a response.
        position: where in the list they are.
        available: how many there are for the page.
    """
    fitting = len(page)
    is_whole = "next" not in position or ARRAY_LIMIT.text(request) is not None
    if fitting < available or not is_whole:
        limit = max(fitting, 1)
        raise PageTooLarge(
            f"the page is too large for a response; ask for limit={limit}", limit=limit
        )
    named = {
        "x_total_count": position.get("total"),
        "x_next_offset": position.get("next_offset"),
        "x_next": position.get("next"),
        "x_hidden": "true" if "hidden" in position else None,
    }
    headers = {name: str(value) for name, value in named.items() if value is not None}
    return json_response(200, page, **headers)
