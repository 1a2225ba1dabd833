"""Our client of DynamoDB beside botocore's own: the same over the wire, the same to its callers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import get_session

from functions.platform.aws import client
from tests.unit.platform.recording_server import RecordingServer, Sent, answer, recording

_ITEM = {"pk": {"S": "é\n😀"}, "n": {"N": "-1.5"}, "b": {"B": b"\x00\xff"}, "s": {"SS": ["a", "b"]}}
_KEY = {"pk": {"S": "a"}}
_REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("get_item", {"TableName": "table", "Key": _KEY, "ConsistentRead": True}),
    ("put_item", {"TableName": "table", "Item": {**_ITEM, "l": {"L": [{"M": _ITEM}]}}}),
    (
        "transact_write_items",
        {"TransactItems": [{"Delete": {"TableName": "table", "Key": {"pk": {"B": b"a"}}}}]},
    ),
    ("list_tables", {}),
]
_OF_A_CALL = ("x-amz-date", "authorization", "amz-sdk-invocation-id", "content-length")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingServer]:
    with recording() as running:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
        yield running


def _stock(service: str = "dynamodb") -> Any:
    config = Config(parameter_validation=False, retries=client(service).meta.config.retries)
    return get_session().create_client(service, config=config)


@pytest.mark.parametrize(("operation", "request_"), _REQUESTS)
def test_sends_what_botocore_sends(
    server: RecordingServer, operation: str, request_: dict[str, Any]
) -> None:
    for each in (_stock(), client("dynamodb")):
        server.answers.append(answer(b"{}"))
        getattr(each, operation)(**request_)
    stock, ours = map(_comparable, server.sent)
    assert ours == stock


def test_streams_are_asked_as_botocore_asks(server: RecordingServer) -> None:
    for each in (_stock("dynamodbstreams"), client("dynamodbstreams")):
        server.answers.append(answer(b'{"Records": []}'))
        each.get_records(ShardIterator="here", Limit=10)
    stock, ours = map(_comparable, server.sent)
    assert ours == stock


def test_every_call_is_its_own(server: RecordingServer) -> None:
    ours = client("dynamodb")
    for _ in range(2):
        server.answers.append(answer(b"{}"))
        ours.transact_write_items(TransactItems=[])
    first, second = server.sent
    assert first.headers["amz-sdk-invocation-id"] != second.headers["amz-sdk-invocation-id"]
    assert (
        json.loads(first.body)["ClientRequestToken"]
        != json.loads(second.body)["ClientRequestToken"]
    )


def test_a_refusal_is_told_as_botocore_tells_it(server: RecordingServer) -> None:
    reasons = [{"Code": "ConditionalCheckFailed", "Item": {"n": {"N": "1"}}}]
    body = {
        "__type": "x#TransactionCanceledException",
        "message": "no",
        "CancellationReasons": reasons,
    }
    told = []
    for each in (_stock(), client("dynamodb")):
        server.answers.append(answer(json.dumps(body).encode(), 400, x_amzn_requestid="R"))
        with pytest.raises(ClientError) as refused:
            each.transact_write_items(TransactItems=[])
        told.append(refused.value)
    stock, ours = told
    assert type(ours).__name__ == type(stock).__name__ == "TransactionCanceledException"
    assert str(ours) == str(stock)
    assert ours.response["CancellationReasons"] == stock.response["CancellationReasons"]
    assert ours.response["ResponseMetadata"] == stock.response["ResponseMetadata"]


def test_an_error_of_the_server_is_tried_again_with_the_same_token(server: RecordingServer) -> None:
    server.answers += [answer(b"{}", 500), answer(b'{"Responses": []}')]
    answered = client("dynamodb").transact_write_items(TransactItems=[])
    first, second = server.sent
    assert answered["ResponseMetadata"]["RetryAttempts"] == 1
    assert first.body == second.body
    assert "attempt=2; max=4" in second.headers["amz-sdk-request"]


def test_a_damaged_answer_is_asked_for_again(server: RecordingServer) -> None:
    server.answers += [answer(b"{}", x_amz_crc32=1), answer(b"{}", x_amz_crc32=2745614147)]
    client("dynamodb").list_tables()
    assert len(server.sent) == 2


def _comparable(sent: Sent) -> tuple[dict[str, Any], Any]:
    body = json.loads(sent.body)
    body.pop("ClientRequestToken", None)
    headers = {name: text for name, text in sent.headers.items() if name not in _OF_A_CALL}
    user_agent = headers.pop("user-agent").split()  # its list of features is in no order
    return headers | {"features": sorted(",".join(user_agent).split(","))}, body
