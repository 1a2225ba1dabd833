"""Messages and metadata are changed in place, and conversations uploaded."""

import secrets
from typing import Any

import httpx
import pytest

from tests.contract.conversation_calls import (
    CONVERSATIONS,
    append,
    conversation,
    message,
    pop,
    put,
    residue,
    said,
    stored_messages,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.faults import faulty
from tests.contract.service import Service, Tenant, start
from tests.contract.sweeping import items, sweep

S1 = f"{CONVERSATIONS}/s1"


def indexes(client: httpx.Client, **page: int) -> list[int]:
    return [each["index"] for each in ok(client.get(S1, params=page))["messages"]]


def remove(client: httpx.Client, first: int, end: int | None = None, **headers: str) -> Any:
    query = {"from": first} | ({} if end is None else {"to": end})
    return client.delete(f"{S1}/messages", params=query, headers=headers)


def test_a_message_is_redacted_in_place(service: Service, alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a", "my pin is 4711", "c"), 201)
    before = ok(alice.get(S1))["messages"]
    answer = alice.patch(f"{S1}/messages/1", json={"content": "[redacted]"})
    assert ok(answer)["content"] == "[redacted]"
    assert answer.headers["ETag"] == '"2"'
    before[1]["content"] = "[redacted]"
    assert ok(alice.get(S1))["messages"] == before
    assert "4711" not in str(service.stored())
    refused(alice.patch(f"{S1}/messages/3", json={"content": 1}), 404, "NOT_FOUND")
    refused(alice.patch(f"{S1}/messages/x", json={"content": 1}), 404, "NOT_FOUND")
    for path in (S1, f"{S1}/messages/0"):
        invalid(alice.patch(path, json={}), "body")
    stale = alice.patch(f"{S1}/messages/0", json={"content": 1}, headers={"If-Match": "1"})
    refused(stale, 409, "VERSION_MISMATCH")


def test_a_repeated_change_is_made_once(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a"), 201)
    once = {"Idempotency-Key": "one"}
    for _ in range(2):
        changed = alice.patch(f"{S1}/messages/0", json={"content": "b"}, headers=once)
        assert (ok(changed)["content"], changed.headers["ETag"]) == ("b", '"2"')
    ok(alice.patch(f"{S1}/messages/0", json={"content": "c"}))
    late = alice.patch(f"{S1}/messages/0", json={"content": "b"}, headers=once)
    refused(late, 409, "VERSION_MISMATCH")
    assert said(alice, "s1") == ["c"]


def test_a_range_is_removed_and_the_others_keep_their_indexes(
    service: Service, alice: httpx.Client
) -> None:
    ok(put(alice, "s1", *"abcdef"), 201)
    removed = ok(remove(alice, 1, 3))
    assert (removed["removed"], removed["message_count"], removed["revision"]) == (2, 4, 2)
    assert indexes(alice) == [0, 3, 4, 5]
    assert ok(remove(alice, 0, 4))["removed"] == 2
    assert ok(remove(alice, 0, 4))["removed"] == 0
    assert ok(append(alice, "s1", "g"), 201)["messages"][0]["index"] == 6
    assert indexes(alice, last=2) == [5, 6]
    assert indexes(alice, offset=5, limit=1) == [5]
    assert ok(alice.get(S1, params={"limit": 2}))["next_offset"] == 6
    refused(alice.patch(f"{S1}/messages/1", json={"content": 1}), 404, "NOT_FOUND")
    assert ok(remove(alice, 6))["removed"] == 1
    assert ok(pop(alice, "s1"))["message"]["content"] == "f"
    assert said(alice, "s1") == ["e"]
    assert stored_messages(service) == 1
    assert items(service, "j#") == []
    invalid(alice.delete(f"{S1}/messages"), "from")
    refused(remove(alice, 0, None, **{"If-Match": "1"}), 409, "VERSION_MISMATCH")


def test_an_append_and_a_pop_may_name_a_revision(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a"), 201)
    refused(append(alice, "s1", "b", **{"If-Match": "99"}), 409, "VERSION_MISMATCH")
    at = {"If-Match": "1", "Idempotency-Key": "one"}
    first = ok(append(alice, "s1", "b", **at), 201)
    assert ok(append(alice, "s1", "b", **at), 201)["messages"] == first["messages"]
    refused(append(alice, "s1", "c", **{"If-Match": "1"}), 409, "VERSION_MISMATCH")
    refused(pop(alice, "s1", **{"If-Match": "1"}), 409, "VERSION_MISMATCH")
    assert said(alice, "s1") == ["a", "b"]
    at = {"If-Match": "2", "Idempotency-Key": "two"}
    assert [ok(pop(alice, "s1", **at))["message"]["content"] for _ in range(2)] == ["b", "b"]
    assert said(alice, "s1") == ["a"]


def test_metadata_tags_and_principals_change_without_the_messages(
    tenant: Tenant, alice: httpx.Client
) -> None:
    bob = tenant.agent("bob")
    ok(put(alice, "s1", "a", metadata={"m": 1}, tags=["t"]), 201)
    changed = ok(alice.patch(S1, json={"shared_with": ["bob"], "metadata": {"m": 2}}))
    assert (changed["metadata"], changed["tags"], changed["revision"]) == ({"m": 2}, ["t"], 2)
    assert said(bob, "s1") == ["a"]
    refused(bob.patch(S1, json={"tags": []}), 403, "ACCESS_DENIED")
    refused(bob.patch(f"{S1}/messages/0", json={"content": 1}), 403, "ACCESS_DENIED")
    refused(remove(bob, 0), 403, "ACCESS_DENIED")
    refused(bob.post(f"{S1}/uploads", json={}), 403, "ACCESS_DENIED")
    refused(alice.patch(S1, json={"tags": []}, headers={"If-Match": "1"}), 409, "VERSION_MISMATCH")
    handed_over = ok(alice.patch(S1, json={"agent_participants": ["bob"]}))
    assert handed_over["agent_participants"] == ["bob"]
    refused(alice.get(S1), 403, "ACCESS_DENIED")


@pytest.mark.usefixtures("volume")
def test_large_messages_and_metadata_come_back_and_leave_nothing(
    service: Service, alice: httpx.Client
) -> None:
    large = secrets.token_hex(1_200_000)
    quotes = '"' * 2_000_000
    ok(put(alice, "s1", "a", metadata={"m": 1}, sensitivity="restricted"), 201)
    ok(append(alice, "s1", large), 201)
    ok(append(alice, "s1", quotes), 201)
    ok(alice.patch(S1, json={"metadata": {"m": large}}))
    assert [said(alice, "s1", offset=n, limit=1) for n in (1, 2)] == [[large], [quotes]]
    alone = ok(alice.get(S1, params={"limit": 0}))
    assert (alone["metadata"], alone["messages"], alone["next_offset"]) == ({"m": large}, [], 0)
    beside = ok(alice.get(S1, params={"offset": 1, "limit": 1}))
    assert ("metadata" in beside, len(beside["messages"])) == (False, 1)
    ok(alice.patch(f"{S1}/messages/1", json={"content": "[redacted]"}))
    ok(alice.patch(S1, json={"metadata": {}}))
    ok(remove(alice, 2))
    sweep(service)
    assert items(service, "y#") == items(service, "l#") == []
    ok(append(alice, "s1", large), 201)
    assert_no_content(alice.delete(S1))
    assert residue(service) == []


def upload(client: httpx.Client, *texts: str, **begun: Any) -> str:
    made: str = ok(client.post(f"{S1}/uploads", json=begun), 201)["upload_id"]
    for offset, text in enumerate(texts):
        body = {"offset": offset, "messages": [message(text)]}
        uploaded = ok(client.post(f"{S1}/uploads/{made}/messages", json=body))
        assert uploaded["message_count"] == offset + 1
    return made


def test_an_upload_is_shown_by_one_write(service: Service, tenant: Tenant) -> None:
    alice, bob = tenant.agents("alice", "bob")
    ok(put(alice, "s1", "old"), 201)
    begun = upload(alice, "a", "b", sensitivity="restricted")
    assert said(alice, "s1") == ["old"]
    path = f"{S1}/uploads/{begun}/messages"
    refused(bob.post(path, json={"offset": 2, "messages": [message("x")]}), 403, "ACCESS_DENIED")
    again = {"offset": 1, "messages": [message("b")]}
    assert ok(alice.post(path, json=again))["message_count"] == 2
    invalid(alice.post(path, json=again | {"offset": 7}), "offset")
    shown = {"user_id": "user_1", "upload_id": begun}
    invalid(alice.put(S1, json=shown), "sensitivity")
    shown["sensitivity"] = "restricted"
    refused(alice.put(S1, json=shown, headers={"If-Match": "9"}), 409, "VERSION_MISMATCH")
    for _ in range(2):
        stored = ok(alice.put(S1, json=shown, headers={"If-Match": "1"}))
        assert (stored["revision"], stored["message_count"]) == (2, 2)
    assert said(alice, "s1") == ["a", "b"]
    refused(alice.post(path, json=again | {"offset": 2}), 404, "NOT_FOUND")
    service.clock.advance(seconds=16 * 60)
    sweep(service)
    assert said(alice, "s1") == ["a", "b"]
    assert stored_messages(service) == 2


@pytest.mark.in_process
def test_a_late_first_try_of_an_upload_takes_nothing_back(
    service: Service, alice: httpx.Client
) -> None:
    begun = upload(alice)
    bodies = [{"offset": number, "messages": [message(str(number))]} for number in range(2)]
    path = f"{S1}/uploads/{begun}/messages"

    def repeat_and_follow() -> None:
        refused(alice.post(path, json=bodies[1]), 400, "VALIDATION_ERROR")
        for body in bodies:
            ok(alice.post(path, json=body))

    with faulty() as dynamodb:
        instance = start(service.engine, service.clock, service.key_file, 0)
        dynamodb.interrupt("batch_write_item", lambda _: True, repeat_and_follow)
        late = instance.client(alice.headers["X-API-Key"])
        assert ok(late.post(path, json=bodies[0]))["message_count"] == 2
    ok(alice.put(S1, json={"user_id": "user_1", "upload_id": begun}), 201)
    assert said(alice, "s1") == ["0", "1"]


def test_an_upload_that_is_not_shown_is_given_up(service: Service, alice: httpx.Client) -> None:
    begun = upload(alice, "a")
    service.clock.advance(seconds=16 * 60)
    sweep(service)
    assert residue(service) == []
    shown = alice.put(S1, json={"user_id": "user_1", "upload_id": begun})
    refused(shown, 404, "NOT_FOUND")
    refused(alice.get(S1), 404, "NOT_FOUND")


def test_an_append_may_name_who_created_the_conversation(tenant: Tenant) -> None:
    ada, mallory = tenant.agent("ada"), tenant.agent("mallory")
    planted = conversation("planted", user_id="jo", agent_participants=["ada"])
    ok(mallory.put(S1, json=planted), 201)
    expecting = message("Hi") | {"expect_created_by": ["ada", "boss"]}
    refused(ada.post(f"{S1}/messages", json=expecting), 409, "CONVERSATION_NOT_OWNED")
    assert ok(ada.get(S1))["message_count"] == 1
    ok(ada.post(f"{S1}/messages", json=message("Hi") | {"expect_created_by": ["mallory"]}), 201)
    ok(ada.post(f"{S1}/messages", json=message("I join")), 201)
    absent = ada.post(f"{CONVERSATIONS}/none/messages", json=expecting)
    refused(absent, 404, "NOT_FOUND")
    invalid(
        ada.post(f"{S1}/messages", json=expecting | {"expect_created_by": []}), "expect_created_by"
    )


def test_an_append_may_name_whose_conversation_it_is(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    put(ada, "of-jo", user_id="jo")
    path = f"{CONVERSATIONS}/of-jo/messages"
    other = ada.post(path, json=message("Hi") | {"expect_user_id": "al"})
    problem = refused(other, 409, "CONVERSATION_NOT_OWNED")
    assert "belongs to another user; use another session_id" in problem["detail"]
    assert ok(ada.get(f"{CONVERSATIONS}/of-jo"))["message_count"] == 0
    ok(ada.post(path, json=message("Hi") | {"expect_user_id": "jo"}), 201)


def test_an_append_may_ask_for_a_trusted_creator(tenant: Tenant) -> None:
    ada = tenant.agent("ada", agent_type="support")
    creators = {
        "mallory": (tenant.agent("mallory"), 409),
        "seller": (tenant.agent("seller", agent_type="sales"), 409),
        "peer": (tenant.agent("peer", agent_type="support"), 201),
        "boss": (tenant.coordinator("boss"), 201),
        "admin": (tenant.admin, 201),
        "ada": (ada, 201),
    }
    for name, (creator, status) in creators.items():
        put(creator, name, user_id="jo", agent_participants=["ada"])
        asked = message("Hi") | {"expect_trusted": True}
        answer = ada.post(f"{CONVERSATIONS}/{name}/messages", json=asked)
        assert answer.status_code == status, (name, answer.text)


def test_a_message_that_another_principal_changed_says_so(tenant: Tenant) -> None:
    ada, bob = tenant.agent("ada"), tenant.agent("bob")
    put(ada, "edited", "first", user_id="jo", agent_participants=["bob"])
    append(bob, "edited", "second")
    path = f"{CONVERSATIONS}/edited/messages"
    assert "edited_by" not in ok(ada.patch(f"{path}/0", json={"content": "mine"}))
    changed = ok(ada.patch(f"{path}/1", json={"content": "not mine"}))
    assert changed["edited_by"] == "ada"
    shown = ok(bob.get(f"{CONVERSATIONS}/edited"))["messages"]
    assert [each.get("edited_by") for each in shown] == [None, "ada"]
    assert shown[1]["edited_at"] == changed["edited_at"]
    records = ok(tenant.admin.get("/api/v1/audit"))["records"]
    (record,) = [each for each in records if each["action"] == "message.change"]
    assert (record["actor"]["id"], record["before"]) == ("ada", {"author": "bob"})
    ok(bob.delete(path, params={"from": 1}))
    ok(bob.delete(path, params={"from": 0}))
    records = ok(tenant.admin.get("/api/v1/audit"))["records"]
    deleted = [each["target"] for each in records if each["action"] == "message.delete"]
    assert deleted == ["message:edited/0"]
