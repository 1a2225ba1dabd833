"""The conversations that a caller may read, of all users."""

from typing import Any

import httpx

from tests.contract.conversation_calls import CONVERSATIONS, append, put
from tests.contract.expect import assert_no_content, ok
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock


def readable(client: httpx.Client, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = ok(client.get(CONVERSATIONS, params=query))
    return found


def sessions(page: dict[str, Any]) -> list[str]:
    return [each["session_id"] for each in page["conversations"]]


def test_one_finds_what_one_may_read_of_all_users(tenant: Tenant, clock: MovableClock) -> None:
    alice, bob, admin = tenant.agent("alice"), tenant.agent("bob"), tenant.admin
    ok(put(alice, "s1", user_id="user_1", metadata={"a": 1}, tags=["x"]), 201)
    clock.advance(ms=1)
    ok(put(alice, "s2", user_id="user_2", shared_with=["bob"]), 201)
    clock.advance(ms=1)
    ok(put(alice, "s3", user_id="user_3", agent_participants=["bob"], ttl="PT1H"), 201)
    clock.advance(ms=1)
    ok(append(alice, "s1", "later"), 201)
    assert sessions(readable(alice)) == ["s3", "s2", "s1"]
    assert sessions(readable(alice, tags="x")) == ["s1"]
    assert sessions(readable(bob)) == ["s3", "s2"]
    assert readable(bob)["total"] == 2
    assert sessions(readable(tenant.user("user_1"))) == ["s1"]
    hidden = readable(admin)
    assert (hidden["conversations"], "hidden" in hidden) == ([], False)
    heads = readable(alice)["conversations"]
    assert [each.get("metadata") for each in heads] == [{}, {}, {"a": 1}]
    assert "metadata" not in readable(alice, values="omit")["conversations"][2]
    first = readable(bob, limit=1, total="none")
    assert sessions(readable(bob, limit=1, total="none", after=first["next"])) == ["s2"]
    assert_no_content(alice.delete(f"{CONVERSATIONS}/s2"))
    assert sessions(readable(bob)) == ["s3"]
    clock.advance(seconds=7200)
    assert sessions(readable(alice)) == ["s1"]


def test_an_empty_list_says_whether_there_is_any(tenant: Tenant) -> None:
    assert "hidden" not in readable(tenant.admin)
