"""Contract §6: the OpenAPI document tells the truth, and is made when it is asked for."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import schemathesis

from functions.api.paths import every_route
from functions.platform.errors import ERROR_CODES
from tests.unit.api.reading import Json, operations

_ROOT = Path(__file__).parents[3]

CONTRACT = """
POST /api/v1/tenants
POST /api/v1/principals
GET /api/v1/principals
GET /api/v1/me
DELETE /api/v1/principals/{id}
POST /api/v1/principals/{id}/rotate
POST /api/v1/memory
PATCH /api/v1/memory/{id}
DELETE /api/v1/memory/{id}
GET /api/v1/memory
GET /api/v1/memory/{id}
GET /api/v1/agents/{agent_id}/memory
POST /api/v1/memory/batch
DELETE /api/v1/memory/batch
POST /api/v1/memory/search
GET /api/v1/agents/{agent_id}/memory/summary
PATCH /api/v1/agents/{agent_id}/memory/config
GET /api/v1/memory/namespaces
GET /api/v1/memory/namespaces/{namespace}
PATCH /api/v1/memory/namespaces/{namespace}
GET /api/v1/coordinators/{coordinator_id}/guardrails
PATCH /api/v1/coordinators/{coordinator_id}/guardrails
POST /api/v1/tasks
GET /api/v1/tasks/{task_id}
POST /api/v1/workflows
PUT /api/v1/conversations/{session_id}
GET /api/v1/conversations/{session_id}
DELETE /api/v1/conversations/{session_id}
POST /api/v1/conversations/{session_id}/messages
POST /api/v1/conversations/{session_id}/messages/pop
GET /api/v1/conversations/{session_id}/archive
DELETE /api/v1/conversations/{session_id}/archive
GET /api/v1/users/{user_id}/conversations
PUT /api/v1/agents/{agent_id}/state/{owner_id}/{key}
GET /api/v1/agents/{agent_id}/state/{owner_id}/{key}
DELETE /api/v1/agents/{agent_id}/state/{owner_id}/{key}
GET /api/v1/agents/{agent_id}/state/{owner_id}
POST /api/v1/facts
POST /api/v1/facts/recall
GET /api/v1/facts/{fact_id}
DELETE /api/v1/facts/{fact_id}
PUT /api/v1/instances/{instance_id}/working/{key}
GET /api/v1/instances/{instance_id}/working/{key}
DELETE /api/v1/instances/{instance_id}/working/{key}
GET /api/v1/instances/{instance_id}/working
POST /api/v1/procedures/{agent_type}/{task_type}/select
POST /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}/outcome
PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}
GET /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}
DELETE /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}
GET /api/v1/procedures/{agent_type}/{task_type}
GET /api/v1/intents/{intent_id}/tasks
GET /api/v1/agents/{agent_id}/tasks
PATCH /api/v1/tasks/{task_id}
GET /api/v1/tasks/{task_id}/context
PUT /api/v1/tasks/{task_id}/grants/{principal}
DELETE /api/v1/tasks/{task_id}/grants/{principal}
GET /api/v1/intents/{intent_id}/acl
PUT /api/v1/intents/{intent_id}/acl
GET /api/v1/intents/{intent_id}/events
GET /api/v1/agents/{agent_id}/events
GET /api/v1/memory/namespaces/{namespace}/events
POST /api/v1/runs
GET /api/v1/runs
GET /api/v1/runs/{run_id}
POST /api/v1/runs/{run_id}/complete
POST /api/v1/runs/{run_id}/fail
POST /api/v1/runs/{run_id}/episodes
GET /api/v1/episodes
POST /v1/runs
POST /v1/runs/{runId}/end
GET /v1/memory/{memoryRef}
POST /v1/memory/{memoryRef}
GET /v1/memory/{memoryRef}/{id}
DELETE /v1/memory/{memoryRef}/{id}
GET /.well-known/openintent.json
GET /.well-known/openwop
GET /api/v1/capabilities
GET /openapi.json
GET /docs
GET /health
"""


def test_it_is_valid_openapi(document: Json) -> None:
    assert document["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(document).validate()


def test_it_lists_the_contracts_routes_and_no_others(document: Json) -> None:
    assert sorted(operations(document)) == sorted(CONTRACT.split("\n")[1:-1])


def test_every_route_is_there_with_exactly_its_answers(document: Json) -> None:
    found = operations(document)
    for route in every_route():
        responses = found[f"{route.method} {route.template}"]["responses"]
        good = {int(status) for status in responses if int(status) < 400}
        assert good == route.answers.keys()
        assert {int(status) for status in responses} >= {400, *route.also}


def test_every_operation_has_a_name_of_its_own(document: Json) -> None:
    named = [operation["operationId"] for operation in operations(document).values()]
    assert len(set(named)) == len(named) == len(every_route())


def test_every_parameter_in_a_path_is_described(document: Json) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            described = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            assert described == re.findall(r"{(\w+)}", path)


def test_changes_need_if_match_and_deletes_take_it(document: Json) -> None:
    def if_match(operation: str) -> list[bool]:
        parameters = operations(document)[operation]["parameters"]
        return [each["required"] for each in parameters if each["name"] == "If-Match"]

    assert if_match("PATCH /api/v1/memory/{id}") == [True]
    assert if_match("PATCH /api/v1/tasks/{task_id}") == [True]
    assert if_match("DELETE /api/v1/memory/{id}") == [False]
    assert if_match("GET /api/v1/memory/{id}") == []


def test_only_discovery_needs_no_key(document: Json) -> None:
    keyless = {name for name, each in operations(document).items() if each.get("security") == []}
    assert keyless == set(CONTRACT.split("\n")[-7:-1])
    assert document["security"] == [{"ApiKey": []}, {"Bearer": []}]


def test_bodies_have_the_contracts_limits(document: Json) -> None:
    schemas = document["components"]["schemas"]
    new = schemas["NewEntryBody"]["properties"]
    assert (new["namespace"]["minLength"], new["namespace"]["maxLength"]) == (1, 255)
    assert new["tags"]["maxItems"] == 50
    assert new["tags"]["items"]["maxLength"] == 128
    assert schemas["BatchBody"]["properties"]["entries"]["maxItems"] == 50
    assert "default" not in schemas["EntryChangeBody"]["properties"]["tags"]
    assert schemas["NewPrincipalBody"]["properties"]["permissions"]["default"] == [
        "memory.read",
        "memory.write",
    ]


def test_every_problem_code_is_documented(document: Json) -> None:
    codes = document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert codes == list(ERROR_CODES)


def test_the_version_is_the_projects(document: Json) -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    assert document["info"]["version"] == project["version"]


def test_starting_does_not_wait_for_the_document() -> None:
    code = (
        "import sys, functions.api.main;"
        "print([m for m in sys.modules if m.startswith('functions.api.docs')"
        " or m in ('functions.api.openapi', 'functions.api.schemas')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=_ROOT, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
