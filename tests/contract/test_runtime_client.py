"""The handlers behind AWS's own runtime client: events and responses in Lambda's encoding."""

import json
import math
from collections.abc import Iterator

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
_CHINESE = "记忆" * 10_000  # 60,000 bytes of UTF-8; 120,000 if its letters were escaped


@pytest.fixture(scope="module")
def api(session_service: Service) -> Iterator[RuntimeApi]:
    if not session_service.engine.environment:
        pytest.skip("no other process can reach this engine")
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


def test_the_stream_names_the_records_to_deliver_again_in_lambdas_words(
    session_service: Service,
) -> None:
    if not session_service.engine.environment:
        pytest.skip("no other process can reach this engine")
    with running(_STREAM, session_service.environment()) as stream:
        assert stream.invoke(render_stream_event("created")) == {"batchItemFailures": []}


def test_a_function_without_its_variables_fails_at_init() -> None:
    with running(_API, {"MEMORY_TABLE": ""}) as api, pytest.raises(FunctionFailed, match="Wrong"):
        api.invoke({})
