"""Working values of agents' instances (ADR-043 Tier 1)."""

from typing import Annotated, NotRequired

import orjson
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonValue,
    Timestamp,
    to_document,
)
from functions.api.http import Request, Response, json_response
from functions.api.routing import RouteTable
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_INSTANCE_BYTES, MAX_NAME_CHARACTERS
from functions.working_values.model import NewWorkingValue, WorkingValue, total_bytes


class WorkingValueDocument(TypedDict):
    """A working value of an instance."""

    instance_id: str
    """The instance of the agent."""
    key: str
    value: NotRequired[Annotated[JsonValue, VALUE]]
    updated_at: Timestamp
    expires_at: Timestamp
    """The time of its expiry. It is not found afterwards."""


class WorkingValuesDocument(TypedDict):
    """All working values of an instance, by their keys."""

    instance_id: str
    """The instance of the agent."""
    values: NotRequired[Annotated[dict[str, JsonValue], VALUE]]
    total_bytes: Count
    max_bytes: Count


def render_working_value(instance: str, key: str, value: WorkingValue) -> WorkingValueDocument:
    """Render a working value; the stored value is copied without parsing."""
    return to_document(value, WorkingValueDocument, instance_id=instance, key=key)


ROUTES = RouteTable()

_WORKING = "/api/v1/instances/{instance_id}/working"

_VALUE = f"{_WORKING}/{{key+}}"


@ROUTES.add(f"PUT {_VALUE}", WRITE, {200: WorkingValueDocument}, error_statuses=())
def put_working_value(request: Request, caller: Principal, new: NewWorkingValue) -> Response:
    """Store a working value of an instance.

    All values of an instance together have at most {MAX_INSTANCE_BYTES} of compact JSON.
    """
    (instance, key) = _names(request)
    stored = request.services.working_values.put(caller, instance, key, new)
    return json_response(200, render_working_value(instance, key, stored))


@ROUTES.add(f"GET {_VALUE}", READ, {200: WorkingValueDocument})
def get_working_value(request: Request, caller: Principal) -> Response:
    """Get a working value of an instance."""
    instance, key = _names(request)
    found = request.services.working_values.get(caller, instance, key)
    return json_response(200, render_working_value(instance, key, found))


@ROUTES.add(f"DELETE {_VALUE}", WRITE, {204: None})
def delete_working_value(request: Request, caller: Principal) -> Response:
    """Delete a working value of an instance."""
    request.services.working_values.delete(caller, *_names(request))
    return Response(204)


@ROUTES.add(f"GET {_WORKING}", READ, {200: WorkingValuesDocument})
def list_working_values(request: Request, caller: Principal) -> Response:
    """Get all working values of an instance."""
    instance = request.path_param("instance_id")
    found = request.services.working_values.get_all(caller, instance)
    document: WorkingValuesDocument = {
        "instance_id": instance,
        "values": {key: orjson.Fragment(value.value) for key, value in sorted(found.items())},
        "total_bytes": total_bytes(found),
        "max_bytes": MAX_INSTANCE_BYTES,
    }
    return json_response(200, document)


def _names(request: Request) -> tuple[str, str]:
    return request.path_param("instance_id"), request.path_param(
        "key", max_length=MAX_NAME_CHARACTERS
    )
