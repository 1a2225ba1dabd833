"""Botocore's events as our client emits them: who registers is called as botocore calls him."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from functions.platform.aws import client
from tests.unit.platform.recording_server import RecordingServer, answer
from tests.unit.platform.stock import stock

_EVENTS = (
    "provide-client-params",
    "before-parameter-build",
    "before-call",
    "request-created",
    "before-sign",
    "before-send",
    "response-received",
    "before-parse",
    "needs-retry",
    "after-call",
    "after-call-error",
)
_Told = list[tuple[str, list[str]]]


class _Body(BytesIO):
    def stream(self) -> list[bytes]:
        return [self.read()]


@pytest.fixture
def ours(server: RecordingServer) -> Any:
    """A client that has had a call."""
    made = client("dynamodb")
    server.answers.append(answer(b"{}"))
    made.list_tables()
    server.sent.clear()
    return made


def _registered(each: Any, told: _Told) -> None:
    def keep(event_name: str, **event: Any) -> None:
        told.append((event_name, sorted(event)))

    for event in _EVENTS:
        each.meta.events.register(event, keep)


def test_all_events_are_told_as_botocore_tells_them(server: RecordingServer) -> None:
    both: list[_Told] = [[], []]
    for each, told in zip((stock(), client("dynamodb")), both, strict=True):
        _registered(each, told)
        server.answers += [answer(b"{}"), answer(b"{}", 500), answer(b"{}"), answer(b"{}")]
        for _ in range(3):
            each.list_tables()
    theirs, ours = both
    assert ours == theirs
    assert {event.partition(".")[0] for event, _ in ours} == {*_EVENTS} - {"after-call-error"}


@pytest.mark.usefixtures("server")
def test_a_call_that_fails_is_told_as_botocore_tells_it() -> None:
    both: list[_Told] = [[], []]
    for each, told in zip((stock(), client("dynamodb")), both, strict=True):
        _registered(each, told)
        with pytest.raises(Exception, match="Connection was closed"):
            each.list_tables()
    theirs, ours = both
    assert ours == theirs
    assert ours[-1][0] == "after-call-error.dynamodb.ListTables"


def test_who_registers_later_is_called_until_he_leaves(server: RecordingServer, ours: Any) -> None:
    heard: list[str] = []

    def hear(event_name: str, **_: Any) -> None:
        heard.append(event_name)

    server.answers += [answer(b"{}")] * 3
    for event in ("before-send.dynamodb.ListTables", "before-call.dynamodb"):
        ours.meta.events.register(event, hear)
    ours.list_tables()
    assert heard == ["before-call.dynamodb.ListTables", "before-send.dynamodb.ListTables"]
    ours.meta.events.unregister("before-send.dynamodb.ListTables", hear)
    ours.list_tables()
    assert heard[2:] == ["before-call.dynamodb.ListTables"]
    ours.meta.events.unregister("before-call.dynamodb", hear)
    ours.list_tables()
    assert len(heard) == 3


def test_handlers_are_called_in_botocores_order(server: RecordingServer, ours: Any) -> None:
    heard: list[str] = []

    def hearing(name: str) -> Callable[..., None]:
        return lambda **_: heard.append(name)

    events = ours.meta.events
    events.register_last("before-send.dynamodb", hearing("last"))
    events.register("before-send", hearing("of all services"))
    events.register("before-send.dynamodb", hearing("middle"))
    events.register("before-send.dynamodb.ListTables", hearing("of one operation"))
    events.register_first("before-send.dynamodb", hearing("first"))
    server.answers += [answer(b"{}")] * 2
    for _ in range(2):
        ours.list_tables()
    assert heard == ["of one operation", "first", "middle", "last", "of all services"] * 2


def test_an_answer_before_it_is_sent_counts(server: RecordingServer, ours: Any) -> None:
    def instead(request: Any, **_: Any) -> AWSResponse:
        headers = {"X-Amzn-RequestId": "R", "x-amzn-requestid": "R"}
        return AWSResponse(request.url, 200, headers, _Body(b'{"TableNames": ["a"]}'))

    for each in (ours, ours):
        each.meta.events.register("before-send.dynamodb", instead)
        told = each.list_tables()
        assert told["TableNames"] == ["a"]
        assert told["ResponseMetadata"]["HTTPHeaders"] == {"x-amzn-requestid": "R"}
    assert server.sent == []


def test_who_answers_a_call_first_is_the_only_one(server: RecordingServer, ours: Any) -> None:
    heard: list[str] = []
    instead = AWSResponse("", 200, {}, _Body(b"")), {"TableNames": ["a"]}
    ours.meta.events.register_last("before-call.dynamodb", lambda **_: heard.append("after"))
    ours.meta.events.register_first("before-call.dynamodb", lambda **_: heard.append("before"))
    ours.meta.events.register("before-call.dynamodb", lambda **_: instead)
    for _ in range(2):
        assert ours.list_tables() == {"TableNames": ["a"]}
    assert (heard, server.sent) == (["before"] * 2, [])


def test_a_handler_may_have_a_call_made_again(server: RecordingServer, ours: Any) -> None:
    ours.meta.events.register(
        "needs-retry.dynamodb", lambda attempts, **_: 0 if attempts < 3 else None
    )
    server.answers += [answer(b"{}")] * 6
    for _ in range(2):
        assert ours.list_tables()["ResponseMetadata"]["RetryAttempts"] == 2
    assert len(server.sent) == 6


def test_a_handler_may_change_what_is_asked(server: RecordingServer, ours: Any) -> None:
    ours.meta.events.register("provide-client-params.dynamodb", lambda **_: {"Limit": 7})
    server.answers += [answer(b"{}")] * 2
    for _ in range(2):
        ours.list_tables(Limit=1)
    assert [sent.body for sent in server.sent] == [b'{"Limit":7}'] * 2


def test_what_a_handler_raises_is_raised(server: RecordingServer, ours: Any) -> None:
    def refuse(**_: Any) -> None:
        raise PermissionError

    ours.meta.events.register("before-parameter-build.dynamodb", refuse)
    for _ in range(2):
        with pytest.raises(PermissionError):
            ours.list_tables()
    assert server.sent == []


@pytest.mark.usefixtures("server")
def test_an_old_name_of_a_service_counts() -> None:
    heard: list[str] = []
    events = client("dynamodbstreams").meta.events
    events.register("anything.dynamodbstreams", lambda event_name, **_: heard.append(event_name))
    for name in ("dynamodbstreams", "dynamodb-streams", "dynamodbstreams"):
        events.emit(f"anything.{name}")
    assert heard == ["anything.dynamodb-streams"] * 3


def test_another_client_is_not_concerned(server: RecordingServer, ours: Any) -> None:
    heard: list[str] = []
    ours.meta.events.register("before-send", lambda **_: heard.append("ours"))
    server.answers += [answer(b"{}")] * 2
    client("dynamodb").list_tables()
    assert heard == []
    ours.list_tables()
    assert heard == ["ours"]
