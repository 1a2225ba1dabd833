"""Reads an OpenAPI document, and holds answers against it."""

from datetime import timedelta
from typing import Any

import httpx
import schemathesis

from functions.api.route_index import list_routes
from functions.api.routing import Router

Json = dict[str, Any]


def operations(document: Json) -> dict[str, Json]:
    """Each operation under its method and path."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


class Reader:
    """Checks that an answer has a documented status, and exactly that one's type and fields."""

    def __init__(self, document: Json) -> None:
        self._operations = operations(document)
        self._schema = schemathesis.openapi.from_dict(_closed(document))
        self._router = Router(list_routes())
        self.seen: set[str] = set()

    def __call__(self, answer: httpx.Response) -> None:
        method = answer.request.method
        route, _ = self._router.find(method, answer.request.url.path)
        path = route.openapi_path
        responses = self._operations[f"{method} {path}"]["responses"]
        assert str(answer.status_code) in responses, answer.text
        answer.elapsed = timedelta()  # validation asks for it; httpx sets it after the hooks
        self._schema[path][method].validate_response(answer)
        if answer.is_success:
            documented = responses[str(answer.status_code)]["headers"]
            optional = {"X-Hidden", "X-Next-Offset", "X-Next", "X-Total-Count"}
            optional |= {"X-Object-Expires-At", "X-Object-Sensitivity"}
            assert {each for each in documented if each not in answer.headers} <= optional
            self.seen.add(f"{method} {path}")


def _closed(node: Any) -> Any:
    """A document in which no object holds more than its schema names."""
    if isinstance(node, list):
        return [_closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    inner = {name: _closed(each) for name, each in node.items()}
    is_object = inner.get("type") == "object" and "properties" in inner
    return {"additionalProperties": False} | inner if is_object else inner
