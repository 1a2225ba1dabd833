"""Working values of agents' instances (ADR-043 Tier 1; contract §8)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.parsing import parsed
from functions.api.procedure_documents import held_document, working_document
from functions.api.route import Route
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS
from functions.working_values.requests import NewWorkingValue

_WORKING = "/api/v1/instances/{instance_id}/working"
_VALUE = f"{_WORKING}/{{key+}}"


def put(call: Call, caller: Principal) -> Answer:
    new, (instance, key) = parsed(call, NewWorkingValue), _names(call)
    stored = call.services.working_values.put(caller, instance, key, new)
    return json_answer(200, working_document(instance, key, stored))


def get(call: Call, caller: Principal) -> Answer:
    instance, key = _names(call)
    found = call.services.working_values.get(caller, instance, key)
    return json_answer(200, working_document(instance, key, found))


def get_all(call: Call, caller: Principal) -> Answer:
    instance = call.name("instance_id", MAX_ID_CHARACTERS)
    return json_answer(
        200, held_document(instance, call.services.working_values.get_all(caller, instance))
    )


def delete(call: Call, caller: Principal) -> Answer:
    call.services.working_values.delete(caller, *_names(call))
    return Answer(204)


def _names(call: Call) -> tuple[str, str]:
    return call.name("instance_id", MAX_ID_CHARACTERS), call.name("key", MAX_NAME_CHARACTERS)


ROUTES = [
    Route(
        "PUT",
        _VALUE,
        put,
        WRITE,
        "Store a working value of an instance for an hour",
        {200: "WorkingValue"},
        body=NewWorkingValue,
        also=(413,),
    ),
    Route(
        "GET",
        _VALUE,
        get,
        READ,
        "Get a working value of an instance",
        {200: "WorkingValue"},
        also=(404,),
    ),
    Route(
        "DELETE",
        _VALUE,
        delete,
        WRITE,
        "Delete a working value of an instance",
        {204: None},
        also=(404,),
    ),
    Route(
        "GET",
        _WORKING,
        get_all,
        READ,
        "Get all working values of an instance",
        {200: "WorkingValues"},
    ),
]
