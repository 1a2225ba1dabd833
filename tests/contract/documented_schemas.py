"""Holds answers against the schemas of the OpenAPI document: their type, headers and fields."""

from datetime import timedelta
from functools import cache
from typing import Any

import httpx
import schemathesis

from tests.contract.documented import check_status, find_route, list_responses, read_document

_OPTIONAL = {"X-Hidden", "X-Next-Offset", "X-Next", "X-Total-Count"}
_OPTIONAL |= {"X-Object-Expires-At", "X-Object-Sensitivity"}


def _close(node: Any) -> Any:
    """A document in which no object holds more than its schema names."""
    if isinstance(node, list):
        return [_close(each) for each in node]
    if not isinstance(node, dict):
        return node
    inner = {name: _close(each) for name, each in node.items()}
    is_object = inner.get("type") == "object" and "properties" in inner
    return {"additionalProperties": False} | inner if is_object else inner


@cache
def _schema() -> Any:
    return schemathesis.openapi.from_dict(_close(read_document()))


def check_document(answer: httpx.Response) -> None:
    """Check that a route's answer has exactly the type, headers and fields of its status."""
    route = find_route(answer)
    if route is None:
        return
    check_status(answer)
    answer.elapsed = timedelta()  # validation asks for it; httpx sets it after the hooks
    _schema()[route.openapi_path][route.method].validate_response(answer)
    if answer.is_success:
        response = list_responses()[f"{route.method} {route.openapi_path}"][str(answer.status_code)]
        missing = {each for each in response["headers"] if each not in answer.headers}
        assert missing <= _OPTIONAL, route.operation
