"""Test the rules of all calls. Retries under one key are in test_idempotency."""

import gzip
import io
import json
import re
from typing import Any

import pytest

from functions.api.route_index import list_routes
from functions.api.routing import ROOT, Route
from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    TASKS,
    create,
    create_task,
    entry,
    semantic,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

ROUTES = [each for each in list_routes() if each.is_documented]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def name_errors(tenant: Tenant, route: Route, **request: Any) -> list[str]:
    """Send a request that must be refused with 400, and return the fields that are named."""
    client = tenant.service.root if route.required_permission == ROOT else tenant.admin
    path = re.sub(r"{[^}]*}", "x", route.openapi_path)
    answer = client.request(route.method, path, headers={"If-Match": "1"}, **request)
    assert answer.status_code == 400, route.operation
    problem = answer.json()
    return [each["field"] for each in problem.get("details", problem)["errors"]]


def test_no_body_is_one_without_fields(tenant: Tenant) -> None:
    missing = refused(tenant.admin.post(MEMORY), 400, "VALIDATION_ERROR")
    assert {"namespace", "key", "value"} <= {each["field"] for each in missing["errors"]}
    run = ok(tenant.admin.post("/api/v1/runs", json={"agent_type": "sdr"}), 201)["id"]
    ended = ok(tenant.admin.post(f"/api/v1/runs/{run}/complete"))
    assert (ended["status"], ended["output"]) == ("completed", None)


def test_every_route_refuses_parameters_that_it_does_not_have(tenant: Tenant) -> None:
    before = tenant.service.state()
    for route in ROUTES:
        body: Any = None if route.request_model is None else {}
        assert name_errors(tenant, route, params={"bogus": "1"}, json=body) == ["bogus"]
    assert tenant.service.state() == before


def test_every_body_is_checked_by_its_model(tenant: Tenant) -> None:
    """But for that of a workflow's file, which may have parts of other specifications."""
    before = tenant.service.state()
    taking = [each for each in ROUTES if each.request_model not in (None, bytes)]
    checked = [each for each in taking if each.path != "/api/v1/workflows"]
    assert len(checked) > 30
    for route in checked:
        assert "bogus" in name_errors(tenant, route, json={"bogus": 1}), route.operation
    assert tenant.service.state() == before


def test_a_missing_version_is_named_before_the_body_is_read(tenant: Tenant) -> None:
    changing = [each for each in ROUTES if each.if_match == "required"]
    assert changing
    for route in changing:
        path = re.sub(r"{[^}]*}", "x", route.openapi_path)
        answer = tenant.admin.request(route.method, path, json={"bogus": 1})
        refused(answer, 428, "PRECONDITION_REQUIRED")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", MEMORY, {"GET", "POST", "PUT"}),
        ("POST", f"{MEMORY}/mem_x", {"GET", "PATCH", "DELETE"}),
        ("PUT", BATCH, {"POST", "DELETE"}),
        ("DELETE", f"{TASKS}/task_x", {"GET", "PATCH"}),
        ("DELETE", f"{NAMESPACES}/facts", {"GET", "PATCH"}),
    ],
)
def test_a_wrong_method_gets_the_allowed_ones(
    tenant: Tenant, method: str, path: str, allowed: set[str]
) -> None:
    answer = tenant.admin.request(method, path)
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert {each.strip() for each in answer.headers["Allow"].split(",")} >= allowed


@pytest.mark.in_process
def test_times_are_rfc3339_in_utc_with_milliseconds(tenant: Tenant, clock: MovableClock) -> None:
    made = create(tenant.admin, entry(ttl="duration:PT1H"))
    assert made["created_at"] == made["updated_at"] == clock.time()
    assert made["expires_at"] == clock.time(seconds=3600)
    registered = create_task(tenant.admin)
    for moment in (made["created_at"], registered["created_at"]):
        assert TIME.fullmatch(moment)


def test_every_answer_has_its_own_request_id(tenant: Tenant) -> None:
    answers = [tenant.admin.get(path) for path in (MEMORY, MEMORY, "/nowhere", "/health")]
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 4


