"""The event is the one that API Gateway documents for HTTP APIs, payload 2.0."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.local.gateway import to_event


def event(
    method: str = "GET",
    path: str = "/api/v1/memory",
    query: str = "",
    headers: tuple[tuple[str, str], ...] = (),
    body: bytes = b"",
) -> dict[str, Any]:
    return to_event(method, path, query, headers, body, "192.0.2.1")


def test_a_request_has_the_members_of_payload_2() -> None:
    made = event("POST", headers=(("Host", "localhost:8080"), ("User-Agent", "curl/8")), body=b"{}")
    assert (made["version"], made["routeKey"]) == ("2.0", "$default")
    assert (made["rawPath"], made["rawQueryString"]) == ("/api/v1/memory", "")
    assert (made["body"], made["isBase64Encoded"]) == ("{}", False)
    assert made["requestContext"]["http"] == {
        "method": "POST",
        "path": "/api/v1/memory",
        "protocol": "HTTP/1.1",
        "sourceIp": "192.0.2.1",
        "userAgent": "curl/8",
    }
    context = made["requestContext"]
    assert (context["stage"], context["domainName"]) == ("$default", "localhost")
    assert {"accountId", "apiId", "requestId", "time", "timeEpoch"} <= context.keys()


def test_time_is_that_of_the_common_log_format() -> None:
    context = event()["requestContext"]
    assert context["timeEpoch"] > 1_700_000_000_000
    assert context["time"].endswith(" +0000")
    assert context["time"][2] == context["time"][6] == "/"


def test_each_request_has_an_id_of_its_own() -> None:
    assert event()["requestContext"]["requestId"] != event()["requestContext"]["requestId"]


def test_headers_are_lower_case_and_duplicates_joined_by_commas() -> None:
    made = event(headers=(("X-Tag", "a"), ("x-tag", "b"), ("X-API-Key", "k")))
    assert made["headers"] == {"x-tag": "a,b", "x-api-key": "k"}


@pytest.mark.parametrize("name", ["Connection", "Transfer-Encoding", "Upgrade", "TE", "Keep-Alive"])
def test_headers_of_the_connection_stay_outside(name: str) -> None:
    assert event(headers=((name, "x"),))["headers"] == {}


def test_cookies_have_a_member_of_their_own() -> None:
    made = event(headers=(("Cookie", "a=1; b=2"),))
    assert made["cookies"] == ["a=1", "b=2"]
    assert "cookie" not in made["headers"]


def test_the_query_comes_encoded_and_also_decoded_with_duplicates_joined() -> None:
    made = event(query="tags=a%2Fb&tags=c&namespace=")
    assert made["rawQueryString"] == "tags=a%2Fb&tags=c&namespace="
    assert made["queryStringParameters"] == {"tags": "a/b,c", "namespace": ""}


def test_without_a_query_or_a_body_there_is_no_member_for_them() -> None:
    assert {"queryStringParameters", "body", "cookies"}.isdisjoint(event())


@given(st.binary(min_size=1))
def test_any_body_arrives_byte_for_byte(body: bytes) -> None:
    made = event("POST", body=body)
    text = made["body"]
    assert (base64.b64decode(text) if made["isBase64Encoded"] else text.encode()) == body
