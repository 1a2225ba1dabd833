"""Hostile requests get a 4xx problem document, and change nothing."""

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    PRINCIPALS,
    TASKS,
    create,
    create_task,
    entry,
    task,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant

DEEP_LIST = b"[" * 5000 + b"]" * 5000
DEEP_OBJECT = b'{"a":' * 5000 + b"1" + b"}" * 5000


def with_value(value: bytes) -> bytes:
    return b'{"namespace":"n","key":"bad","memory_type":"episodic","value":' + value + b"}"


BODIES: dict[str, bytes] = {
    "empty": b"",
    "white space": b" \n\t",
    "truncated": b'{"namespace": "n", "key": "bad", "value": {',
    "trailing text": with_value(b"{}") + b"}",
    "two documents": with_value(b"{}") * 2,
    "single quotes": b"{'namespace': 'n'}",
    "trailing comma": with_value(b'{"a":1,}'),
    "comment": with_value(b"{}/* comment */"),
    "bare word": b"hello",
    "a list": b"[]",
    "a list of bodies": b"[" + with_value(b"{}") + b"]",
    "null": b"null",
    "a number": b"1",
    "a string": b'"text"',
    "invalid UTF-8": with_value(b'{"a":"\xff\xfe"}'),
    "overlong UTF-8": with_value(b'{"a":"\xc0\x80"}'),
    "surrogates in UTF-8": with_value(b'{"a":"\xed\xa0\x80"}'),
    "UTF-16": with_value(b"{}").decode().encode("utf-16"),
    "a raw control character": with_value(b'{"a":"\x00"}'),
    "a raw newline": with_value(b'{"a":"\n"}'),
    "a bad escape": with_value(b'{"a":"\\x41"}'),
    "a cut escape": with_value(b'{"a":"\\u12"}'),
    "a lone high surrogate": with_value(b'{"a":"\\ud800"}'),
    "a lone low surrogate": with_value(b'{"a":"\\udc00x"}'),
    "surrogates the wrong way round": with_value(b'{"a":"\\udc00\\ud800"}'),
    "a lone surrogate as a name": with_value(b'{"\\ud800":1}'),
    "a lone surrogate in the key": with_value(b'{},"key":"\\ud800"'),
    "a lone surrogate in a tag": with_value(b'{},"tags":["\\udfff"]'),
    "NaN": with_value(b'{"a":NaN}'),
    "Infinity": with_value(b'{"a":Infinity}'),
    "minus Infinity": with_value(b'{"a":-Infinity}'),
    "1e400": with_value(b'{"a":1e400}'),
    "-1e400": with_value(b'{"a":[-1e400]}'),
    "1e999999999": with_value(b'{"a":1e999999999}'),
    "a leading zero": with_value(b'{"a":01}'),
    "a hexadecimal number": with_value(b'{"a":0x10}'),
    "a plus sign": with_value(b'{"a":+1}'),
    "a number without digits": with_value(b'{"a":.}'),
    "a deep list": DEEP_LIST,
    "a deep list as value": with_value(DEEP_LIST),
    "a deep list in the value": with_value(b'{"a":' + DEEP_LIST + b"}"),
    "a deep object": DEEP_OBJECT,
    "a deep object as value": with_value(DEEP_OBJECT),
    "unclosed depth": b'{"value":' * 100_000,
    "form data": b"namespace=n&key=bad",
    "XML": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
}


@pytest.mark.parametrize("target", ["memory", "batch", "patch", "task", "namespace", "principal"])
def test_a_bad_body_is_a_400_and_changes_nothing(
    tenant: Tenant, target: str, subtests: pytest.Subtests
) -> None:
    made = create(tenant.admin, entry())
    method, path = {
        "memory": ("POST", MEMORY),
        "batch": ("POST", BATCH),
        "patch": ("PATCH", f"{MEMORY}/{made['id']}"),
        "task": ("POST", TASKS),
        "namespace": ("PATCH", f"{NAMESPACES}/facts"),
        "principal": ("POST", PRINCIPALS),
    }[target]
    before = tenant.service.state()
    headers = {"Content-Type": "application/json", "If-Match": "1"}
    for name, body in BODIES.items():
        with subtests.test(name):
            answer = tenant.admin.request(method, path, content=body, headers=headers)
            assert answer.status_code in (400, 413), answer.text
            assert answer.json()["code"] in ("VALIDATION_ERROR", "BODY_TOO_LARGE")
    assert tenant.service.state() == before


