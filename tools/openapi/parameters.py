"""The routes' parameters, as OpenAPI describes them (RFC-0015 §4.1)."""

from typing import Any

from functions.api.parameters import Parameter, TagsParameter
from functions.platform.limits import (
    MAX_ID_CHARACTERS,
    MAX_IDEMPOTENCY_KEY_CHARACTERS,
)

Json = dict[str, Any]


def describe_query_parameter(parameter: Parameter) -> Json:
    """Describe a query parameter."""
    described: Json = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": parameter.schema,
    }
    if isinstance(parameter, TagsParameter):
        described |= {"style": "form", "explode": False}
    return described


def describe_header(name: str, pattern: str | None, description: str) -> Json:
    """Describe a header of a request."""
    schema = {"type": "string"} | ({"pattern": pattern} if pattern else {})
    return {"name": name, "in": "header", "description": description, "schema": schema}


AGENT_ID = describe_header(
    "X-Agent-ID", r"^[^\x00-\x1f\x7f]+$", "Must be the id of the key's principal (or 403)."
)
IDEMPOTENCY_KEY = describe_header(
    "Idempotency-Key",
    rf"^[\x21-\x7e]{{1,{MAX_IDEMPOTENCY_KEY_CHARACTERS}}}$",
    "A retry with the same key and body is not carried out twice.",
)
IF_NONE_MATCH = describe_header(
    "If-None-Match", None, "An ETag; if it is the present one, the response is 304."
)
IF_MATCH = describe_header(
    "If-Match",
    r'^([0-9]{1,18}|"[0-9]{1,18}")$',
    'The version that was last read, as `3` or `"3"`.',
)

_PATH_DESCRIPTIONS = {
    "agent_id": "An agent's id.",
    "agent_type": "A type of agents: a label that does not limit access.",
    "coordinator_id": "A coordinator's id.",
    "fact_id": "A fact's id.",
    "instance_id": "An agent instance's id.",
    "intent_id": "An intent's id.",
    "key": "The key.",
    "memoryRef": "A memory's reference, from the start of a run.",
    "namespace": "A namespace's name.",
    "owner_id": "An owner's id.",
    "principal": "A principal's id.",
    "run_id": "A run's id.",
    "runId": "A run's id.",
    "space": "A space's name.",
    "session_id": "A conversation's session id.",
    "task_id": "A task's id.",
    "task_type": "A type of tasks.",
    "user_id": "A user's id.",
    "workflow_id": "A workflow's id.",
}


def describe_path_parameter(name: str, *, may_hold_slashes: bool) -> Json:
    """Describe a parameter of a path."""
    description = _PATH_DESCRIPTIONS.get(name, "The id.")
    if may_hold_slashes:
        description += " It may contain slashes."
    schema: Json = {"type": "string", "minLength": 1}
    if name == "principal":
        schema["maxLength"] = MAX_ID_CHARACTERS
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": schema,
    }
