"""Our client of DynamoDB beside botocore's own: the same over the wire, the same to its callers."""

import json
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)

from functions.platform.aws import client
from functions.platform.clock import now_ms
from tests.e2e.certificate import write_certificate
from tests.unit.platform.recording_server import Last, RecordingServer, Sent, answer, recording
from tests.unit.platform.stock import stock

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


@pytest.mark.parametrize(("operation", "request_"), _REQUESTS)
def test_sends_what_botocore_sends(
    server: RecordingServer, operation: str, request_: dict[str, Any]
) -> None:
    for each in (stock(), client("dynamodb")):
        server.answers.append(answer(b"{}"))
        getattr(each, operation)(**request_)
    theirs, ours = map(_comparable, server.sent)
    assert ours == theirs


def test_streams_are_asked_as_botocore_asks(server: RecordingServer) -> None:
    for each in (stock("dynamodbstreams"), client("dynamodbstreams")):
        server.answers.append(answer(b'{"Records": []}'))
        each.get_records(ShardIterator="here", Limit=10)
    theirs, ours = map(_comparable, server.sent)
    assert ours == theirs


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
    for each in (stock(), client("dynamodb")):
        server.answers.append(answer(json.dumps(body).encode(), 400, x_amzn_requestid="R"))
        with pytest.raises(ClientError) as refused:
            each.transact_write_items(TransactItems=[])
        told.append(refused.value)
    theirs, ours = told
    assert type(ours).__name__ == type(theirs).__name__ == "TransactionCanceledException"
    assert str(ours) == str(theirs)
    assert ours.response["CancellationReasons"] == theirs.response["CancellationReasons"]
    assert ours.response["ResponseMetadata"] == theirs.response["ResponseMetadata"]


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ("get_item", answer(b'{"Item": {"n": {"N": "1"}}}', X_Amzn_RequestId="R", A_b=" c")),
        ("get_item", answer(b"{}")),
        ("get_item", answer(b"", 204)),
        ("tag_resource", answer(b'{"a": 1}', X_Amzn_RequestId="R")),
    ],
)
def test_an_answer_is_told_as_botocore_tells_it(
    server: RecordingServer, operation: str, said: bytes
) -> None:
    told = []
    for each in (stock(), client("dynamodb")):
        server.answers.append(said)
        told.append(getattr(each, operation)())
    theirs, ours = told
    assert ours == theirs


def test_an_error_of_the_server_is_tried_again_with_the_same_token(server: RecordingServer) -> None:
    ended = answer(b"{}", 500, date="Sat, 21 Nov 2026 10:00:00 GMT")
    server.answers += [ended, answer(b'{"Responses": []}')]
    answered = client("dynamodb").transact_write_items(TransactItems=[])
    first, second = server.sent
    assert answered["ResponseMetadata"]["RetryAttempts"] == 1
    assert first.body == second.body
    assert second.headers["amz-sdk-request"] == "ttl=20261121T100005Z; attempt=2; max=4"


def test_a_damaged_answer_is_asked_for_again(server: RecordingServer) -> None:
    server.answers += [answer(b"{}", x_amz_crc32=1), answer(b"{}", x_amz_crc32=2745614147)]
    client("dynamodb").list_tables()
    assert len(server.sent) == 2


@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
def test_a_request_is_signed_as_botocore_signs(server: RecordingServer, service: str) -> None:
    ours = client(service)
    server.answers.append(answer(b"{}"))
    ours.list_tables() if service == "dynamodb" else ours.list_streams()
    (sent,) = server.sent
    when = sent.headers["x-amz-date"]
    assert {"host", "x-amz-date", "x-amz-security-token", "x-amz-target"} <= set(_signed(sent))
    assert sent.headers["authorization"] == _signature(server, sent, when)
    signed_at = datetime.strptime(when, "%Y%m%dT%H%M%S%z")
    assert abs(signed_at.timestamp() - now_ms() / 1000) < 60


def test_headers_of_a_handler_are_signed(server: RecordingServer) -> None:
    def add(request: Any, **_: Any) -> None:
        request.headers["X-Spaced"] = " a  b\tc "
        request.headers["Date"] = "any"

    ours = client("dynamodb")
    ours.meta.events.register("before-sign.dynamodb", add)
    server.answers.append(answer(b"{}"))
    ours.list_tables()
    (sent,) = server.sent
    assert {"date", "x-spaced"} < set(_signed(sent))
    assert "x-amz-date" not in sent.headers
    when = parsedate_to_datetime(sent.headers["date"]).strftime("%Y%m%dT%H%M%SZ")
    assert sent.headers["authorization"] == _signature(server, sent, when)


def test_nothing_is_sent_without_credentials(
    server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.session.Session.get_credentials", lambda *_: None)
    with pytest.raises(NoCredentialsError):
        client("dynamodb").list_tables()
    assert server.sent == []


def _signed(sent: Sent) -> list[str]:
    said = sent.headers["authorization"]
    return said.partition("SignedHeaders=")[2].partition(",")[0].split(";")


def _signature(server: RecordingServer, sent: Sent, when: str) -> str:
    """What botocore has as the header Authorization of the same request."""
    headers = {name: sent.headers[name] for name in _signed(sent)}
    request = AWSRequest("POST", server.url, headers=headers, data=sent.body)
    request.context["timestamp"] = when
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "secret", "token"), "dynamodb", "eu-central-1")
    to_sign = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(to_sign, request))  # noqa: SLF001
    return str(request.headers["Authorization"])


