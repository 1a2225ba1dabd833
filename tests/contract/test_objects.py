"""Objects, bytes under a key."""

import base64
import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest

from functions.platform.limits import MAX_INLINE_OBJECT_BYTES
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.faults import Killed, When
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import items, sweep
from tests.contract.test_conversations_faults import dying

pytestmark = pytest.mark.in_process
OBJECTS = "/api/v1/objects"
SMALL, LARGE = b"\x00\xff small", secrets.token_bytes(MAX_INLINE_OBJECT_BYTES + 1)


def path(key: str = "", space: str = "files") -> str:
    return f"{OBJECTS}/{space}" + (f"/{key}" if key else "")


def put(client: httpx.Client, key: str, data: bytes = SMALL, **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = client.put(path(key), content=data, headers=named)
    assert answer.status_code in (200, 201), answer.text
    stored: dict[str, Any] = answer.json()
    return stored


def read(client: httpx.Client, key: str, **headers: str) -> bytes:
    answer = client.get(path(key), headers=headers)
    assert answer.status_code in (200, 206), answer.text
    return answer.content


def list_keys(client: httpx.Client, **params: Any) -> list[str]:
    return [each["key"] for each in ok(client.get(path(), params=params))["objects"]]


def count_files(service: Service) -> int:
    """Count the files that the storage's folder has for objects."""
    return sum(each.is_file() for each in (service.archive / "objects").rglob("*"))


@pytest.fixture
def ada(tenant: Tenant) -> httpx.Client:
    """A coordinator, since agents create no shared spaces."""
    return tenant.coordinator("ada")


@pytest.fixture(autouse=True)
def _no_files(service: Service) -> None:
    for each in (service.archive / "objects").rglob("*"):
        if each.is_file():
            each.unlink()


@pytest.mark.parametrize("data", [b"", SMALL, LARGE], ids=["empty", "small", "large"])
@pytest.mark.parametrize("sensitivity", ["internal", "restricted"])
def test_an_object_comes_back_as_it_was_stored(
    service: Service, ada: httpx.Client, data: bytes, sensitivity: str
) -> None:
    metadata = {"name": "Grüße 😀", "n": [1]}
    described = {"Content-Type": "image/png", "X-Object-Metadata": json.dumps(metadata)}
    headers = described | {"X-Object-Sensitivity": sensitivity}
    answer = ada.put(path("a/b.png"), content=data, headers=headers)
    stored = ok(answer, 201)
    assert (stored["key"], stored["size"], stored["metadata"]) == ("a/b.png", len(data), metadata)
    assert answer.headers["ETag"] == stored["etag"] == f'"{stored["version"]}"'
    for method in ("GET", "HEAD"):
        found = ada.request(method, path("a/b.png"))
        assert found.status_code == 200
        assert found.content == (data if method == "GET" else b"")
        assert method == "GET" or found.headers["Content-Length"] == str(len(data))
        assert found.headers["Content-Type"] == "image/png"
        assert found.headers["ETag"] == stored["etag"]
        assert found.headers["X-Object-Size"] == str(len(data))
        assert json.loads(found.headers["X-Object-Metadata"]) == metadata
        assert found.headers["X-Object-Sensitivity"] == sensitivity
    is_stored_plain = data[:20] in (items(service, "obj#")[0].get("value") or b"")
    if sensitivity == "restricted" and data:
        files = [each for each in (service.archive / "objects").rglob("*") if each.is_file()]
        assert not is_stored_plain
        assert all(data[:20] not in each.read_bytes() for each in files)
        assert "Grüße" not in str(service.stored())


def test_an_object_is_overwritten_unless_a_precondition_says_otherwise(ada: httpx.Client) -> None:
    first = put(ada, "k")
    second = put(ada, "k", b"2")
    assert second["version"] > first["version"]
    assert second["metadata"] == {}
    stale = ada.put(path("k"), content=b"3", headers={"If-Match": first["etag"]})
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == second["version"]
    taken = ada.put(path("k"), content=b"3", headers={"If-None-Match": "*"})
    refused(taken, 409, "ENTRY_EXISTS")
    absent = ada.put(path("new"), content=b"3", headers={"If-Match": first["etag"]})
    refused(absent, 404, "NOT_FOUND")
    invalid(ada.put(path("k"), content=b"3", headers={"If-Match": "x"}), "If-Match")
    assert read(ada, "k") == b"2"
    put(ada, "k", b"3", If_Match=second["etag"])
    put(ada, "new", b"4", If_None_Match="*")
    assert (read(ada, "k"), read(ada, "new")) == (b"3", b"4")


def test_a_deleted_object_is_not_found_and_its_version_never_returns(ada: httpx.Client) -> None:
    first = put(ada, "k")
    refused(ada.delete(path("k"), headers={"If-Match": "7"}), 409, "VERSION_MISMATCH")
    assert_no_content(ada.delete(path("k"), headers={"If-Match": first["etag"]}))
    refused(ada.get(path("k")), 404, "NOT_FOUND")
    refused(ada.delete(path("k")), 404, "NOT_FOUND")
    ada_again = put(ada, "k", b"other")
    assert ada_again["version"] != first["version"]
    assert ada.get(path("k"), headers={"If-None-Match": first["etag"]}).status_code == 200


def test_a_reader_gets_304_of_what_it_has(ada: httpx.Client) -> None:
    etag = put(ada, "k")["etag"]
    for method in ("GET", "HEAD"):
        unchanged = ada.request(method, path("k"), headers={"If-None-Match": etag})
        assert (unchanged.status_code, unchanged.content) == (304, b"")


@pytest.mark.parametrize("data", [b"0123456789", bytes(range(256)) * 40])
def test_a_range_of_bytes_is_read(ada: httpx.Client, data: bytes) -> None:
    etag = put(ada, "k", data)["etag"]
    part = ada.get(path("k"), headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, data[2:5])
    assert part.headers["Content-Range"] == f"bytes 2-4/{len(data)}"
    assert read(ada, "k", Range="bytes=-3") == data[-3:]
    behind = ada.get(path("k"), headers={"Range": f"bytes={len(data)}-"})
    assert refused(behind, 416, "RANGE_NOT_SATISFIABLE")["size"] == len(data)
    assert behind.headers["Content-Range"] == f"bytes */{len(data)}"
    other = {"Range": "bytes=0-0", "If-Range": '"1"'}
    assert ada.get(path("k"), headers=other).content == data
    assert read(ada, "k", **{"Range": "bytes=0-0", "If-Range": etag}) == data[:1]


def test_a_list_goes_by_key_in_pages(ada: httpx.Client) -> None:
    keys = sorted(["a", "a/1", "a/2", "a#b", "b", "é", "{x}", "😀"])
    for key in reversed(keys):
        put(ada, key.replace("#", "%23"))
    assert list_keys(ada) == keys
    assert list_keys(ada, prefix="a/") == ["a/1", "a/2"]
    seen, page = [], ok(ada.get(path(), params={"limit": 3}))
    while True:
        seen += [each["key"] for each in page["objects"]]
        if "next" not in page:
            break
        put(ada, "0 comes before all")
        asked = {"limit": 3, "after": page["next"], "total": "none"}
        page = ok(ada.get(path(), params=asked))
    assert seen == keys
    cursor = ok(ada.get(path(), params={"limit": 1}))["next"]
    invalid(ada.get(path(), params={"after": cursor, "prefix": "a"}), "after")
    assert list_keys(ada, prefix="zz") == []
    (head,) = ok(ada.get(path(), params={"limit": 1, "values": "omit"}))["objects"]
    assert (head["key"], "metadata" in head) == ("0 comes before all", False)
    assert ok(ada.get(path(space="unmade")))["objects"] == []


def test_all_keys_with_a_prefix_are_deleted(service: Service, ada: httpx.Client) -> None:
    for number in range(45):
        put(ada, f"tree/{number:02}", LARGE if number % 20 == 0 else SMALL)
    put(ada, "tree2")
    invalid(ada.delete(path()), "prefix")
    answer = ok(ada.delete(path(), params={"prefix": "tree/"}))
    assert answer == {"deleted": 45, "complete": True}
    assert list_keys(ada) == ["tree2"]
    assert ok(ada.delete(path(), params={"prefix": ""}))["deleted"] == 1
    assert items(service, "obj#") == items(service, "file#") == []
    assert count_files(service) == 0


@pytest.mark.parametrize("data", [SMALL, LARGE])
def test_an_object_gets_another_key(service: Service, ada: httpx.Client, data: bytes) -> None:
    stored = put(ada, "old", data, X_Object_Sensitivity="restricted", X_Object_Metadata='{"a":1}')
    put(ada, "taken", LARGE)
    body = {"from": "old", "to": "taken"}
    refused(ada.post(path("rename"), json=body), 409, "ENTRY_EXISTS")
    refused(ada.post(path("rename"), json={"from": "no", "to": "new"}), 404, "NOT_FOUND")
    invalid(ada.post(path("rename"), json={"from": "old", "to": "old"}), "to")
    stale = ada.post(path("rename"), json={"from": "old", "to": "n"}, headers={"If-Match": "1"})
    refused(stale, 409, "VERSION_MISMATCH")
    key = {"Idempotency-Key": "once"}
    for _ in range(2):
        renamed = ok(ada.post(path("rename"), json=body | {"overwrite": True}, headers=key))
        assert (renamed["key"], renamed["metadata"]) == ("taken", {"a": 1})
        assert renamed["version"] > stored["version"]
    assert list_keys(ada) == ["taken"]
    assert read(ada, "taken") == data
    assert count_files(service) == (data == LARGE)
    assert_no_content(ada.delete(path("taken")))


def test_many_objects_are_read_in_one_call(ada: httpx.Client) -> None:
    data = {"a": SMALL, "b/c": LARGE, "d": b""}
    for key, each in data.items():
        put(ada, key, each)
    answer = ok(ada.post(path("read"), json={"keys": ["d", "none", "a", "b/c", "a"]}))
    found = {each["key"]: base64.b64decode(each["data"]) for each in answer["objects"]}
    assert found == data
    assert (answer["missing"], answer["unread"]) == (["none"], [])
    for key in "xy":
        put(ada, key, bytes(3_000_000))
    answer = ok(ada.post(path("read"), json={"keys": ["x", "y"]}))
    assert ([each["key"] for each in answer["objects"]], answer["unread"]) == (["x"], ["y"])


def test_an_expired_object_is_gone_at_once_and_swept(service: Service, ada: httpx.Client) -> None:
    for key, data, ttl in (("s", SMALL, "60"), ("l", LARGE, "PT1M"), ("n", LARGE, "duration:P1D")):
        assert put(ada, key, data, X_Object_TTL=ttl)["expires_at"]
    service.clock.advance(seconds=61)
    refused(ada.get(path("s")), 404, "NOT_FOUND")
    assert list_keys(ada) == ["n"]
    assert ok(ada.post(path("read"), json={"keys": ["l"]}))["missing"] == ["l"]
    created = ada.put(path("s"), content=SMALL, headers={"If-None-Match": "*"})
    assert ok(created, 201)["expires_at"] is None
    assert sweep(service)["objects"] == 1
    assert len(items(service, "obj#")) == 2
    assert count_files(service) == 1


def test_a_space_is_its_makers_until_permissions_say_otherwise(tenant: Tenant) -> None:
    ada, bob, boss = tenant.coordinator("ada"), tenant.agent("bob"), tenant.coordinator("boss")
    put(ada, "k")
    refused(bob.get(path("k")), 403, "ACCESS_DENIED")
    grant = {"permissions": {"allow": [{"agent": "bob", "access": "read"}]}}
    changed = ok(ada.patch(path(), json=grant))
    assert (changed["owner"], changed["permissions"]["default"]) == ("ada", "none")
    assert read(bob, "k") == SMALL
    refused(bob.put(path("k"), content=b"x"), 403, "ACCESS_DENIED")
    ok(tenant.admin.patch(path(), json={"permissions": {"default": "write"}}))
    put(boss, "k", b"boss")
    stale = ada.patch(path(), json=grant, headers={"If-Match": "1"})
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 3
    spaces = ok(bob.get(OBJECTS))["spaces"]
    assert [(each["space"], each["owner"]) for each in spaces] == [("files", "ada")]


def test_what_is_malformed_or_too_large_is_refused(ada: httpx.Client) -> None:
    for header, value in (
        ("X-Object-Metadata", "{"),
        ("X-Object-Metadata", "[]"),
        ("X-Object-TTL", "soon"),
        ("X-Object-TTL", "task_lifetime"),
        ("X-Object-TTL", "0"),
        ("X-Object-Sensitivity", "secret"),
    ):
        invalid(ada.put(path("k"), content=SMALL, headers={header: value}))
    invalid(ada.put(path("k" * 1001), content=SMALL), "key")
    large = json.dumps({"a": "x" * 2048})
    problem = ada.put(path("k"), content=SMALL, headers={"X-Object-Metadata": large})
    assert refused(problem, 413, "VALUE_TOO_LARGE")["max"] == 2048
    problem = ada.put(path("k"), content=bytes(4_194_305))
    assert refused(problem, 413, "VALUE_TOO_LARGE")["max"] == 4_194_304
    put(ada, "k" * 1000, bytes(4_194_304))
    assert len(read(ada, "k" * 1000)) == 4_194_304


def test_a_repeated_put_is_answered_again(service: Service, ada: httpx.Client) -> None:
    first = put(ada, "k", b"1")
    service.clock.advance(seconds=1)
    headers = {"If-Match": first["etag"], "Idempotency-Key": "one"}
    answers = [ok(ada.put(path("k"), content=b"2", headers=headers)) for _ in range(2)]
    assert answers[0] == answers[1]
    other = ada.put(path("k"), content=b"3", headers=headers)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    new = [ada.put(path("new"), content=b"1", headers={"Idempotency-Key": "two"}) for _ in "12"]
    assert [each.status_code for each in new] == [201, 201]


@pytest.mark.parametrize(
    ("header", "value"),
    [("X-Object-TTL", "60"), ("X-Object-Metadata", '{"a":1}'), ("Content-Type", "text/plain")],
)
def test_a_retry_that_describes_the_object_otherwise_is_a_conflict(
    ada: httpx.Client, header: str, value: str
) -> None:
    once = {"Idempotency-Key": "once"}
    ok(ada.put(path("k"), content=b"1", headers=once), 201)
    other = ada.put(path("k"), content=b"1", headers=once | {header: value})
    refused(other, 409, "IDEMPOTENCY_CONFLICT")


def test_an_error_of_a_header_names_the_header(ada: httpx.Client) -> None:
    for lifetime in ("soon", "-1", "0"):
        invalid(ada.put(path("k"), content=b"", headers={"X-Object-TTL": lifetime}), "X-Object-TTL")
    stored = ok(ada.put(path("k"), content=b"", headers={"Content-Type": ""}), 201)
    assert stored["content_type"] == "application/octet-stream"


@pytest.mark.usefixtures("parallel")
def test_parallel_writers_of_one_key_all_win_and_readers_see_whole_objects(
    service: Service, ada: httpx.Client
) -> None:
    wholes = {bytes([n]) * (MAX_INLINE_OBJECT_BYTES + n % 2) for n in range(16)}
    put(ada, "k", next(iter(wholes)))
    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(put, ada, "k", each) for each in wholes]
        while not all(each.done() for each in writing):
            assert read(ada, "k") in wholes
        for each in writing:
            each.result()
    assert read(ada, "k")
    assert count_files(service) == ("file" in items(service, "obj#")[0])


