"""The OpenAPI document tells the truth."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import schemathesis
from jsonschema_rs import Draft202012Validator

from functions.api.route_index import list_routes
from functions.platform.errors import ERROR_CODES, CapacityExceeded, PageTooLarge
from tests.contract.documented import Json, operations
from tools.openapi.document import PATH, render_document

_ROOT = Path(__file__).parents[3]
_DOCUMENTED = [route for route in list_routes() if route.is_documented]


def test_the_checked_in_document_is_up_to_date() -> None:
    stale = "functions/api/openapi.json is stale: run `make openapi` and commit it"
    assert PATH.read_text(encoding="utf-8") == render_document(), stale


def test_it_is_valid_openapi(document: Json) -> None:
    assert document["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(document).validate()


def test_every_default_is_valid(document: Json) -> None:
    for schema in _find_schemas(document):
        if "default" in schema:
            named = {"components": document["components"]} if "$ref" in str(schema) else {}
            assert Draft202012Validator(schema | named).is_valid(schema["default"]), schema


def _find_schemas(part: Any) -> Iterator[Json]:
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inner:
        yield from _find_schemas(each)
    if isinstance(part, dict) and "type" in part:
        yield part


def test_every_route_is_there_with_exactly_its_answers(document: Json) -> None:
    found = operations(document)
    for route in _DOCUMENTED:
        responses = found[f"{route.method} {route.openapi_path}"]["responses"]
        good = {int(status) for status in responses if int(status) < 400}
        assert good == route.responses.keys()
        assert {int(status) for status in responses} >= {400, *(route.error_statuses or ())}


def test_every_error_is_a_problem_or_openwops_envelope(document: Json) -> None:
    shared = document["components"]["responses"]
    for name, operation in operations(document).items():
        errors = {status: each for status, each in operation["responses"].items() if status >= "4"}
        assert operation.get("security") == [] or {"401", "429", "503"} <= errors.keys(), name
        media = "application/json" if " /v1/" in name else "application/problem+json"
        for each in errors.values():
            found = shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
            assert list(found["content"]) == [media], name


def test_no_operation_documents_an_error_that_it_cannot_have(document: Json) -> None:
    documented = {name: each["responses"] for name, each in operations(document).items()}
    assert [name for name, responses in documented.items() if "405" in responses] == []
    for create in ("POST /api/v1/memory", "POST /api/v1/remember"):
        assert "404" not in documented[create]


def test_every_operation_has_a_name_of_its_own(document: Json) -> None:
    named = [operation["operationId"] for operation in operations(document).values()]
    assert len(set(named)) == len(named) == len(_DOCUMENTED)


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


def test_every_put_that_may_ask_for_nothing_to_be_there_says_so(document: Json) -> None:
    def takes_if_none_match(operation: Json) -> bool:
        return "If-None-Match" in {each["name"] for each in operation["parameters"]}

    puts = {path: each["put"] for path, each in document["paths"].items() if "put" in each}
    assert {path for path, put in puts.items() if takes_if_none_match(put)} == {
        "/api/v1/agents/{agent_id}/objects/{space}/{key}",
        "/api/v1/memory",
        "/api/v1/conversations/{session_id}",
        "/api/v1/agents/{agent_id}/state/{owner_id}/{key}",
        "/api/v1/objects/{space}/{key}",
    }


def test_only_discovery_needs_no_key(document: Json) -> None:
    keyless = {name for name, each in operations(document).items() if each.get("security") == []}
    assert keyless == {
        "GET /.well-known/openintent.json",
        "GET /.well-known/openwop",
        "GET /api/v1/capabilities",
        "GET /openapi.json",
        "GET /v1/openapi.json",
        "GET /",
        "GET /docs",
        "GET /health",
    }
    assert document["security"] == [{"ApiKey": []}, {"Bearer": []}]
    schemes = document["components"]["securitySchemes"].values()
    kinds = {(each["type"], each.get("scheme") or each.get("name")) for each in schemes}
    assert kinds == {("apiKey", "X-API-Key"), ("http", "bearer")}


def test_bodies_have_the_contracts_limits(document: Json) -> None:
    schemas = document["components"]["schemas"]
    new = schemas["NewEntryBody"]["properties"]
    assert (new["namespace"]["minLength"], new["namespace"]["maxLength"]) == (1, 255)
    tags = new["tags"]["anyOf"][0]
    assert tags["maxItems"] == 50
    assert tags["items"]["maxLength"] == 128
    assert schemas["BatchBody"]["properties"]["entries"]["maxItems"] == 50
    assert "default" not in schemas["EntryChangeBody"]["properties"]["tags"]
    assert schemas["NewPrincipalBody"]["properties"]["permissions"]["default"] == [
        "memory.read",
        "memory.write",
    ]


def test_every_problem_code_is_documented(document: Json) -> None:
    codes = document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert codes == list(ERROR_CODES)


def test_a_problems_limit_is_a_name_or_a_number(document: Json) -> None:
    limit = document["components"]["schemas"]["Problem"]["properties"]["limit"]
    types = {each["type"] for each in limit["anyOf"]}
    assert CapacityExceeded("max_entries", 1, 1).members["limit"] == "max_entries"
    assert PageTooLarge("", limit=76).members["limit"] == 76
    assert types == {"string", "integer"}


def test_the_version_is_the_projects(document: Json) -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    assert document["info"]["version"] == project["version"]