def test_a_body_of_ten_megabytes_is_too_large(tenant: Tenant) -> None:
    for body in (with_value(b'{"a":"' + b"x" * 10_000_000 + b'"}'), b"x" * 10_000_000):
        problem = refused(tenant.admin.post(MEMORY, content=body), 413, "BODY_TOO_LARGE")
        assert problem["actual"] == len(body) > problem["max"] >= 50 * 65_536
    assert ok(tenant.admin.get(MEMORY))["total"] == 0


HOSTILE_IDS = [
    "../../etc/passwd",
    "..%2f..%2f",
    "mem_%00",
    "' OR '1'='1",
    "<script>alert(1)</script>",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "%s%s%n",
    "mem_" + "z" * 5000,
    "mem_\u0000",
    "mem_\r\nX-Evil: 1",
    "\u202emem",
    "🤖" * 50,
    "\ud7ff\ue000",
    "null",
    "-1",
    "#",
    "tenant#a#alice",
    "x" * 300,
]
PATHS = [
    f"{MEMORY}/{{}}",
    f"{TASKS}/{{}}",
    f"{TASKS}/{{}}/grants/alice",
    f"{TASKS}/task_1/grants/{{}}",
    f"{PRINCIPALS}/{{}}",
    f"{PRINCIPALS}/{{}}/rotate",
    f"{NAMESPACES}/{{}}",
    "/api/v1/agents/{}/memory",
    "/api/v1/agents/{}/memory/summary",
    "/api/v1/intents/{}/tasks",
    "/api/v1/intents/{}/acl",
    "/{}",
    "/api/v1/{}",
]


@pytest.mark.parametrize("path", PATHS)
def test_hostile_ids_are_only_names(tenant: Tenant, path: str) -> None:
    create_task(tenant.admin, id="task_1")
    before = tenant.service.state()
    for hostile in HOSTILE_IDS:
        for method in ("GET", "DELETE"):
            answer = tenant.admin.request(method, path.format(quote(hostile, safe="")))
            answered_empty = answer.status_code == 200 and method == "GET"
            assert answered_empty or 400 <= answer.status_code < 500, hostile
            assert "X-Evil" not in answer.headers
    assert tenant.service.state() == before


@pytest.mark.parametrize(
    "name", ["agent_id", "namespace", "key", "tags", "tags_any", "scope.task_id", "scope.intent_id"]
)
def test_hostile_filters_match_nothing(tenant: Tenant, name: str) -> None:
    create(tenant.admin, entry(tags=["t"]))
    for hostile in HOSTILE_IDS:
        answer = tenant.admin.get(MEMORY, params={name: hostile})
        if answer.status_code == 200:
            assert answer.json()["entries"] == []
        else:
            assert answer.status_code == 400


HEADERS: list[list[tuple[bytes, bytes]]] = [
    [(b"If-Match", b"1\r\nX-Evil: 1")],
    [(b"If-Match", b"9" * 5000)],
    [(b"If-Match", b"1"), (b"If-Match", b"2")],
    [(b"If-Match", b'"1"'), (b"If-Match", b'"1"')],
    [(b"If-Match", b"\xff\xfe")],
    [(b"If-Match", b"1"), (b"X-Agent-ID", b"x\r\nX-Evil: 1")],
    [(b"If-Match", b"1"), (b"X-Agent-ID", b"alice"), (b"X-Agent-ID", b"bob")],
    [(b"If-Match", b"1"), (b"X-API-Key", b"second")],
    [(b"If-Match", b"1"), (b"Idempotency-Key", b"x" * 9_000)],
]