@pytest.mark.in_process
def test_a_request_logs_who_and_what_but_no_name_and_no_value(
    tenant: Tenant, logged: io.StringIO
) -> None:
    made = create(tenant.admin, semantic(namespace="salaries", key="ceo", value={"usd": "1000000"}))
    ok(tenant.admin.get(f"{MEMORY}/{made['id']}"))
    ok(tenant.admin.get("/api/v1/memory/namespaces/salaries"))
    lines = [json.loads(line) for line in logged.getvalue().splitlines() if line.startswith("{")]
    created, read, _ = [line for line in lines if line.get("tenant") == tenant.id]
    assert (read["principal"], read["kind"]) == (tenant.admin_id, "user")
    assert read["target"] == {"id": made["id"]}
    assert created["target"]["location"].endswith(made["id"])
    for secret in ("salaries", "ceo", "1000000"):
        assert secret not in logged.getvalue()


@pytest.mark.in_process
def test_a_traceparent_is_honoured_in_the_log(tenant: Tenant, logged: io.StringIO) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = tenant.admin.get(MEMORY, headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
    lines = [line for line in logged.getvalue().splitlines() if trace in line]
    assert lines
    assert any(answer.headers["X-Request-Id"] in line for line in lines)


def test_a_traceparent_does_not_disturb(tenant: Tenant) -> None:
    good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    for value in (good, "", "00-zz", "ff-" + "0" * 300, good.upper()):
        ok(tenant.admin.get(MEMORY, headers={"traceparent": value}))


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "said"),
    [
        ("POST", "/api/v1/recall", {"query": "a", "exclude": [{"x": 1}]}, "exclude.0.x", "no such"),
        ("POST", "/api/v1/recall", {"query": "a", "exclude": [5]}, "exclude.0", "an object"),
        ("POST", "/api/v1/workflows", {"name": "n", "memory": 5}, "memory", "must be an object"),
        ("POST", "/api/v1/workflows", {"name": 1.0}, "name", "must be a text, in quotes"),
        ("PUT", "/api/v1/consolidation/settings", {"every": "soon"}, "every", "such as PT10M"),
        ("POST", "/v1/runs", {"agent": "a", "ttl": []}, "ttl:", "Input should be"),
        ("POST", MEMORY, entry(expires_at="2031-01-01T00:00:00+24:00"), "expires_at", "RFC 3339"),
        ("POST", MEMORY, entry(ttl=1e300), "ttl", "must end before the year 10000"),
        ("POST", MEMORY, entry(ttl=10**13), "ttl", "must end before the year 10000"),
        ("POST", MEMORY, entry(tags=["t"] * 51), "tags", "at most 50 elements, and has 51"),
        ("POST", BATCH, {"entries": []}, "entries", "needs 1 or more elements"),
    ],
)
def test_errors_name_fields_and_no_types_of_the_code(
    tenant: Tenant, method: str, path: str, body: Any, field: str, said: str
) -> None:
    answer = tenant.admin.request(method, path, json=body)
    assert answer.status_code == 400
    assert field in answer.text
    assert said in answer.text
    assert not re.search(
        "constrained|instance of|Excluded|Block|timedelta|validation,", answer.text
    )


def test_a_compressed_body_is_refused_by_its_encoding(tenant: Tenant) -> None:
    body = gzip.compress(json.dumps(entry()).encode())
    answer = tenant.admin.post(MEMORY, content=body, headers={"Content-Encoding": "gzip"})
    invalid(answer, "Content-Encoding")


@pytest.mark.parametrize("id", ["", "a/b", "-a", "x" * 65])
def test_a_tenants_id_is_refused_in_words(tenant: Tenant, id: str) -> None:
    problem = refused(
        tenant.service.root.post("/api/v1/tenants", json={"id": id}), 400, "VALIDATION_ERROR"
    )
    assert "1 to 64 letters" in problem["detail"]
