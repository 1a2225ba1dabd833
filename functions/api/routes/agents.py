"""Agents' settings (contract §4)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.governing_documents import settings_document
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.entries.requests import AgentConfig
from functions.identity.model import ADMIN, Principal
from functions.platform.limits import MAX_ID_CHARACTERS


def configure(call: Call, caller: Principal) -> Answer:
    config, agent = parsed(call, AgentConfig), call.name("agent_id", MAX_ID_CHARACTERS)
    settings = call.services.agents.configure(caller, agent, config, call.token(caller))
    return json_answer(200, settings_document(settings))


ROUTES = [
    Route(
        "PATCH",
        "/api/v1/agents/{agent_id+}/memory/config",
        configure,
        ADMIN,
        "Set an agent's episodic capacity and pinned namespaces",
        {200: "AgentSettings"},
        body=AgentConfig,
        also=(409, 413),
        once=True,
    ),
]
