"""Objects of over 4 MB come and go by addresses of their own."""

import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest

from functions.platform.archive_storage import FILES_PATH
from functions.platform.limits import (
    MAX_OBJECT_BYTES,
    MAX_UPLOADED_OBJECT_BYTES,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.faults import Killed, When
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import items, sweep
from tests.contract.test_conversations_faults import dying
from tests.contract.test_objects import SMALL, count_files, list_keys, path, put, read

pytestmark = pytest.mark.in_process
LARGE = secrets.token_bytes(MAX_OBJECT_BYTES + 1)
UPLOADS = path("uploads")


def begin(client: httpx.Client, size: int = len(LARGE), **fields: Any) -> dict[str, Any]:
    upload: dict[str, Any] = ok(client.post(UPLOADS, json={"size": size} | fields), 201)
    return upload


def send(service: Service, upload: dict[str, Any], data: bytes = LARGE) -> httpx.Response:
    """Sends bytes to an upload's address, without any key."""
    stranger = service.client()
    return stranger.request(
        upload["method"], upload["url"], content=data, headers=upload["headers"]
    )


def complete(
    client: httpx.Client, key: str, upload: dict[str, Any], **headers: str
) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.put(path(key), headers={"X-Object-Upload": upload["upload_id"]} | named)


def store(service: Service, client: httpx.Client, key: str, data: bytes = LARGE) -> dict[str, Any]:
    upload = begin(client, len(data))
    assert send(service, upload, data).status_code == 200
    answer = complete(client, key, upload)
    assert answer.status_code in (200, 201), answer.text
    stored: dict[str, Any] = answer.json()
    return stored


@pytest.fixture
def ada(tenant: Tenant) -> httpx.Client:
    """A coordinator, since agents create no shared spaces."""
    return tenant.coordinator("ada")


@pytest.fixture(autouse=True)
def _no_files(service: Service) -> None:
    for each in (service.archive / "objects").rglob("*"):
        if each.is_file():
            each.unlink()


@pytest.mark.parametrize("sensitivity", ["internal", "restricted"])
def test_a_large_object_comes_back_from_an_address(
    service: Service, ada: httpx.Client, sensitivity: str
) -> None:
    upload = begin(ada, sensitivity=sensitivity)
    assert list_keys(ada) == []
    assert send(service, upload).status_code == 200
    described = {"Content-Type": "image/png", "X-Object-Metadata": '{"a":1}'}
    answer = complete(ada, "k", upload, X_Object_Sensitivity=sensitivity, **described)
    stored = ok(answer, 201)
    assert (stored["size"], stored["metadata"]) == (len(LARGE), {"a": 1})
    found = ada.get(path("k"))
    assert (found.status_code, found.content) == (307, b"")
    assert found.headers["ETag"] == stored["etag"]
    given = service.client().get(found.headers["Location"])
    assert given.content == LARGE
    assert given.headers["Content-Type"] == "image/png"
    head = ada.head(path("k"))
    assert (head.status_code, head.headers["X-Object-Size"]) == (200, str(len(LARGE)))
    unchanged = ada.get(path("k"), headers={"If-None-Match": stored["etag"]})
    assert unchanged.status_code == 304
    files = [each for each in (service.archive / "objects").rglob("*") if each.is_file()]
    is_plain = [LARGE[:50] in each.read_bytes() for each in files]
    assert is_plain == [sensitivity == "internal"]


def test_a_part_of_a_large_object_is_read_at_once_or_by_an_address(
    service: Service, ada: httpx.Client
) -> None:
    store(service, ada, "k")
    part = ada.get(path("k"), headers={"Range": "bytes=4194300-"})
    assert (part.status_code, part.content) == (206, LARGE[4194300:])
    assert part.headers["Content-Range"] == f"bytes 4194300-4194304/{len(LARGE)}"
    asked = {"Range": "bytes=0-4194304"}
    address = ada.get(path("k"), headers=asked).headers["Location"]
    for wanted, bytes_given in (
        ("bytes=1-9", LARGE[1:10]),
        ("bytes=-5", LARGE[-5:]),
        (f"bytes={len(LARGE) - 1}-", LARGE[-1:]),
    ):
        given = service.client().get(address, headers={"Range": wanted})
        assert (given.status_code, given.content) == (206, bytes_given)
    beyond = service.client().get(address, headers={"Range": f"bytes={len(LARGE)}-"})
    refused(beyond, 416, "RANGE_NOT_SATISFIABLE")
    several = service.client().get(address, headers={"Range": "bytes=0-1,3-4"})
    assert (several.status_code, several.content) == (200, LARGE)


def test_many_reads_leave_large_objects_to_a_get(service: Service, ada: httpx.Client) -> None:
    store(service, ada, "large")
    put(ada, "small")
    answer = ok(ada.post(path("read"), json={"keys": ["large", "small"]}))
    assert [each["key"] for each in answer["objects"]] == ["small"]
    assert (answer["too_large"], answer["unread"], answer["missing"]) == (["large"], [], [])


def test_preconditions_hold_when_an_upload_completes(service: Service, ada: httpx.Client) -> None:
    first = put(ada, "k")
    upload = begin(ada, 3)
    send(service, upload, b"abc")
    refused(complete(ada, "k", upload, If_None_Match="*"), 409, "ENTRY_EXISTS")
    service.clock.advance(seconds=1)
    second = put(ada, "k", b"2")
    stale = complete(ada, "k", upload, If_Match=first["etag"])
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == second["version"]
    replaced = ok(complete(ada, "k", upload, If_Match=second["etag"]))
    assert ok(complete(ada, "k", upload, If_Match=second["etag"])) == replaced
    assert read(ada, "k") == b"abc"


def test_what_was_uploaded_never_changes_and_is_used_once(
    service: Service, ada: httpx.Client
) -> None:
    upload = begin(ada, 3)
    assert send(service, upload, b"abc").status_code == 200
    assert send(service, upload, b"xyz").status_code == 412
    ok(complete(ada, "k", upload), 201)
    assert send(service, upload, b"xyz").status_code == 412
    refused(complete(ada, "other", upload), 409, "VERSION_MISMATCH")
    put(ada, "k", b"newer")
    refused(complete(ada, "k", upload), 404, "NOT_FOUND")
    assert (read(ada, "k"), list_keys(ada)) == (b"newer", ["k"])


@pytest.mark.usefixtures("parallel")
def test_of_parallel_completions_one_wins_and_the_others_learn_it(
    service: Service, ada: httpx.Client
) -> None:
    upload = begin(ada, 3)
    send(service, upload, b"abc")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda key: complete(ada, key, upload), "abcdefgh"))
    codes = sorted(each.status_code for each in answers)
    assert codes == [201] + [409] * 7, [each.text for each in answers]
    assert len(list_keys(ada)) == 1


