"""Working values of agents' instances (ADR-043 Tier 1)."""

from functions.api.http import Request, Response, json_response
from functions.api.responses.procedures import (
    WorkingValueDocument,
    WorkingValuesDocument,
    render_working_value,
    render_working_values,
)
from functions.api.routing import Route
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_NAME_CHARACTERS
from functions.working_values.requests import NewWorkingValue

_WORKING = "/api/v1/instances/{instance_id}/working"
_VALUE = f"{_WORKING}/{{key+}}"


def put_working_value(request: Request, caller: Principal) -> Response:
    new, (instance, key) = request.parse_body(NewWorkingValue), _names(request)
    stored = request.services.working_values.put(caller, instance, key, new)
    return json_response(200, render_working_value(instance, key, stored))


def get_working_value(request: Request, caller: Principal) -> Response:
    instance, key = _names(request)
    found = request.services.working_values.get(caller, instance, key)
    return json_response(200, render_working_value(instance, key, found))


def list_working_values(request: Request, caller: Principal) -> Response:
    instance = request.path_param("instance_id")
    found = request.services.working_values.get_all(caller, instance)
    return json_response(200, render_working_values(instance, found))


def delete_working_value(request: Request, caller: Principal) -> Response:
    request.services.working_values.delete(caller, *_names(request))
    return Response(204)


def _names(request: Request) -> tuple[str, str]:
    return request.path_param("instance_id"), request.path_param(
        "key", max_length=MAX_NAME_CHARACTERS
    )


ROUTES = [
    Route(
        f"PUT {_VALUE}",
        put_working_value,
        WRITE,
        "Store a working value of an instance",
        {200: WorkingValueDocument},
        request_model=NewWorkingValue,
        description="All values of an instance have 131,072 bytes together, as compact JSON.",
    ),
    Route(
        f"GET {_VALUE}",
        get_working_value,
        READ,
        "Get a working value of an instance",
        {200: WorkingValueDocument},
        error_statuses=(404,),
    ),
    Route(
        f"DELETE {_VALUE}",
        delete_working_value,
        WRITE,
        "Delete a working value of an instance",
        {204: None},
        error_statuses=(404,),
    ),
    Route(
        f"GET {_WORKING}",
        list_working_values,
        READ,
        "Get all working values of an instance",
        {200: WorkingValuesDocument},
    ),
]
