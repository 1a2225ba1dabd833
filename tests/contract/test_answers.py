"""Messages say from which items of memory they were made, and an item lists these answers."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import allow, create, entry, semantic
from tests.contract.conversation_calls import (
    CONVERSATIONS,
    append,
    conversation,
    message,
    pop,
    put,
    residue,
)
from tests.contract.expect import assert_no_content, invalid, ok
from tests.contract.fact_calls import learn
from tests.contract.run_calls import append as append_episode
from tests.contract.run_calls import start
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import items, sweep
from tests.contract.test_forget import forget
from tests.contract.test_inspection import grant_permissions
from tests.contract.test_inspection import uses as list_inspections

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
RECALL = "/api/v1/recall"
TEA = "m.earlier.3"
Json = dict[str, Any]


def answer(
    client: httpx.Client, session: str, text: str, *uses: str, **fields: Any
) -> httpx.Response:
    """Append an answer that was made from these items."""
    body = message(text, "assistant", uses=list(uses), **fields)
    return client.post(f"{CONVERSATIONS}/{session}/messages", json=body)


def page(client: httpx.Client, reference: str, **query: int | str) -> Json:
    found: Json = ok(client.get(f"{RECALL}/{reference}/answers", params=query))
    return found


def texts(client: httpx.Client, reference: str, **query: int | str) -> list[str]:
    return [each["text"] for each in page(client, reference, **query)["answers"]]


def test_an_item_lists_the_answers_that_were_made_from_it(alice: httpx.Client) -> None:
    ok(put(alice, "s1", "What do I drink?"), 201)
    shown = ok(answer(alice, "s1", "Tea, as ever", TEA, "f.1"), 201)["messages"][0]
    assert shown["uses"] == [TEA, "f.1"]
    question, reply = ok(alice.get(f"{CONVERSATIONS}/s1"))["messages"]
    assert "uses" not in question
    assert reply["uses"] == [TEA, "f.1"]
    (found,) = page(alice, TEA)["answers"]
    assert found["reference"] == "m.s1.1"
    assert (found["session_id"], found["index"], found["role"]) == ("s1", 1, "assistant")
    assert (found["text"], found["time"]) == ("Tea, as ever", reply["timestamp"])
    assert found == ok(alice.get(f"{RECALL}/m.s1.1"))
    assert page(alice, "f.1")["answers"] == [found]
    assert page(alice, "m.earlier.4") == {"answers": [], "limit": 100, "offset": 0, "total": 0}


def test_the_short_and_the_whole_form_of_a_reference_name_one_item(
    tenant: Tenant, alice: httpx.Client
) -> None:
    allow(tenant.admin, "team", "write")
    own = create(alice, entry(key="own"))
    shared = create(alice, semantic(namespace="team", key="shared"))
    fact = learn(alice, "Ada", "drinks", "tea")
    run = start(alice)
    episode = append_episode(alice, run, "Poured the tea")
    ok(put(alice, "a b", "Tea, please"), 201)
    forms = [f"e.{own['id']}", f"e.{shared['id']}", f"f.{fact['fact_id']}"]
    forms += [f"p.{run['id']}.{episode['id']}", "m.a~20b.00"]
    short = [ok(alice.get(f"{RECALL}/{each}"))["reference"] for each in forms]
    assert short != forms
    ok(put(alice, "s1"), 201)
    for number, both in enumerate(zip(short, forms, strict=True)):
        ok(answer(alice, "s1", f"short {number}", both[0]), 201)
        ok(answer(alice, "s1", f"whole {number}", both[1], both[0]), 201)
        for each in both:
            assert texts(alice, each) == [f"whole {number}", f"short {number}"]


def test_every_way_to_store_messages_keeps_their_uses(
    service: Service, alice: httpx.Client
) -> None:
    named = [message(f"m{n}", "assistant", uses=[TEA, f"f.{n}"]) for n in range(40)]
    ok(alice.put(f"{CONVERSATIONS}/few", json=conversation() | {"messages": named[:2]}), 201)
    ok(alice.put(f"{CONVERSATIONS}/many", json=conversation() | {"messages": named}), 201)
    ok(put(alice, "appended"), 201)
    key = {"Idempotency-Key": "once"}
    path = f"{CONVERSATIONS}/appended/messages"
    for _ in range(2):
        ok(alice.post(path, json={"messages": named[:3]}, headers=key), 201)
    uploads = f"{CONVERSATIONS}/uploaded/uploads"
    upload = ok(alice.post(uploads, json={}), 201)["upload_id"]
    piece = {"offset": 0, "messages": named}
    ok(alice.post(f"{uploads}/{upload}/messages", json=piece))
    assert texts(alice, "f.7") == ["m7"], "an upload that is not shown"
    shown = {"user_id": "alice", "upload_id": upload}
    ok(alice.put(f"{CONVERSATIONS}/uploaded", json=shown), 201)
    assert page(alice, TEA)["total"] == 2 + 40 + 3 + 40
    assert texts(alice, "f.7") == ["m7", "m7"]
    old = conversation(version="0.9") | {"messages": [message("old", uses=["f.old"])]}
    ok(alice.put(f"{CONVERSATIONS}/old", json=old), 201)
    assert texts(alice, "f.old") == ["old"]
    for session in ("few", "many", "appended", "uploaded", "old"):
        assert_no_content(alice.delete(f"{CONVERSATIONS}/{session}"))
    assert residue(service) == []
    assert page(alice, TEA)["total"] == 0


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "x",
        "tea",
        "m.s",
        "m.s.-1",
        "m.s.x",
        "m.s.٣",
        "q.1",
        "e.mem_x",
        "e.n",
        "e.x.ada",
        "e.nope",
    ],
)
def test_a_text_that_is_no_reference_is_refused(alice: httpx.Client, reference: str) -> None:
    ok(put(alice, "s1"), 201)
    refused = answer(alice, "s1", "a", TEA, reference)
    invalid(refused, "uses")
    body = conversation() | {"messages": [message("a", uses=[reference])]}
    assert alice.put(f"{CONVERSATIONS}/s2", json=body).status_code == 400
    if reference:
        assert "must be references from a recall" in refused.text
        assert alice.get(f"{RECALL}/{reference}/answers").status_code == 404


def test_a_message_has_fifty_uses_and_an_append_ninety_writes(alice: httpx.Client) -> None:
    ok(put(alice, "s1"), 201)
    most = [f"f.{n}" for n in range(50)]
    assert len(ok(answer(alice, "s1", "a", *most), 201)["messages"][0]["uses"]) == 50
    invalid(answer(alice, "s1", "a", *most, "f.50"), "uses")
    fits = [message("b", uses=most[:39])] + [message("c") for _ in range(49)]
    fits[1]["uses"] = ["f.0"]
    path = f"{CONVERSATIONS}/s1/messages"
    key = {"Idempotency-Key": "once"}
    assert len(ok(alice.post(path, json={"messages": fits}, headers=key), 201)["messages"]) == 50
    fits[2]["uses"] = ["f.0"]
    refused = alice.post(path, json={"messages": fits})
    invalid(refused, "body")
    assert "append fewer at a time" in refused.text
    assert ok(pop(alice, "s1", **{"Idempotency-Key": "p"}))["message"]["content"] == "c"


def test_a_request_stores_ten_thousand_uses_at_most(service: Service, alice: httpx.Client) -> None:
    many = [message("a", uses=[f"f.{n}" for n in range(50)]) for _ in range(201)]
    body = conversation() | {"messages": many}
    invalid(alice.put(f"{CONVERSATIONS}/s1", json=body), "messages")
    uploads = f"{CONVERSATIONS}/s1/uploads"
    upload = ok(alice.post(uploads, json={}), 201)["upload_id"]
    piece = alice.post(f"{uploads}/{upload}/messages", json={"offset": 0, "messages": many})
    invalid(piece, "messages")
    assert "upload them in parts" in piece.text
    assert items(service, "w#") == []


@pytest.mark.parametrize("uses", [TEA, [1], [None], {"a": TEA}, [["f.1"]], [f"f.{'x' * 3000}"]])
def test_uses_are_a_list_of_texts(alice: httpx.Client, uses: Any) -> None:
    ok(put(alice, "s1"), 201)
    body = message("a") | {"uses": uses}
    invalid(alice.post(f"{CONVERSATIONS}/s1/messages", json=body), "uses")


def test_hostile_names_are_kept_apart(alice: httpx.Client) -> None:
    ok(put(alice, "s1"), 201)
    names = ["m.~3cb~3e.0", "m.~00.0", "m.a#b.0", "m.ü.0", "m.~ff.0", "f.w#g#1", "f.~2e~2e~2f"]
    for each in names:
        ok(answer(alice, "s1", each, each), 201)
    for each in names:
        assert texts(alice, each.replace("#", "~23")) == [each]
    assert texts(alice, "m.~c3~bc.0") == ["m.ü.0"]
    text = 'a "uses": ["f.1"] b'
    ok(answer(alice, "s1", text), 201)
    ok(alice.post(f"{CONVERSATIONS}/s1/messages", json=message({"uses": ["f.1"]})), 201)  # type: ignore[arg-type]
    assert texts(alice, "f.1") == []


def test_a_changed_message_keeps_its_uses(alice: httpx.Client) -> None:
    ok(put(alice, "s1"), 201)
    ok(answer(alice, "s1", "Tee", TEA), 201)
    changed = ok(alice.patch(f"{CONVERSATIONS}/s1/messages/0", json={"content": "Tea"}))
    assert changed["uses"] == [TEA]
    assert texts(alice, TEA) == ["Tea"]
    path = f"{CONVERSATIONS}/s1/messages/0"
    invalid(alice.patch(path, json={"uses": []}), "uses")


def test_what_is_removed_is_no_answer_and_leaves_nothing(
    service: Service, alice: httpx.Client
) -> None:
    ok(put(alice, "s1"), 201)
    for text in "abcde":
        ok(answer(alice, "s1", text, TEA, f"f.{text}"), 201)
    assert ok(pop(alice, "s1"))["message"]["uses"] == [TEA, "f.e"]
    assert texts(alice, TEA) == ["d", "c", "b", "a"]
    ok(answer(alice, "s1", "again", TEA), 201)
    assert texts(alice, TEA)[0] == "again"
    assert texts(alice, "f.e") == []
    ok(alice.delete(f"{CONVERSATIONS}/s1/messages", params={"from": 1, "to": 3}))
    assert texts(alice, TEA) == ["again", "d", "a"]
    assert len(items(service, "w#")) == 1 + 2 + 2
    ok(alice.delete(f"{CONVERSATIONS}/s1/messages", params={"from": 3}))
    assert texts(alice, TEA) == ["a"]
    assert len(items(service, "w#")) == 2
    ok(put(alice, "s1", "replaced"))
    assert texts(alice, TEA) == []
    assert items(service, "w#") == []


def test_an_ended_retention_and_a_forgotten_user_leave_no_answers(
    service: Service, tenant: Tenant, alice: httpx.Client
) -> None:
    for session, user in (("s1", "ada"), ("s2", "bob")):
        ok(put(alice, session, user_id=user, ttl="duration:P1D"), 201)
        ok(answer(alice, session, user, TEA), 201)
    assert texts(alice, TEA) == ["bob", "ada"]
    assert forget(tenant.admin, "ada")["conversations"] == 1
    assert texts(alice, TEA) == ["bob"]
    service.clock.advance(seconds=24 * 3600)
    assert texts(alice, TEA) == []
    sweep(service)
    assert residue(service) == []
    archived = ok(alice.get(f"{CONVERSATIONS}/s2/archive"))["messages"][0]
    assert archived["uses"] == [TEA]
    assert texts(alice, TEA) == []


def test_answers_that_the_caller_may_not_read_are_left_out(
    tenant: Tenant, alice: httpx.Client
) -> None:
    bob = tenant.agent("bob")
    ok(put(alice, "s1", user_id="alice"), 201)
    ok(answer(alice, "s1", "hers", TEA, "f.hers"), 201)
    ok(put(bob, "s2", user_id="bob", agent_participants=["alice"]), 201)
    ok(answer(bob, "s2", "theirs", TEA), 201)
    assert texts(alice, TEA) == ["theirs", "hers"]
    assert page(bob, TEA)["answers"] == page(bob, TEA, limit=1)["answers"]
    assert (texts(bob, TEA), page(bob, TEA)["total"]) == (["theirs"], 1)
    assert page(bob, "f.hers") == page(bob, "f.none")
    ok(alice.patch(f"{CONVERSATIONS}/s1", json={"shared_with": ["bob"]}))
    assert texts(bob, "f.hers") == ["hers"]
    ok(alice.patch(f"{CONVERSATIONS}/s1", json={"shared_with": []}))
    assert page(bob, "f.hers") == page(bob, "f.none")
    assert texts(tenant.service.tenant().agent("bob"), TEA) == []
    tenant.agent("auditor", permissions=["memory.read"])
    ok(grant_permissions(tenant, "auditor", ["memory.read", "memory.inspect"]))
    assert list_inspections(tenant) == []


def test_an_inspector_reads_all_answers_and_is_recorded(
    tenant: Tenant, alice: httpx.Client
) -> None:
    ok(put(alice, "s1", user_id="alice"), 201)
    ok(answer(alice, "s1", "hers", TEA), 201)
    auditor = tenant.agent("auditor", permissions=["memory.read"])
    assert texts(auditor, TEA) == []
    ok(grant_permissions(tenant, "auditor", ["memory.read", "memory.inspect"]))
    assert texts(auditor, TEA) == ["hers"]
    assert len(list_inspections(tenant)) == 1


@pytest.mark.parametrize("sensitivity", ["confidential", "restricted"])
def test_encrypted_conversations_are_no_answers(
    service: Service, alice: httpx.Client, sensitivity: str
) -> None:
    ok(put(alice, "s1", sensitivity=sensitivity), 201)
    shown = ok(answer(alice, "s1", "secret", "m.secret-session.1"), 201)["messages"][0]
    assert shown["uses"] == ["m.secret-session.1"]
    assert ok(alice.get(f"{CONVERSATIONS}/s1"))["messages"] == [shown]
    assert texts(alice, "m.secret-session.1") == []
    assert items(service, "w#") == []
    assert "secret-session" not in str(service.stored())


def test_answers_are_listed_by_their_time_in_pages(tenant: Tenant, alice: httpx.Client) -> None:
    bob = tenant.agent("bob")
    for client, session in ((alice, "s1"), (bob, "s2")):
        ok(put(client, session, user_id=session), 201)
    days = [5, 2, 9, 1, 7]
    for day in days:
        ok(answer(alice, "s1", f"{day}", TEA, timestamp=f"2026-01-0{day}T00:00:00Z"), 201)
        ok(answer(bob, "s2", "hidden", TEA, timestamp=f"2026-01-0{day}T00:00:00Z"), 201)
    ok(answer(alice, "s1", "ancient", TEA, timestamp="1955-11-05T00:00:00Z"), 201)
    wanted = ["9", "7", "5", "2", "1", "ancient"]
    first = page(alice, TEA, limit=2)
    assert (first["total"], first["limit"]) == (6, 2)
    found, following = [each["text"] for each in first["answers"]], first
    while "next" in following:
        following = page(alice, TEA, limit=2, after=following["next"])
        found += [each["text"] for each in following["answers"]]
    assert found == wanted
    assert "total" not in page(alice, TEA, total="none")
    invalid(alice.get(f"{RECALL}/f.1/answers", params={"after": first["next"]}), "after")
    assert alice.get(f"{RECALL}/{TEA}/answers", params={"limit": 0}).status_code == 400


def test_a_writer_without_read_sees_no_uses(tenant: Tenant) -> None:
    writer = tenant.agent("writer", permissions=["memory.write"])
    ok(put(writer, "s1"), 201)
    assert "uses" not in ok(answer(writer, "s1", "a", TEA), 201)["messages"][0]
    assert writer.get(f"{RECALL}/{TEA}/answers").status_code == 403


def test_an_append_without_uses_writes_no_row(service: Service, alice: httpx.Client) -> None:
    ok(put(alice, "s1"), 201)
    ok(append(alice, "s1", "a", "b"), 201)
    assert items(service, "w#") == []
