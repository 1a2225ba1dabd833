"""Test the service's description of itself, which needs no key."""

import json

import httpx
import pytest

from functions.api.capabilities import describe_capabilities
from functions.api.route_index import list_routes
from functions.api.routing import PUBLIC
from tests.contract.expect import ok
from tests.contract.service import Service
from tools.openapi.document import PATH

DOCUMENTED = [route for route in list_routes() if route.is_documented]
PUBLIC_PATHS = sorted(route.path for route in DOCUMENTED if route.required_permission == PUBLIC)


@pytest.fixture
def stranger(service: Service) -> httpx.Client:
    """Somebody without a key."""
    return service.client()


def test_the_document_is_the_one_that_is_checked_in(stranger: httpx.Client) -> None:
    assert ok(stranger.get("/openapi.json")) == json.loads(PATH.read_text(encoding="utf-8"))


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