@pytest.mark.usefixtures("parallel")
def test_parallel_changes_at_a_version_lose_nothing(ada: httpx.Client) -> None:
    put(ada, "k", b"0")

    def increment(_: int) -> None:
        while True:
            found = ada.get(path("k"))
            content, headers = b"%d" % (int(found.content) + 1), {"If-Match": found.headers["ETag"]}
            if ada.put(path("k"), content=content, headers=headers).status_code == 200:
                return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(increment, range(20)))
    assert read(ada, "k") == b"20"


def _write(client: httpx.Client) -> object:
    return client.put(path("k"), content=LARGE[::-1])


def _rename(client: httpx.Client) -> object:
    body = {"from": "k", "to": "taken", "overwrite": True}
    return client.post(path("rename"), json=body)


def _delete(client: httpx.Client) -> object:
    return client.delete(path(), params={"prefix": ""})


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("act", [_write, _rename, _delete])
def test_a_crash_at_any_write_leaves_a_whole_object_and_no_file_for_long(
    service: Service, tenant: Tenant, when: When, act: Any
) -> None:
    api_key: str = tenant.principal("coordinator", "ada")["api_key"]
    ada, at = service.client(api_key), 0
    known = {LARGE, LARGE[::-1], SMALL * 2000}
    while True:
        at += 1
        put(ada, "k", LARGE)
        put(ada, "taken", SMALL * 2000)
        killed = True
        with suppress(Killed):
            act(dying(service, api_key, at, when))
            killed = False
        keys = list_keys(ada)
        assert {read(ada, key) for key in keys} <= known
        service.clock.advance(seconds=16 * 60)
        sweep(service)
        assert items(service, "file#") == []
        assert count_files(service) == len(items(service, "obj#")) == len(keys)
        if not killed:
            return


