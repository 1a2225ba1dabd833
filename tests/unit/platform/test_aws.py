"""Clients give what botocore's own give, but items in DynamoDB's typed form, on two releases."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import botocore
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from botocore.retries.standard import ExponentialBackoff
from botocore.session import get_session

from functions.platform import request_context
from functions.platform.aws import LazyClient, create_client
from tests.unit.platform.recording_server import RecordingServer, render_response

_ROOT = Path(__file__).parents[3]
_OLDER_BOTOCORE = "1.41.0"  # a year older than the pinned release
_ITEM = b'{"Item": {"n": {"N": "1"}, "b": {"B": "AP8="}, "l": {"L": [{"S": "\xc3\xa9"}]}}}'


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have botocore try again at once."""
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)


def _create_stock_client(service: str) -> Any:
    return get_session().create_client(service, config=Config(parameter_validation=False))


@pytest.mark.parametrize(
    ("operation", "response"),
    [
        ("get_item", render_response(b'{"Item": {"n": {"N": "1"}}}', X_Amzn_RequestId="R")),
        ("get_item", render_response(b"{}", X_Amzn_RequestId="R")),
        ("tag_resource", render_response(b"", X_Amzn_RequestId="R")),
    ],
)
def test_a_response_is_parsed_as_botocore_parses_it(
    server: RecordingServer, operation: str, response: bytes
) -> None:
    parsed = []
    for client in (_create_stock_client("dynamodb"), create_client("dynamodb")):
        server.responses.append(response)
        parsed.append(getattr(client, operation)())
    assert parsed[0] == parsed[1]


def test_binary_values_stay_in_base64(server: RecordingServer) -> None:
    server.responses.append(render_response(_ITEM))
    assert create_client("dynamodb").get_item()["Item"] == json.loads(_ITEM)["Item"]


def test_records_of_a_stream_stay_in_typed_form(server: RecordingServer) -> None:
    body = {"Records": [{"dynamodb": {"NewImage": {"b": {"B": "AP8="}}}}]}
    server.responses.append(render_response(json.dumps(body).encode()))
    assert create_client("dynamodbstreams").get_records()["Records"] == body["Records"]


def test_an_error_is_parsed_as_botocore_parses_it(server: RecordingServer) -> None:
    reasons = [{"Code": "ConditionalCheckFailed", "Item": {"n": {"N": "1"}}}]
    body = json.dumps(
        {
            "__type": "x#TransactionCanceledException",
            "message": "no",
            "CancellationReasons": reasons,
        }
    ).encode()
    errors = []
    for client in (_create_stock_client("dynamodb"), create_client("dynamodb")):
        server.responses.append(render_response(body, 400, x_amzn_requestid="R"))
        with pytest.raises(ClientError) as error:
            client.transact_write_items(TransactItems=[])
        errors.append(error.value)
    assert type(errors[0]).__name__ == type(errors[1]).__name__ == "TransactionCanceledException"
    assert errors[0].response == errors[1].response


@pytest.mark.parametrize(
    "refusal",
    [
        {"__type": "x#ThrottlingException", "message": "slow down"},
        {
            "__type": "x#TransactionCanceledException",
            "message": "no",
            "CancellationReasons": [{"Code": "None"}, {"Code": "ThrottlingError"}],
        },
    ],
)
def test_each_throttled_attempt_is_noted_for_the_request_at_work(
    server: RecordingServer, refusal: dict[str, Any]
) -> None:
    request_context.throttles.set([])
    server.responses += [render_response(json.dumps(refusal).encode(), 400) for _ in range(4)]
    with pytest.raises(ClientError):
        create_client("dynamodb").transact_write_items(TransactItems=[])
    noted = request_context.throttles.get()
    assert noted is not None
    assert len(noted) == len(server.requests)


def test_a_server_error_is_retried_with_the_same_token(server: RecordingServer) -> None:
    server.responses += [render_response(b"{}", 500), render_response(b'{"Responses": []}')]
    result = create_client("dynamodb").transact_write_items(TransactItems=[])
    assert result["ResponseMetadata"]["RetryAttempts"] == 1
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("damaged", [b"{}", b'{"TableNa'])
def test_a_damaged_response_is_retried(server: RecordingServer, damaged: bytes) -> None:
    server.responses += [
        render_response(damaged, x_amz_crc32=1),
        render_response(b"{}", x_amz_crc32=2745614147),
    ]
    assert create_client("dynamodb").list_tables()["ResponseMetadata"]["RetryAttempts"] == 1


def test_a_call_has_four_attempts(server: RecordingServer) -> None:
    with pytest.raises(ConnectionClosedError):
        create_client("dynamodb").list_tables()
    assert len(server.requests) == 4


@pytest.mark.usefixtures("server")
def test_a_silent_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.platform.aws._CONFIG.read_timeout", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(ReadTimeoutError):
            create_client("dynamodb").list_tables()


def test_a_lazy_client_is_built_at_its_first_call(
    server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://nowhere.invalid")
    client = LazyClient("dynamodb")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    server.responses.append(render_response(b'{"TableNames": []}'))
    assert client.list_tables()["TableNames"] == []


@pytest.mark.parametrize("release", [botocore.__version__, _OLDER_BOTOCORE])
def test_a_table_works_on_two_releases_of_botocore(server: RecordingServer, release: str) -> None:
    failed = b'{"__type": "x#ConditionalCheckFailedException", "Item": {"b": {"B": "AP8="}}}'
    cancelled = (
        b'{"__type": "x#TransactionCanceledException", "CancellationReasons": '
        b'[{"Code": "ConditionalCheckFailed", "Item": {"b": {"B": "AP8="}}}]}'
    )
    server.responses += [
        render_response(b"{}"),
        render_response(_ITEM),
        render_response(failed, 400),
        render_response(cancelled, 400),
        render_response(b"", 500),
        render_response(b"{}"),
    ]
    assert _use_table(release) == {
        "botocore": release,
        "item": "{'n': 1, 'b': b'\\x00\\xff', 'l': ['é']}",
        "put": "{'b': b'\\x00\\xff'}",
        "transaction": "{('partition', 'sort'): {'b': b'\\x00\\xff'}}",
        "attempts": 2,
    }
    assert json.loads(server.requests[0].body)["Item"]["b"] == {"B": "AP8="}


def _use_table(release: str) -> Any:
    """Run `use_table` in a process with this release of botocore."""
    path = os.pathsep.join([str(_install_botocore(release)), str(_ROOT)])
    command = [sys.executable, "-m", "tests.unit.platform.use_table"]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=_ROOT, env=environment, check=True, capture_output=True)
    return json.loads(done.stdout)


def _install_botocore(release: str) -> Path:
    """Install a release beside the pinned one, once, and return its folder."""
    folder = _ROOT / f".build/botocore-{release}"
    if release != botocore.__version__ and not folder.exists():
        unfinished = folder.with_name(f"{folder.name}-{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        subprocess.run([*pip, str(unfinished), f"botocore=={release}"], check=True)
        unfinished.rename(folder)
    return folder
