"""Agent Memory Protocol §3, §4.1: conversations."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from functions.conversations import store
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
from tests.contract.service import Service, Tenant
from tests.contract.transport import MovableClock


def of_user(client: httpx.Client, user: str, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = ok(client.get(f"/api/v1/users/{user}/conversations", params=query))
    return found


@pytest.mark.in_process
def test_a_conversation_is_given_back_as_it_was_stored(
    alice: httpx.Client, clock: MovableClock
) -> None:
    assistant = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Grüße 👋"}, 2**70, None],
        "timestamp": "2029-12-31T23:00:00.000Z",
        "metadata": {"tokens": 12},
    }
    body = {
        "session_id": "s1",
        "user_id": "user_1",
        "messages": [message("hello"), assistant],
        "metadata": {"summary": "greetings"},
        "agent_participants": ["alice", "bob"],
        "tags": ["a"],
        "version": "1.0",
    }
    answer = alice.put(f"{CONVERSATIONS}/s1", json=body)
    made = ok(answer, 201)
    assert "messages" not in made
    assert answer.headers["Location"] == f"{CONVERSATIONS}/s1"
    found = alice.get(f"{CONVERSATIONS}/s1")
    assert found.headers["ETag"] == answer.headers["ETag"] == '"1"'
    document = ok(found)
    hello = {"index": 0, **message("hello"), "timestamp": clock.time(), "metadata": {}}
    assert document["messages"] == [hello, {"index": 1, **assistant}]
    expected = body | {"created_at": clock.time(), "updated_at": clock.time(), "message_count": 2}
    page = {"messages": document["messages"], "offset": 0, "total": 2}
    assert document == made | expected | page


@pytest.mark.moto
def test_appended_messages_get_the_next_indexes(alice: httpx.Client, clock: MovableClock) -> None:
    ok(put(alice, "s1", "a", "b"), 201)
    clock.advance(seconds=5)
    added = ok(append(alice, "s1", "c"), 201)
    assert [(each["index"], each["content"]) for each in added["messages"]] == [(2, "c")]
    assert ok(append(alice, "s1", "d", "e"), 201)["message_count"] == 5
    assert said(alice, "s1") == ["a", "b", "c", "d", "e"]
    assert ok(alice.get(f"{CONVERSATIONS}/s1"))["updated_at"] == clock.time()


def test_pages_are_exact_wherever_they_start(alice: httpx.Client) -> None:
    ok(put(alice, "s1", *map(str, range(10))), 201)
    assert said(alice, "s1", limit=3) == ["0", "1", "2"]
    assert said(alice, "s1", offset=4, limit=3) == ["4", "5", "6"]
    assert said(alice, "s1", offset=8) == ["8", "9"]
    assert said(alice, "s1", offset=10) == []
    assert ok(alice.get(f"{CONVERSATIONS}/s1?limit=4&offset=4"))["next_offset"] == 8
    assert "next_offset" not in ok(alice.get(f"{CONVERSATIONS}/s1?offset=4"))


@pytest.mark.moto
def test_messages_are_read_on_from_a_cursor(alice: httpx.Client) -> None:
    ok(put(alice, "s1", *map(str, range(5))), 201)
    seen, asked = list[str](), dict[str, Any](limit=2)
    while True:
        page = ok(alice.get(f"{CONVERSATIONS}/s1", params=asked))
        assert page["total"] == 5
        seen += [each["content"] for each in page["messages"]]
        if "next" not in page:
            break
        asked["after"] = page["next"]
    assert seen == list("01234")
    assert "total" not in ok(alice.get(f"{CONVERSATIONS}/s1?total=none"))
    for query in (
        asked | {"after": "x"},
        asked | {"offset": 1},
        {"after": asked["after"], "last": 1},
    ):
        assert alice.get(f"{CONVERSATIONS}/s1", params=query).status_code == 400


def test_a_conversation_outgrows_an_item(alice: httpx.Client) -> None:
    texts = [f"{number:03}" + "ü" * 30_000 for number in range(100)]
    ok(put(alice, "s1", *texts[:60]), 201)
    ok(append(alice, "s1", *texts[60:100]), 201)
    pages: list[str] = []
    while len(pages) < 100:
        found = ok(alice.get(f"{CONVERSATIONS}/s1", params={"offset": len(pages)}))
        pages += [each["content"] for each in found["messages"]]
        assert found.get("next_offset", 100) == len(pages)
    assert pages == texts


def test_a_replacement_leaves_nothing_of_the_old_messages(
    service: Service, alice: httpx.Client
) -> None:
    ok(put(alice, "s1", "old", "older", metadata={"x": 1}), 201)
    ok(append(alice, "s1", "oldest", **{"Idempotency-Key": "one"}), 201)
    answer = put(alice, "s1", "new")
    assert ok(answer)["revision"] == 3
    assert ok(answer)["metadata"] == {}
    assert said(alice, "s1") == ["new"]
    assert stored_messages(service) == 1
    ok(put(alice, "s1", *["many"] * 150))
    assert said(alice, "s1") == ["many"] * 150
    assert stored_messages(service) == 150


def test_a_replacement_may_name_a_revision(alice: httpx.Client) -> None:
    path = f"{CONVERSATIONS}/s1"
    refused(alice.put(path, json=conversation("a"), headers={"If-Match": "1"}), 404, "NOT_FOUND")
    ok(alice.put(path, json=conversation("a"), headers={"If-Match": "0"}), 201)
    ok(append(alice, "s1", "b"), 201)
    for only_new in ({"If-Match": "0"}, {"If-None-Match": "*"}):
        second = alice.put(path, json=conversation("c"), headers=only_new)
        assert refused(second, 409, "VERSION_MISMATCH")["current_version"] == 2
    stale = alice.put(path, json=conversation("c"), headers={"If-Match": "1"})
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 2
    refused(alice.delete(path, headers={"If-Match": "1"}), 409, "VERSION_MISMATCH")
    assert said(alice, "s1") == ["a", "b"]
    ok(alice.put(path, json=conversation("c"), headers={"If-Match": '"2"'}))


def test_a_deleted_conversation_leaves_nothing_in_storage(
    service: Service, alice: httpx.Client
) -> None:
    ok(put(alice, "s1", *["secret"] * 200), 201)
    ok(append(alice, "s1", "more", **{"Idempotency-Key": "one"}), 201)
    assert_no_content(alice.delete(f"{CONVERSATIONS}/s1"))
    refused(alice.get(f"{CONVERSATIONS}/s1"), 404, "NOT_FOUND")
    refused(append(alice, "s1", "late"), 404, "NOT_FOUND")
    refused(alice.delete(f"{CONVERSATIONS}/s1"), 404, "NOT_FOUND")
    assert of_user(alice, "user_1")["total"] == 0
    assert residue(service) == []


def test_a_users_conversations_come_newest_first_without_messages(
    alice: httpx.Client, clock: MovableClock
) -> None:
    for number in range(5):
        clock.advance(ms=1)
        ok(put(alice, f"s{number}", "hidden", tags=["even"] if number % 2 == 0 else []), 201)
    ok(put(alice, "other", "hidden", user_id="user_2"), 201)
    page = of_user(alice, "user_1", limit=2, offset=1)
    assert [each["session_id"] for each in page["conversations"]] == ["s3", "s2"]
    assert (page["total"], page["next_offset"]) == (5, 3)
    assert "hidden" not in str(page)
    even = of_user(alice, "user_1", tags="even")
    assert [each["session_id"] for each in even["conversations"]] == ["s4", "s2", "s0"]


def test_an_updated_conversation_comes_first(alice: httpx.Client, clock: MovableClock) -> None:
    for session in ("s1", "s2", "s3"):
        clock.advance(ms=1)
        ok(put(alice, session, "a", metadata={"m": session}), 201)

    def listed() -> list[str]:
        return [each["session_id"] for each in of_user(alice, "user_1")["conversations"]]

    clock.advance(ms=1)
    ok(append(alice, "s1", "b"), 201)
    assert listed() == ["s1", "s3", "s2"]
    clock.advance(ms=1)
    ok(alice.patch(f"{CONVERSATIONS}/s2", json={"tags": ["t"]}))
    clock.advance(ms=1)
    ok(pop(alice, "s3"))
    assert listed() == ["s3", "s2", "s1"]
    page = of_user(alice, "user_1", values="omit")
    assert "metadata" not in page["conversations"][0]
    assert (page["total"], page["conversations"][1]["tags"]) == (3, ["t"])


def test_a_conversation_may_move_to_another_user(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a"), 201)
    ok(put(alice, "s1", "a", user_id="user_2"))
    assert of_user(alice, "user_1")["total"] == 0
    assert of_user(alice, "user_2")["total"] == 1


def test_who_made_it_keeps_no_power_over_it(tenant: Tenant) -> None:
    mallory, user = tenant.agent("mallory"), tenant.user("user_1")
    made = ok(put(mallory, "s1", "for you"), 201)
    assert made["agent_participants"] == ["mallory"]
    stored = ok(put(user, "s1", "my pin", sensitivity="restricted"))
    assert (stored["created_by"], stored["agent_participants"]) == ("mallory", [])
    refused(mallory.get(f"{CONVERSATIONS}/s1"), 403, "ACCESS_DENIED")
    refused(put(mallory, "s1", "mine", user_id="mallory"), 403, "ACCESS_DENIED")
    assert of_user(mallory, "user_1")["total"] == 0
    assert said(user, "s1") == ["my pin"]


@pytest.mark.in_process
def test_what_a_principal_puts_into_another_ones_list_is_limited(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_LISTED_CONVERSATIONS", 2)
    mallory, user = tenant.agent("mallory"), tenant.user("user_1")
    for session in ("s1", "s2"):
        ok(put(mallory, session, "spam"), 201)
    full = refused(put(mallory, "s3", "spam"), 429, "CAPACITY_EXCEEDED")
    assert (full["limit"], full["max_capacity"]) == ("conversations_in_a_users_list", 2)
    ok(put(user, "s3", "mine"), 201)
    ok(put(mallory, "s4", "own", user_id="mallory"), 201)
    refused(put(mallory, "s4", "moved"), 429, "CAPACITY_EXCEEDED")
    assert_no_content(user.delete(f"{CONVERSATIONS}/s1"))
    ok(put(mallory, "s4", "moved"))


def test_pages_by_cursor_skip_and_repeat_nothing(alice: httpx.Client, clock: MovableClock) -> None:
    for number in range(5):
        clock.advance(ms=1)
        ok(put(alice, f"s{number}"), 201)
    first = of_user(alice, "user_1", limit=2, total="none")
    assert "total" not in first
    clock.advance(ms=1)
    ok(append(alice, "s2", "to the top"), 201)
    second = of_user(alice, "user_1", limit=9, total="none", after=first["next"])
    listed = [each["session_id"] for each in first["conversations"] + second["conversations"]]
    assert listed == ["s4", "s3", "s1", "s0"]
    assert "next" not in second


def test_a_retried_append_gets_the_first_response(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a"), 201)
    first = ok(append(alice, "s1", "b", **{"Idempotency-Key": "one"}), 201)
    ok(append(alice, "s1", "c"), 201)
    again = ok(append(alice, "s1", "b", **{"Idempotency-Key": "one"}), 201)
    assert again["messages"] == first["messages"]
    other = append(alice, "s1", "d", **{"Idempotency-Key": "one"})
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    assert said(alice, "s1") == ["a", "b", "c"]


def test_the_last_messages_are_read_and_popped(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a", "b", "c"), 201)
    assert said(alice, "s1", last=2) == ["b", "c"]
    assert said(alice, "s1", last=9) == ["a", "b", "c"]
    invalid(alice.get(f"{CONVERSATIONS}/s1?last=1&limit=1"), "last")
    for left in ("c", "b", "a"):
        assert ok(pop(alice, "s1"))["message"]["content"] == left
    assert ok(pop(alice, "s1"))["message"] is None
    assert said(alice, "s1") == said(alice, "s1", last=5) == []


@pytest.mark.usefixtures("parallel")
def test_parallel_tries_of_an_append_get_the_same_answer(alice: httpx.Client) -> None:
    put(alice, "s", "hello")
    with ThreadPoolExecutor(8) as pool:
        tries = [
            pool.submit(append, alice, "s", "more", **{"Idempotency-Key": "k"}) for _ in range(8)
        ]
        first, *others = [ok(each.result(), 201) for each in tries]
    assert (first["message_count"], said(alice, "s")) == (2, ["hello", "more"])
    assert others == [first] * 7


def test_any_text_names_a_session_also_that_of_another_path(alice: httpx.Client) -> None:
    for session in ("search", "search-2", "search/more"):
        named = session.replace("/", "%2F")
        ok(put(alice, named, "hello"), 201)
        ok(append(alice, named, "more"), 201)
        assert said(alice, named) == ["hello", "more"]
        assert_no_content(alice.delete(f"{CONVERSATIONS}/{named}"))


@pytest.mark.in_process  # API Gateway answers OPTIONS itself
def test_a_path_of_several_routes_refuses_other_methods(alice: httpx.Client) -> None:
    refused(alice.options(f"{CONVERSATIONS}/search"), 405, "METHOD_NOT_ALLOWED")


def test_a_repeated_pop_takes_one_message(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a", "b", "c", sensitivity="restricted"), 201)
    once = {"Idempotency-Key": "p"}
    first = ok(pop(alice, "s1", **once))
    assert ok(pop(alice, "s1", **once))["message"] == first["message"]
    assert first["message"]["content"] == "c"
    assert said(alice, "s1") == ["a", "b"]


def test_a_popped_append_is_not_repeated(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "a"), 201)
    ok(append(alice, "s1", "b", **{"Idempotency-Key": "one"}), 201)
    ok(pop(alice, "s1"))
    for _ in range(2):
        again = append(alice, "s1", "b", **{"Idempotency-Key": "one"})
        refused(again, 404, "NOT_FOUND")
        ok(append(alice, "s1", "c"), 201)
    assert said(alice, "s1") == ["a", "c", "c"]


def test_an_old_schema_is_migrated_when_it_is_read(
    alice: httpx.Client, clock: MovableClock
) -> None:
    ok(put(alice, "s1", "a", version="0.9"), 201)
    created = clock.time()
    clock.advance(seconds=9)
    found = ok(alice.get(f"{CONVERSATIONS}/s1"))
    filled = {"index": 0, **message("a"), "timestamp": created, "metadata": {}}
    assert (found["version"], found["messages"]) == ("1.0", [filled])


def test_sensitive_conversations_are_encrypted(service: Service, alice: httpx.Client) -> None:
    plain = ok(put(alice, "open", "visible-text", metadata={"m": "visible-text"}), 201)
    fields = {"metadata": {"m": "hidden-text"}, "sensitivity": "restricted"}
    ok(put(alice, "s1", "hidden-text", **fields), 201)
    ok(append(alice, "s1", "hidden-text"), 201)
    assert said(alice, "s1") == ["hidden-text"] * 2
    assert ok(alice.get(f"{CONVERSATIONS}/s1"))["metadata"] == {"m": "hidden-text"}
    assert plain["sensitivity"] is None
    assert "visible-text" in str(service.stored())
    assert "hidden-text" not in str(service.stored())