PRIVATE = "/api/v1/agents/ann/objects/notes"


def test_a_private_space_belongs_to_its_owner_before_and_after_it_exists(tenant: Tenant) -> None:
    eve, boss = tenant.agent("eve"), tenant.coordinator("boss")
    for stranger in (eve, boss, tenant.admin):
        refused(stranger.put(f"{PRIVATE}/k", content=b"planted"), 403, "ACCESS_DENIED")
        body = {"permissions": {"default": "read"}}
        refused(stranger.patch(PRIVATE, json=body), 403, "ACCESS_DENIED")
        refused(stranger.get(f"{PRIVATE}/k"), 403, "ACCESS_DENIED")
        refused(stranger.post(f"{PRIVATE}/uploads", json={"size": 3}), 403, "ACCESS_DENIED")
        alias = "/api/v1/objects/agents%2Fann%2Fnotes/k"
        refused(stranger.put(alias, content=b"planted"), 403, "ACCESS_DENIED")
    ann = tenant.agent("ann")
    assert ann.get(f"{PRIVATE}/k").status_code == 404
    ok(ann.put(f"{PRIVATE}/k", content=b"mine"), 201)
    for stranger in (eve, boss, tenant.admin):
        refused(stranger.get(f"{PRIVATE}/k"), 403, "ACCESS_DENIED")
        refused(stranger.put(f"{PRIVATE}/k", content=b"taken"), 403, "ACCESS_DENIED")
    shared = {"permissions": {"allow": [{"agent": "eve", "access": "read"}]}}
    ok(ann.patch(PRIVATE, json=shared))
    assert eve.get(f"{PRIVATE}/k").content == b"mine"
    refused(eve.put(f"{PRIVATE}/k", content=b"taken"), 403, "ACCESS_DENIED")
    refused(boss.get(PRIVATE), 403, "ACCESS_DENIED")
    (known,) = ok(tenant.admin.get(PRIVATE))["objects"]
    assert known["key"] == "k"
    assert "metadata" not in known
    listed = ok(tenant.admin.get("/api/v1/objects"))["spaces"]
    assert [each["space"] for each in listed] == ["agents/ann/notes"]
    assert_no_content(tenant.admin.delete(f"{PRIVATE}/k"))
    assert ann.get(f"{PRIVATE}/k").status_code == 404


def test_agents_create_no_shared_spaces(tenant: Tenant) -> None:
    ann, boss = tenant.agent("ann"), tenant.coordinator("boss")
    refused(ann.put("/api/v1/objects/plain/k", content=b"x"), 403, "ACCESS_DENIED")
    refused(ann.patch("/api/v1/objects/plain", json={"permissions": {}}), 403, "ACCESS_DENIED")
    body = {"permissions": {"allow": [{"agent": "ann", "access": "write"}]}}
    ok(boss.patch("/api/v1/objects/plain", json=body))
    ok(ann.put("/api/v1/objects/plain/k", content=b"x"), 201)


@pytest.mark.parametrize("key", ["a/state", "a/state/b/c", "events", "a/memory/config", "memory"])
def test_a_key_in_a_private_space_may_end_as_other_paths_do(tenant: Tenant, key: str) -> None:
    ann = tenant.agent("ann")
    ok(ann.put(f"{PRIVATE}/{key}", content=b"mine"), 201)
    assert ann.get(f"{PRIVATE}/{key}").content == b"mine"
    assert_no_content(ann.delete(f"{PRIVATE}/{key}"))