def test_an_upload_needs_its_writer_its_bytes_and_its_sensitivity(
    service: Service, tenant: Tenant
) -> None:
    ada, bob = tenant.coordinator("ada"), tenant.agent("bob")
    put(ada, "shared")
    ok(ada.patch(path(), json={"permissions": {"default": "write"}}))
    upload = begin(ada, 3)
    invalid(complete(ada, "k", upload), "X-Object-Upload")
    assert send(service, upload, b"abcd").status_code == 403
    assert send(service, upload, b"abc").status_code == 200
    refused(complete(bob, "k", upload), 404, "NOT_FOUND")
    refused(complete(ada, "k", {"upload_id": "none"}), 404, "NOT_FOUND")
    invalid(complete(ada, "k", upload, X_Object_Sensitivity="restricted"), "X-Object-Upload")
    headers = {"X-Object-Upload": upload["upload_id"]}
    invalid(ada.put(path("k"), content=b"x", headers=headers), "X-Object-Upload")
    ok(complete(ada, "k", upload), 201)
    ok(ada.patch(path(), json={"permissions": {"default": "read"}}))
    refused(bob.post(UPLOADS, json={"size": 3}), 403, "ACCESS_DENIED")
    for size in (MAX_UPLOADED_OBJECT_BYTES + 1, 2**70):
        huge = ada.post(UPLOADS, json={"size": size})
        assert refused(huge, 413, "VALUE_TOO_LARGE")["max"] == MAX_UPLOADED_OBJECT_BYTES


