"""Fuzz every documented operation: no 5xx and no undocumented answer."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok
from schemathesis.generation.modes import GenerationMode

from functions.api.route_index import list_routes
from functions.api.routing import ROOT, Route
from tests.contract.bodies import create, create_task, entry, semantic, working
from tests.contract.engines import Engine
from tests.contract.openwop_calls import start
from tests.contract.service import ROOT_KEY, Service, Tenant
from tests.contract.sweeping import restore
from tests.contract.transport import BASE_URL
from tools.openapi.document import PATH

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "3"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

pytestmark = pytest.mark.usefixtures("volume")

DOCUMENTED = [route for route in list_routes() if route.is_documented]
Known = dict[str, list[str]]


@dataclass(frozen=True)
class Scene:
    """A tenant with things to aim at, as it is before each test.

    Attributes:
        known: ids that exist, by their parameter's name or the segment of a path before them.
        stored: all items.
    """

    tenant: Tenant
    known: Known
    stored: list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(session_service: Service, engine: Engine) -> Iterator[Scene]:
    """One scene for all operations."""
    tenant = session_service.tenant()
    known = make_known(tenant)
    yield Scene(tenant, known, session_service.stored())
    engine.empty_tables()


@pytest.fixture
def scene(made: Scene) -> Iterator[Scene]:
    """The scene; what a test changes is put back."""
    yield made
    restore(made.tenant.service, made.stored)


def make_known(tenant: Tenant) -> Known:
    admin = tenant.admin
    tenant.agent("alice")
    create_task(admin, id="task_1", assigned_agent=tenant.admin_id)
    run = start(admin)
    run.put("remembered")
    bodies = [entry(), working("task_1", key="w"), semantic()]
    return {
        "memory": [create(admin, body)["id"] for body in bodies],
        "tasks": ["task_1"],
        "intents": ["intent_1"],
        "agents": ["alice", tenant.admin_id],
        "coordinators": [tenant.admin_id],
        "namespaces": ["facts"],
        "grants": ["alice"],
        "principals": ["alice"],
        "memoryRef": [run.reference],
        "runId": [run.id],
    }


@cache
def documented_operations() -> dict[tuple[str, str], Any]:
    document = json.loads(PATH.read_text(encoding="utf-8"))
    schema = schemathesis.openapi.from_dict(document)
    found = (each.ok() for each in schema.get_all_operations() if isinstance(each, Ok))
    return {(each.method.upper(), each.path): each for each in found}


def aim(case: Case[Any], known: Known, draw: st.DataObject) -> None:
    """Points about half of the path's parameters at something that exists."""
    for segment, name in re.findall(r"([^/]+)/{([^}]*)}", case.operation.path):
        existing = known.get(name, known.get(segment))
        if existing and draw.draw(st.booleans()):
            case.path_parameters[name] = draw.draw(st.sampled_from(existing))


def sent(case: Case[Any], client: httpx.Client, key: str) -> httpx.Response:
    """The service's answer to a generated request."""
    arguments = case.as_transport_kwargs(base_url=BASE_URL)
    request = as_httpx(arguments, key)
    return client.send(request)


def as_httpx(arguments: dict[str, Any], key: str) -> httpx.Request:
    """A generated request as one of httpx, with a good key."""
    names = ("method", "url", "headers", "params", "json", "data", "files", "cookies")
    parts = {name: arguments[name] for name in names if arguments.get(name) is not None}
    prepared = requests.Request(**parts).prepare()
    body = prepared.body or b""
    assert isinstance(body, str | bytes)
    headers = {**prepared.headers, "X-API-Key": key}
    for name in ("Authorization", "X-Agent-ID"):
        headers.pop(name, None)
    content = body.encode() if isinstance(body, str) else body
    pairs = [(name.encode(), str(value).encode("latin-1")) for name, value in headers.items()]
    return httpx.Request(str(prepared.method), str(prepared.url), headers=pairs, content=content)


@pytest.mark.in_process
@pytest.mark.parametrize("route", DOCUMENTED, ids=lambda route: f"{route.method} {route.path}")
def test_no_answer_is_a_5xx_or_undocumented(scene: Scene, route: Route) -> None:
    target = documented_operations()[route.method, route.openapi_path]
    key, service = scene.tenant.admin.headers["X-API-Key"], scene.tenant.service
    client, sender = service.client(), ROOT_KEY if route.required_permission == ROOT else key

    def run(mode: GenerationMode) -> None:
        @BOUNDED
        @given(case=target.as_strategy(generation_mode=mode), draw=st.data())
        def check(case: Case[Any], draw: st.DataObject) -> None:
            aim(case, scene.known, draw)
            case.validate_response(sent(case, client, sender), checks=CHECKS)

        check()

    run(GenerationMode.POSITIVE)
    with suppress(Unsatisfiable):  # where nothing in a request can be wrong
        run(GenerationMode.NEGATIVE)
