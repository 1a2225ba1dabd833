"""What the service says of itself, without a key."""

import re
from typing import Any

import httpx
import pytest

from functions.api.capabilities import describe_capabilities
from functions.api.route_index import list_routes
from functions.api.routing import PUBLIC
from tests.contract.expect import ok
from tests.contract.service import Service

DOCUMENTED = [route for route in list_routes() if route.is_documented]
PUBLIC_PATHS = sorted(route.path for route in DOCUMENTED if route.required_permission == PUBLIC)


@pytest.fixture
def stranger(service: Service) -> httpx.Client:
    """Somebody without a key."""
    return service.client()


@pytest.fixture
def document(stranger: httpx.Client) -> dict[str, Any]:
    """The OpenAPI document."""
    found: dict[str, Any] = ok(stranger.get("/openapi.json"))
    return found


def unnamed(path: str) -> str:
    """A path template without the names of its parameters."""
    return re.sub("{[^}]*}", "{}", path)


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each operation of the document under its method and path, parameters unnamed."""
    methods = {"get", "put", "post", "patch", "delete"}
    return {
        f"{method.upper()} {unnamed(path)}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in methods
    }


@pytest.mark.parametrize("path", [path for path in PUBLIC_PATHS if path != "/docs"])
def test_discovery_needs_no_key(stranger: httpx.Client, path: str) -> None:
    assert isinstance(ok(stranger.get(path)), dict)
    assert stranger.get(path, headers={"X-API-Key": "am_bad"}).status_code == 200


def test_the_document_lists_exactly_the_routes(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    expected = [f"{route.method} {unnamed(route.openapi_path)}" for route in DOCUMENTED]
    assert sorted(operations(document)) == sorted(expected)


def test_every_operation_documents_its_responses(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        codes = operation["responses"].keys()
        assert any(code.startswith("2") for code in codes), name
        if name.split()[1] in PUBLIC_PATHS:
            continue
        assert {"401", "429", "503"} <= codes, name
        for code in codes:
            if code.startswith(("4", "5")):
                content = resolve(document, operation["responses"][code])["content"]
                openwop = name.split()[1].startswith("/v1/")
                media = "application/json" if openwop else "application/problem+json"
                assert list(content) == [media], name


def resolve(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """The node that a reference points to, or the node itself."""
    reference = node.get("$ref")
    if reference is None:
        return node
    for part in reference.removeprefix("#/").split("/"):
        document = document[part]
    return document


def references(node: Any) -> list[str]:
    """Every reference in a document."""
    if isinstance(node, list):
        return [found for each in node for found in references(each)]
    if not isinstance(node, dict):
        return []
    inner = [found for each in node.values() for found in references(each)]
    return [*inner, node["$ref"]] if isinstance(node.get("$ref"), str) else inner


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in references(document["paths"]) + references(document.get("components")):
        assert resolve(document, {"$ref": reference})


def test_the_document_has_both_ways_to_send_a_key(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"].values()
    kinds = {(each["type"], each.get("scheme") or each.get("name")) for each in schemes}
    assert kinds == {("apiKey", "X-API-Key"), ("http", "bearer")}


def test_documented_limits_are_the_contracts(document: dict[str, Any]) -> None:
    query = operations(document)["GET /api/v1/memory"]["parameters"]
    parameters = {each["name"]: each for each in (resolve(document, each) for each in query)}
    filters = {
        "agent_id",
        "namespace",
        "key",
        "memory_type",
        "tags",
        "tags_any",
        "scope.task_id",
        "scope.intent_id",
        "pinned",
        "updated_after",
        "updated_before",
        "limit",
        "offset",
        "after",
        "total",
        "values",
        "touch",
    }
    assert {name for name, each in parameters.items() if each["in"] == "query"} == filters
    limit = parameters["limit"]["schema"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 1000, 100)


def test_the_docs_are_a_page(stranger: httpx.Client) -> None:
    answer = stranger.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "<html" in answer.text
    assert "/openapi.json" in answer.text


def test_the_capabilities_list_tiers_and_limits(stranger: httpx.Client) -> None:
    text = stranger.get("/api/v1/capabilities").text
    for word in ("working", "episodic", "semantic", "65536"):
        assert word in text


def test_without_a_model_there_are_neither_recall_nor_search() -> None:
    without = describe_capabilities(can_embed=False, log_retention_days=30)
    assert "search" not in without
    assert without["facts"]["recall"] is False
    assert (without["extensions"], without["logs"]) == ([], {"retention_days": 30})


def test_the_capabilities_are_those_of_the_installation(stranger: httpx.Client) -> None:
    found = ok(stranger.get("/api/v1/capabilities"))
    assert found == describe_capabilities(can_embed=True, log_retention_days=365)


def test_discovery_says_nothing_of_any_tenant(service: Service) -> None:
    service.tenant("secretive")
    for path in PUBLIC_PATHS:
        assert "secretive" not in service.client().get(path).text


def test_the_root_sends_browsers_to_the_console_and_tells_others_where_things_are(
    stranger: httpx.Client,
) -> None:
    browser = stranger.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (browser.status_code, browser.headers["location"]) == (302, "/console")
    found = ok(stranger.get("/"))
    assert found["console"] == "/console"
    for name in ("docs", "openapi", "capabilities", "openintent", "openwop", "health"):
        assert stranger.get(found[name]).status_code == 200, name
