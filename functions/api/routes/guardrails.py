"""Coordinators' guardrails (contract §5)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.governing_documents import guardrails_document
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.identity.model import ADMIN, Principal
from functions.platform.limits import MAX_ID_CHARACTERS
from functions.tasks.guardrails import CoordinatorGuardrails
from functions.tasks.requests import GuardrailsChange

_GUARDRAILS = "/api/v1/coordinators/{coordinator_id+}/guardrails"


def get(call: Call, caller: Principal) -> Answer:
    return _answer(call.services.guarding.get(caller, _coordinator(call)))


def change(call: Call, caller: Principal) -> Answer:
    asked = parsed(call, GuardrailsChange).guardrails
    version, token = call.if_match, call.token(caller)
    return _answer(call.services.guarding.change(caller, _coordinator(call), asked, version, token))


def _coordinator(call: Call) -> str:
    return call.name("coordinator_id", MAX_ID_CHARACTERS)


def _answer(standing: CoordinatorGuardrails) -> Answer:
    return json_answer(200, guardrails_document(standing), etag=f'"{standing.version}"')


ROUTES = [
    Route(
        "GET",
        _GUARDRAILS,
        get,
        ADMIN,
        "Get a coordinator's guardrails",
        {200: "CoordinatorGuardrails"},
    ),
    Route(
        "PATCH",
        _GUARDRAILS,
        change,
        ADMIN,
        "Set a coordinator's guardrails",
        {200: "CoordinatorGuardrails"},
        body=GuardrailsChange,
        also=(409, 413),
        if_match="optional",
        once=True,
    ),
]
