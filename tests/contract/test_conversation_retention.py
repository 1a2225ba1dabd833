"""A conversation whose retention is over goes to cold storage, to be read back."""

import secrets
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from functions.container import Container
from functions.platform.settings import ScheduleSettings
from functions.schedule.handler import build_handler
from tests.contract.conversation_calls import CONVERSATIONS, append, put, residue, said
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.faults import Killed, When, faulty
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep, sweeper
from tests.contract.transport import LambdaContext

DAY = 24 * 3600


def archive(client: httpx.Client, session: str, **query: int | str) -> Any:
    return ok(client.get(f"{CONVERSATIONS}/{session}/archive", params=query))


def files(service: Service, tenant: Tenant) -> list[Path]:
    folder = service.archive / "conversations" / tenant.id
    return [each for each in folder.rglob("*") if each.is_file()]


@pytest.mark.in_process
def test_an_expired_conversation_is_archived_as_it_was(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    made = ok(put(alice, "s1", "a", "b", ttl="duration:P1D", metadata={"m": 1}), 201)
    assert made["expires_at"] == service.clock.time(seconds=DAY)
    ok(append(alice, "s1", "c"), 201)
    before = ok(alice.get(f"{CONVERSATIONS}/s1"))
    service.clock.advance(seconds=DAY)
    refused(alice.get(f"{CONVERSATIONS}/s1"), 404, "NOT_FOUND")
    refused(append(alice, "s1", "late"), 404, "NOT_FOUND")
    assert ok(alice.get("/api/v1/users/user_1/conversations"))["total"] == 0
    refused(alice.get(f"{CONVERSATIONS}/s1/archive"), 404, "NOT_FOUND")
    sweep(service)
    assert residue(service) == []
    assert archive(alice, "s1") == before
    assert len(files(service, tenant)) == 1


def test_an_archive_is_read_in_pages_by_its_readers(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    texts = [f"text {number}" for number in range(1200)]
    bob, carol = tenant.agents("bob", "carol")
    ok(put(alice, "s1", *texts, ttl="duration:P1D", shared_with=["bob"]), 201)
    service.clock.advance(seconds=DAY)
    sweep(service)
    page = archive(bob, "s1", offset=495, limit=510)
    assert [each["content"] for each in page["messages"]] == texts[495:1005]
    assert page["next_offset"] == 1005
    path = f"{CONVERSATIONS}/s1/archive"
    refused(carol.get(path), 403, "ACCESS_DENIED")
    refused(bob.delete(path), 403, "ACCESS_DENIED")
    refused(service.tenant().admin.get(path), 404, "NOT_FOUND")
    assert_no_content(alice.delete(path))
    refused(alice.get(path), 404, "NOT_FOUND")
    assert files(service, tenant) == []


def test_sensitive_conversations_are_archived_encrypted(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    fields = {"sensitivity": "restricted", "metadata": {"m": "hidden-text"}}
    ok(put(alice, "s1", "hidden-text", ttl="duration:P1D", **fields), 201)
    service.clock.advance(seconds=DAY)
    sweep(service)
    (file,) = files(service, tenant)
    assert b"hidden-text" not in file.read_bytes()
    assert "hidden-text" not in str(service.stored())
    found = archive(alice, "s1")
    assert (found["metadata"], found["messages"][0]["content"]) == (
        {"m": "hidden-text"},
        "hidden-text",
    )


def test_a_damaged_message_of_an_archive_hides_no_other(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    ok(put(alice, "s1", "first", "second", ttl="duration:P1D", sensitivity="restricted"), 201)
    service.clock.advance(seconds=DAY)
    sweep(service)
    (file,) = files(service, tenant)
    first, second = map(orjson.loads, file.read_bytes().splitlines())
    moved = second | {"value": first["value"], "data_key": first["data_key"]}
    file.write_bytes(orjson.dumps(first) + b"\n" + orjson.dumps(moved) + b"\n")
    found = archive(alice, "s1")["messages"]
    assert (found[0]["content"], found[1]["unreadable"]) == ("first", True)


def test_a_new_conversation_archives_the_expired_one_first(
    service: Service, alice: httpx.Client
) -> None:
    ok(put(alice, "s1", "old", ttl="duration:P1D"), 201)
    service.clock.advance(seconds=DAY)
    ok(put(alice, "s1", "new"), 201)
    assert said(alice, "s1") == ["new"]
    assert [each["content"] for each in archive(alice, "s1")["messages"]] == ["old"]


def test_a_later_conversation_of_others_hides_no_archive(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    mallory = tenant.agent("mallory")
    ok(put(alice, "s1", "mine", ttl="duration:P1D"), 201)
    service.clock.advance(seconds=DAY)
    sweep(service)
    ok(put(mallory, "s1", "in the way", user_id="mallory", ttl="duration:PT1S"), 201)
    service.clock.advance(seconds=1)
    sweep(service)
    for reader, text in ((alice, "mine"), (mallory, "in the way")):
        assert [each["content"] for each in archive(reader, "s1")["messages"]] == [text]
    refused(tenant.agent("carol").get(f"{CONVERSATIONS}/s1/archive"), 403, "ACCESS_DENIED")
    assert_no_content(alice.delete(f"{CONVERSATIONS}/s1/archive"))
    refused(alice.get(f"{CONVERSATIONS}/s1/archive"), 403, "ACCESS_DENIED")
    assert_no_content(mallory.delete(f"{CONVERSATIONS}/s1/archive"))
    assert files(service, tenant) == []


def test_archives_are_listed_to_their_readers_and_read_one_by_one(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    bob = tenant.agent("bob")
    for text in ("first", "second"):
        ok(put(alice, "s1", text, ttl="duration:P1D", tags=[text], metadata={"m": 1}), 201)
        service.clock.advance(seconds=DAY)
    ok(put(bob, "s2", "of bob", user_id="bob", ttl="duration:PT1S"), 201)
    service.clock.advance(seconds=1)
    sweep(service)
    ok(put(alice, "s1", "present"), 201)

    def list_all(client: httpx.Client, **query: Any) -> Any:
        return ok(client.get(CONVERSATIONS, params={"archived": "true"} | query))

    page = list_all(alice, limit=1)
    assert (page["total"], page["conversations"][0]["tags"]) == (2, ["second"])
    (first,) = list_all(alice, after=page["next"])["conversations"]
    assert list_all(alice, tags="first")["conversations"] == [first]
    assert "metadata" not in first
    found = archive(alice, "s1", expires_at=first["expires_at"])
    assert found.items() >= first.items()
    assert [each["content"] for each in found["messages"]] == ["first"]
    assert [each["session_id"] for each in list_all(bob)["conversations"]] == ["s2"]
    assert "hidden" not in list_all(tenant.agent("eve"))
    assert "hidden" not in list_all(service.tenant().admin)
    assert [each["tags"] for each in ok(alice.get(CONVERSATIONS))["conversations"]] == [[]]
    assert_no_content(
        alice.delete(f"{CONVERSATIONS}/s1/archive", params={"expires_at": first["expires_at"]})
    )
    assert [each["tags"] for each in list_all(alice)["conversations"]] == [["second"]]


@pytest.mark.usefixtures("volume")
def test_an_archive_has_what_is_left_and_what_is_large(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    large = secrets.token_hex(100_000)
    fields = {"ttl": "duration:P1D", "sensitivity": "restricted", "metadata": {"m": large}}
    ok(put(alice, "s1", "a", "b", "c", large, **fields), 201)
    ok(alice.delete(f"{CONVERSATIONS}/s1/messages?from=1&to=2"))
    service.clock.advance(seconds=DAY)
    sweep(service)
    assert residue(service) == []
    found = archive(alice, "s1")
    assert [(each["index"], each["content"]) for each in found["messages"]] == [
        (0, "a"), (2, "c"), (3, large)
    ]  # fmt: skip
    assert found["metadata"] == {"m": large}
    assert_no_content(alice.delete(f"{CONVERSATIONS}/s1/archive"))
    assert files(service, tenant) == []


def test_a_retention_can_be_extended(service: Service, alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a", ttl="duration:P1D"), 201)
    ok(alice.patch(f"{CONVERSATIONS}/s1", json={"ttl": "duration:P3D"}))
    service.clock.advance(seconds=2 * DAY)
    sweep(service)
    assert said(alice, "s1") == ["a"]
    ok(put(alice, "s1", "for good"))
    service.clock.advance(seconds=2 * DAY)
    sweep(service)
    assert said(alice, "s1") == ["for good"]


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_archival_killed_at_any_write_is_finished_by_the_next(
    service: Service, alice: httpx.Client, when: When
) -> None:
    texts = [f"text {number}" for number in range(60)]
    settings = ScheduleSettings(
        memory_table=service.engine.memory,
        log_table=service.engine.log,
        archive_folder=str(service.archive),
        encryption_key_file=str(service.key_file),
        sweep_threads=1,
    )
    for nth in range(1, 60):
        ok(put(alice, f"s{nth}", *texts, ttl="duration:P1D"), 201)
        service.clock.advance(seconds=DAY)
        with faulty(nth, when):
            handler = build_handler(Container(settings, service.clock))
        try:
            handler({}, LambdaContext())
        except Killed:
            sweeper(service)()
            assert residue(service) == []
            assert [each["content"] for each in archive(alice, f"s{nth}")["messages"]] == texts
        else:
            break
    assert nth > 5
