"""The handlers behind AWS's own runtime client: events and responses in Lambda's encoding."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, create, entry, semantic
from tests.contract.expect import ok, refused
from tests.contract.runtime_api import FunctionFailed, RuntimeApi, RuntimeTransport, running
from tests.contract.service import Service, Tenant
from tests.contract.transport import open_client
from tools.events import render_stream_event

pytestmark = pytest.mark.in_process
_API, _STREAM = "functions.api.main.handler", "functions.stream.main.handler"
_SCHEDULE, _TASK_EVENTS = "functions.schedule.main.handler", "functions.task_events.main.handler"
_HOOK = "infra.agent_memory_cdk.pre_traffic_hook.handler"
_NO_OTHER_PROCESS = "no other process can reach this engine"
_CHINESE = "记忆" * 10_000  # 60,000 bytes of UTF-8; 120,000 if its letters were escaped


@pytest.fixture(scope="module")
def api(session_service: Service) -> Iterator[RuntimeApi]:
    if not session_service.engine.environment:
        pytest.skip(_NO_OTHER_PROCESS)
    with running(_API, session_service.environment()) as api:
        yield api


@pytest.fixture
def ada(api: RuntimeApi, tenant: Tenant) -> Iterator[httpx.Client]:
    key = tenant.agent("ada").headers["X-API-Key"]
    with open_client(RuntimeTransport(api), key) as client:
        yield client


@pytest.mark.parametrize(
    "value",
    [
        {"text": 'naïve 记忆 \U0001f9e0 \u2028 \x00 "quoted" \\'},
        {"n": 2**53, "small": 5e-324, "large": 1.7976931348623157e308, "zero": -0.0},
        {"deep": [[[{"a": None, "b": True}]]]},
    ],
    ids=["text", "numbers", "nesting"],
)
def test_a_value_comes_back_as_it_was_sent(ada: httpx.Client, value: object) -> None:
    made = create(ada, entry(key="k", value=value))
    found = ok(ada.get(f"{MEMORY}/{made['id']}"))["value"]
    assert json.dumps(found) == json.dumps(value)


def test_a_number_that_is_none_is_refused(ada: httpx.Client) -> None:
    body = json.dumps(entry(key="k", value={"n": math.inf})).encode()
    headers = {"Content-Type": "application/json"}
    refused(ada.post(MEMORY, content=body, headers=headers), 400, "VALIDATION_ERROR")


def test_bytes_come_back_as_they_were_sent(ada: httpx.Client) -> None:
    content = bytes(range(256)) * 4_000
    address = "/api/v1/agents/ada/objects/drafts/all-bytes"
    ok(ada.put(address, content=content, headers={"Content-Type": "image/png"}), 201)
    assert ada.get(address).content == content


def test_a_full_page_in_chinese_is_an_answer_that_lambda_accepts(ada: httpx.Client) -> None:
    own = "agents/ada/pages"
    for number in range(100):
        create(ada, semantic(namespace=own, key=f"k{number}", value={"text": _CHINESE}))
    page = ada.get(MEMORY, params={"namespace": own, "memory_type": "semantic", "limit": 1000})
    entries = ok(page)["entries"]
    assert len(page.content) > 4_000_000
    assert {each["value"]["text"] for each in entries} == {_CHINESE}


def test_a_refusal_is_a_problem_here_as_well(ada: httpx.Client) -> None:
    refused(ada.get(f"{MEMORY}/unknown"), 404, "ENTRY_NOT_FOUND")


@pytest.fixture
def variables(session_service: Service) -> dict[str, str]:
    if not session_service.engine.environment:
        pytest.skip(_NO_OTHER_PROCESS)
    return session_service.environment()


def test_the_stream_names_the_records_to_deliver_again_in_lambdas_words(
    variables: dict[str, str],
) -> None:
    with running(_STREAM, variables) as stream:
        assert stream.invoke(render_stream_event("created")) == {"batchItemFailures": []}


def load_event(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(Path(f"events/{name}.json").read_text("utf-8"))
    return event


def test_the_schedule_ends_within_lambdas_time(variables: dict[str, str]) -> None:
    with running(_SCHEDULE, variables) as schedule:
        part = {"part": 0, "parts": 1}
        for event in (load_event("schedule"), part, part):
            assert schedule.invoke(event).keys() >= {"lag_ms"}


def test_an_external_task_event_is_applied_once_and_a_refused_one_fails(
    variables: dict[str, str], tenant: Tenant
) -> None:
    planner = tenant.coordinator("planner")
    named = {"TASK_EVENTS_TENANT": tenant.id, "TASK_EVENTS_PRINCIPAL": "planner"}
    event = load_event("task-event")
    with running(_TASK_EVENTS, variables | named) as task_events:
        assert task_events.invoke(event)["applied"]
        assert not task_events.invoke(event)["applied"]
        refused = event | {"id": "e2", "detail": {"task_id": "nobodys", "status": "running"}}
        with pytest.raises(FunctionFailed, match="NOT_FOUND"):
            task_events.invoke(refused)
    assert ok(planner.get("/api/v1/tasks/task_01HXYZ"))["status"] == "running"


@pytest.mark.parametrize(("status", "told"), [(200, "Succeeded"), (503, "Failed")])
def test_the_pre_traffic_hook_tells_codedeploy_what_the_new_version_answers(
    status: int, told: str
) -> None:
    with answering({"statusCode": status}) as (address, requests):
        variables = {"NEW_VERSION": "arn:aws:lambda:eu-central-1:123456789012:function:api:7"}
        event = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "e-1"}
        with running(_HOOK, variables | {"AWS_ENDPOINT_URL": address}) as hook:
            assert hook.invoke(event) is None
    asked, reported = requests
    assert asked["rawQueryString"] == "deep=true"
    assert reported == {
        "deploymentId": "d-1",
        "lifecycleEventHookExecutionId": "e-1",
        "status": told,
    }


@contextmanager
def answering(answer: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve an AWS whose services all answer the same; its address, and what it is asked."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


def test_a_function_without_its_variables_fails_at_init() -> None:
    with running(_API, {"MEMORY_TABLE": ""}) as api, pytest.raises(FunctionFailed, match="Wrong"):
        api.invoke({})