@pytest.mark.parametrize("headers", HEADERS)
def test_hostile_headers_change_nothing(tenant: Tenant, headers: list[tuple[bytes, bytes]]) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    alice = tenant.service.client()
    own = [(b"X-API-Key", key.encode())]
    body: dict[str, Any] = entry()
    made = ok(alice.post(MEMORY, json=body, headers=own), 201)
    path = f"{MEMORY}/{made['id']}"
    answer = alice.patch(path, json={"value": {"n": 2}}, headers=own + headers)
    assert 400 <= answer.status_code < 500, answer.text
    assert "X-Evil" not in answer.headers
    assert ok(alice.get(path, headers=own)) == made


@pytest.mark.parametrize(
    "header", ["X-Request-Id", "traceparent", "Idempotency-Key", "User-Agent", "Accept"]
)
@pytest.mark.parametrize("value", [b"a\r\nX-Evil: 1", b"\xff\x00", b"x" * 10_000, b""])
def test_hostile_headers_are_never_echoed_as_headers(
    tenant: Tenant, header: str, value: bytes
) -> None:
    answer = tenant.admin.get(MEMORY, headers={header.encode(): value})
    assert "X-Evil" not in answer.headers
    assert all("\r" not in each and "\n" not in each for each in answer.headers.values())


@pytest.mark.parametrize(
    "query",
    ["%", "%zz", "a=%ff", "limit=1&limit=2", "&&&", "=", "tags=%00", "limit=%31%00"],
)
def test_hostile_query_strings_never_break_the_service(tenant: Tenant, query: str) -> None:
    answer = tenant.admin.get(httpx.URL(f"http://memory.test{MEMORY}", query=query.encode()))
    assert answer.status_code in (200, 400)


def test_a_hostile_name_in_an_answer_stays_in_its_header(tenant: Tenant) -> None:
    made = create_task(tenant.admin, id="task_\r\nX-Evil: 1")
    assert made["id"] == "task_\r\nX-Evil: 1"
    answer = tenant.admin.post(TASKS, json=task(id="task_é\r\nSet-Cookie: a=b"))
    assert answer.status_code in (201, 400)
    assert not {"x-evil", "set-cookie"} & answer.headers.keys()
    for value in answer.headers.values():
        assert "\n" not in value
        assert "\r" not in value
    assert json.loads(answer.text)


MANY_ARRAYS = b"[" + b"[]," * 600_000 + b"[]]"


def test_a_body_of_too_many_parts_is_refused_before_it_is_parsed(tenant: Tenant) -> None:
    incomplete = with_value(b'{"a":' + MANY_ARRAYS)[:-1]
    for body in (incomplete, with_value(b'{"a":' + MANY_ARRAYS + b"}")):
        problem = refused(tenant.admin.post(MEMORY, content=body), 413, "BODY_TOO_LARGE")
        assert (problem["max"], problem["actual"]) == (500_000, 600_004)
    text = json.dumps({"a": MANY_ARRAYS.decode()}).encode()
    refused(tenant.admin.post(MEMORY, content=with_value(text)), 413, "VALUE_TOO_LARGE")


def test_a_value_is_measured_before_it_is_looked_through(tenant: Tenant) -> None:
    deep = b"[" * 160 + b"]" * 160
    value = b'{"a":' + deep + b',"b":"' + b"x" * 70_000 + b'"}'
    refused(tenant.admin.post(MEMORY, content=with_value(value)), 413, "VALUE_TOO_LARGE")
    invalid(tenant.admin.post(MEMORY, content=with_value(b'{"a":' + deep + b"}")), "value")


def test_a_body_of_many_errors_is_answered_by_their_number(tenant: Tenant) -> None:
    unknown = ",".join(f'"x{number}":1' for number in range(2_000))
    answer = tenant.admin.post(MEMORY, content=f"{{{unknown}}}")
    (error,) = refused(answer, 400, "VALIDATION_ERROR")["errors"]
    assert (error["field"], error["message"][:16]) == ("body", "has 2,004 errors")
