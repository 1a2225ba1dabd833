"""The response types mark every field that holds what somebody stored."""

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import orjson
from typing_extensions import is_typeddict

from functions.api.documents import find_value_fields, omit_values
from functions.api.http import Response
from functions.api.responses.entries import EntryPageDocument
from functions.api.route_index import list_routes
from functions.api.routes.messages import PoppedDocument

NO_VALUES = {
    "EventDocument.data",  # for readers of a log; values are in archived snapshots alone
    "TaskDocument.retry_policy",
    "TaskDocument.permissions",
    "TaskDocument.requires_tools",
    "AuditRecordDocument.before",
    "AuditRecordDocument.after",
    "RecallItemDocument.provenance",  # who stored it; the route needs memory.read anyway
    "RecallReferenceDocument.provenance",
}
"""Fields of any JSON that hold no value of memory."""


def holds_any_json(hint: Any) -> bool:
    """Return whether a type admits any JSON."""
    return hint in (Any, orjson.Fragment) or any(map(holds_any_json, get_args(hint)))


def list_fields(document_type: Any) -> Iterator[str]:
    """The fields of any JSON in a type that aren't marked, at any depth."""
    if not is_typeddict(document_type):
        for argument in get_args(document_type):
            yield from list_fields(argument)
        return
    marked = find_value_fields(document_type)
    for name, hint in get_type_hints(document_type, include_extras=True).items():
        if marked.get(name, ...) is None:
            continue
        if holds_any_json(hint):
            yield f"{document_type.__name__}.{name}"
        yield from list_fields(hint)


def test_every_field_of_any_json_is_marked_or_known_to_hold_no_value() -> None:
    found = {
        field
        for route in list_routes()
        for document_type in route.responses.values()
        for field in list_fields(document_type)
    }
    assert found <= NO_VALUES


def test_values_are_left_out_at_any_depth() -> None:
    page = {"entries": [{"key": "k", "value": {"a": 1}, "scope": {}}], "total": 1}
    bare = omit_values(Response(200, orjson.dumps(page)), EntryPageDocument)
    assert orjson.loads(bare.body) == {"entries": [{"key": "k", "scope": {}}], "total": 1}


def test_an_absent_document_stays_absent() -> None:
    popped = Response(200, orjson.dumps({"session_id": "s", "message": None}))
    assert omit_values(popped, PoppedDocument).body == popped.body