def test_addresses_serve_for_minutes_and_what_they_were_signed_for(
    service: Service, ada: httpx.Client
) -> None:
    stored, upload, stranger = store(service, ada, "k"), begin(ada, 3), service.client()
    address = ada.get(path("k")).headers["Location"]
    assert FILES_PATH in address
    forged = address[:-4] + ("AAAA" if not address.endswith("AAAA") else "BBBB")
    for wrong in (forged, upload["url"]):
        refused(stranger.get(wrong), 403, "ACCESS_DENIED")
    refused(stranger.put(address, content=b"abc"), 403, "ACCESS_DENIED")
    service.clock.advance(seconds=301)
    refused(stranger.get(address), 403, "ACCESS_DENIED")
    service.clock.advance(seconds=600)
    refused(send(service, upload, b"abc"), 403, "ACCESS_DENIED")
    ok(ada.put(path("k"), content=b"2", headers={"If-Match": stored["etag"]}))


def test_an_address_serves_no_longer_than_its_object(service: Service, ada: httpx.Client) -> None:
    upload = begin(ada)
    send(service, upload)
    ok(complete(ada, "k", upload, X_Object_TTL="60"), 201)
    address = ada.get(path("k")).headers["Location"]
    service.clock.advance(seconds=60)
    refused(service.client().get(address), 403, "ACCESS_DENIED")


def test_an_upload_that_nobody_completes_is_swept(service: Service, ada: httpx.Client) -> None:
    upload = begin(ada)
    send(service, upload)
    service.clock.advance(seconds=3601)
    refused(complete(ada, "k", upload), 404, "NOT_FOUND")
    sweep(service)
    assert (count_files(service), items(service, "file#")) == (0, [])
    refused(complete(ada, "k", upload), 404, "NOT_FOUND")


def test_bytes_that_come_after_a_deletion_are_swept(service: Service, ada: httpx.Client) -> None:
    """The address serves on for minutes: the file's marker stays until it no longer does."""
    upload = begin(ada, 3)
    send(service, upload, b"abc")
    ok(complete(ada, "k", upload), 201)
    assert_no_content(ada.delete(path("k")))
    service.clock.advance(seconds=901)
    sweep(service)
    assert (count_files(service), items(service, "file#")) == (0, [])


def test_a_repeated_begin_is_the_same_upload_and_never_one_that_is_completed(
    service: Service, ada: httpx.Client
) -> None:
    headers, body = {"Idempotency-Key": "one"}, {"size": 3}
    first, again = (ok(ada.post(UPLOADS, json=body, headers=headers), 201) for _ in range(2))
    assert first["upload_id"] == again["upload_id"]
    other = ada.post(UPLOADS, json={"size": 4}, headers=headers)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    send(service, again, b"abc")
    ok(complete(ada, "k", first), 201)
    refused(ada.post(UPLOADS, json=body, headers=headers), 409, "VERSION_MISMATCH")
    service.clock.advance(seconds=4000)
    sweep(service)
    assert read(ada, "k") == b"abc"


def test_a_large_object_is_renamed_and_shared_like_any_other(
    service: Service, tenant: Tenant
) -> None:
    ada, bob = tenant.coordinator("ada"), tenant.agent("bob")
    store(service, ada, "k")
    ok(ada.post(path("rename"), json={"from": "k", "to": "l"}))
    refused(bob.get(path("l")), 403, "ACCESS_DENIED")
    ok(ada.patch(path(), json={"permissions": {"default": "read"}}))
    assert service.client().get(bob.get(path("l")).headers["Location"]).content == LARGE
    assert ok(ada.delete(path(), params={"prefix": ""}))["deleted"] == 1


def _begin(client: httpx.Client, _: dict[str, Any]) -> object:
    return client.post(UPLOADS, json={"size": 3})


def _complete(client: httpx.Client, upload: dict[str, Any]) -> object:
    return complete(client, "k", upload)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("act", [_begin, _complete])
def test_a_crash_at_any_write_leaves_no_file_for_long(
    service: Service,
    tenant: Tenant,
    when: When,
    act: Callable[[httpx.Client, dict[str, Any]], object],
) -> None:
    api_key: str = tenant.principal("coordinator", "ada")["api_key"]
    ada, at, killed = service.client(api_key), 0, True
    while killed:
        at += 1
        put(ada, "k", SMALL * 2000)
        upload = begin(ada, 3)
        send(service, upload, os.urandom(3))
        with suppress(Killed):
            act(dying(service, api_key, at, when), upload)
            killed = False
        assert len(read(ada, "k")) in (3, len(SMALL * 2000))
        service.clock.advance(seconds=3601)
        sweep(service)
        assert len(items(service, "obj#")) == count_files(service) == 1