def test_new_credentials_sign_from_then_on(
    server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter([("first", timedelta(seconds=-1)), ("second", timedelta(hours=1))])

    def credentials(*_: Any) -> RefreshableCredentials:
        return RefreshableCredentials.create_from_metadata(renewed(), renewed, "test")

    def renewed() -> dict[str, str]:
        key, lasting = next(told)
        until = (datetime.fromtimestamp(now_ms() / 1000, UTC) + lasting).isoformat()
        return {"access_key": key, "secret_key": key, "token": key, "expiry_time": until}

    monkeypatch.setattr("botocore.session.Session.get_credentials", credentials)
    ours = client("dynamodb")
    server.answers += [answer(b"{}"), answer(b"{}")]
    ours.list_tables()
    assert "Credential=second/" in server.sent[0].headers["authorization"]
    assert server.sent[0].headers["x-amz-security-token"] == "second"


def test_a_connection_is_kept(server: RecordingServer) -> None:
    ours = client("dynamodb")
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    for said in (answer(b"{}"), chunked, answer(b""), answer(b"{}")):
        server.answers.append(said)
        ours.list_tables()
    assert (len(server.sent), server.connections) == (4, 1)


@pytest.mark.parametrize(
    "said",
    [
        Last(answer(b'{"TableNames": []}')),
        Last(answer(b'{"TableNames": []}', connection="close")),
        Last(b'HTTP/1.1 200 OK\r\n\r\n{"TableNames": []}'),
        Last(b'HTTP/1.0 200 OK\r\n\r\n{"TableNames": []}'),
    ],
)
def test_a_connection_that_was_hung_up_is_made_anew(server: RecordingServer, said: bytes) -> None:
    ours = client("dynamodb")
    server.answers += [said, answer(b"{}")]
    assert ours.list_tables()["TableNames"] == []
    assert ours.list_tables()["ResponseMetadata"]["RetryAttempts"] in (0, 1)
    assert server.connections == 2


@pytest.mark.parametrize(
    "said",
    [
        b"",
        answer(b'{"TableNames": []}')[:-1],
        answer(b"{}")[:20],
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101 + b"content-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101,
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 70_000 + b"\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 70_000,
        b"HTTP/1.1 many OK\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nmany\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
    ],
)
def test_what_is_no_answer_is_asked_for_again(server: RecordingServer, said: bytes) -> None:
    server.answers += [Last(said), answer(b'{"TableNames": ["right"]}')]
    answered = client("dynamodb").list_tables()
    assert answered["TableNames"] == ["right"]
    assert answered["ResponseMetadata"]["RetryAttempts"] == 1


def test_four_attempts_and_no_more(server: RecordingServer) -> None:
    with pytest.raises(ConnectionClosedError):
        client("dynamodb").list_tables()
    assert len(server.sent) == 4


def test_where_nobody_listens_it_says_so_after_four_attempts(
    monkeypatch: pytest.MonkeyPatch, server: RecordingServer
) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unheard.getsockname()[1]}")
        ours = client("dynamodb")
        with pytest.raises(EndpointConnectionError, match="Could not connect to the endpoint URL"):
            ours.list_tables()
    assert server.sent == []


def test_who_says_nothing_is_given_up(
    monkeypatch: pytest.MonkeyPatch, server: RecordingServer
) -> None:
    monkeypatch.setattr("functions.platform.aws._CONFIG.read_timeout", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        ours = client("dynamodb")
        with pytest.raises(ReadTimeoutError):
            ours.list_tables()
    assert server.sent == []


def test_a_proxy_is_used(monkeypatch: pytest.MonkeyPatch, server: RecordingServer) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://dynamodb.invalid")
    server.answers.append(answer(b'{"TableNames": ["right"]}'))
    assert client("dynamodb").list_tables()["TableNames"] == ["right"]
    assert server.sent[0].headers["host"] == "dynamodb.invalid"


def test_many_threads_share_a_client(server: RecordingServer) -> None:
    server.answers += [answer(b"{}")] * 200
    ours = client("dynamodb")
    with ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(lambda _: ours.list_tables(), range(200)))
    assert all(each["ResponseMetadata"]["HTTPStatusCode"] == 200 for each in answered)
    assert server.connections <= 8


@pytest.mark.usefixtures("server")
def test_tls_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = write_certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with recording(tls) as secure:
        secure.answers += [answer(b"{}"), answer(b"{}")]
        monkeypatch.setenv("AWS_ENDPOINT_URL", secure.url)
        with pytest.raises(SSLError):
            client("dynamodb").list_tables()
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
        trusting = client("dynamodb")
        for _ in range(2):
            trusting.list_tables()
        assert len(secure.sent) == 2


def _comparable(sent: Sent) -> tuple[dict[str, Any], Any]:
    body = json.loads(sent.body)
    body.pop("ClientRequestToken", None)
    headers = {name: text for name, text in sent.headers.items() if name not in _OF_A_CALL}
    user_agent = headers.pop("user-agent").split()  # its list of features is in no order
    return headers | {"features": sorted(",".join(user_agent).split(","))}, body
