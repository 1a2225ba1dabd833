"""A value that was copied within the table decrypts nowhere else, and lists show it as unreadable.

Each test writes to the table as its operator could. Values are bound to the key of their item, so
a copy of a value in another item can't be read.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import httpx
import pytest

from functions.platform.items import decode_item
from tests.contract.bodies import MEMORY, create, entry, semantic, update
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.openwop_calls import start
from tests.contract.sealed_items import find_sealed, put_value, write
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function

SECRET = "PIN-4711"
LARGE = 500_000  # bytes, stored in parts
RESTRICTED = {"sensitivity": "restricted"}
OBJECTS = "/api/v1/agents/ada/objects"
Json = dict[str, Any]


class Kind(NamedTuple):
    """Stores two things of a kind, one with the secret; and lists both.

    Attributes:
        sort: what the sort keys of their items begin with.
    """

    store: Callable[[httpx.Client], None]
    list: Callable[[httpx.Client], list[Json]]
    sort: str = ""


def _store_messages(size: int) -> Callable[[httpx.Client], None]:
    def store(client: httpx.Client) -> None:
        first, second = (
            {"role": "user", "content": text.ljust(size)} for text in (SECRET, "other")
        )
        body = {"user_id": "ada", "messages": [first]} | RESTRICTED
        ok(client.put("/api/v1/conversations/s", json=body), 201)
        ok(client.post("/api/v1/conversations/s/messages", json={"messages": [second]}), 201)

    return store


def _store_conversations(size: int) -> Callable[[httpx.Client], None]:
    def store(client: httpx.Client) -> None:
        for session, text in (("s1", SECRET), ("s2", "other")):
            metadata = {"m": text.ljust(size)}
            body = {"user_id": "ada", "messages": [], "metadata": metadata} | RESTRICTED
            ok(client.put(f"/api/v1/conversations/{session}", json=body), 201)

    return store


def _store_states(client: httpx.Client) -> None:
    for key, value in (("a", SECRET), ("b", "other")):
        ok(client.put(f"/api/v1/agents/ada/state/ada/{key}", json={"value": value} | RESTRICTED))


def _store_objects(*spaces: str) -> Callable[[httpx.Client], None]:
    def store(client: httpx.Client) -> None:
        for space, key, text in zip(spaces, "ab", (SECRET, "other"), strict=True):
            headers = {"X-Object-Sensitivity": "restricted", "X-Object-Metadata": '{"m": 1}'}
            put = client.put(f"{OBJECTS}/{space}/{key}", content=text.encode(), headers=headers)
            ok(put, 201)

    return store


def _list_objects(*spaces: str) -> Callable[[httpx.Client], list[Json]]:
    def show(client: httpx.Client) -> list[Json]:
        found = [
            each for space in spaces for each in ok(client.get(f"{OBJECTS}/{space}"))["objects"]
        ]
        for each in found:
            space = each["space"].rpartition("/")[2]
            refused(client.get(f"{OBJECTS}/{space}/{each['key']}"), 409, "UNREADABLE")
            read = client.post(f"{OBJECTS}/{space}/read", json={"keys": [each["key"]]})
            assert ok(read)["objects"][0]["unreadable"]
        return found

    return show


def _store_episodes(client: httpx.Client) -> None:
    run = ok(client.post("/api/v1/runs", json={"agent_type": "sdr"}), 201)["id"]
    for text in (SECRET, "other"):
        body = {"content": text} | RESTRICTED
        ok(client.post(f"/api/v1/runs/{run}/episodes", json=body), 201)


def _store_runs(client: httpx.Client) -> None:
    for text in (SECRET, "other"):
        body = {"agent_type": "sdr", "input": text} | RESTRICTED
        ok(client.post("/api/v1/runs", json=body), 201)


def _store_entries(client: httpx.Client) -> None:
    for key, text in (("a", SECRET), ("b", "other")):
        create(client, entry(key=key, value={"v": text}, **RESTRICTED))


def _list_messages(client: httpx.Client) -> list[Json]:
    return _list(client, "conversations/s", "messages")


KINDS = {
    "messages": Kind(_store_messages(0), _list_messages, "msg#"),
    "large messages": Kind(_store_messages(LARGE), _list_messages, "msg#"),
    "conversations": Kind(
        _store_conversations(0), lambda c: _list(c, "conversations", "conversations")
    ),
    "states": Kind(_store_states, lambda c: _list(c, "agents/ada/state", "states")),
    "objects of two spaces": Kind(_store_objects("x", "y"), _list_objects("x", "y")),
    "objects of a space": Kind(_store_objects("x", "x"), _list_objects("x")),
    "episodes": Kind(_store_episodes, lambda c: _list(c, "episodes?agent_type=sdr", "episodes")),
    "runs": Kind(_store_runs, lambda c: _list(c, "runs", "runs")),
    "entries": Kind(_store_entries, lambda c: _list(c, "memory", "entries")),
}


def _list(client: httpx.Client, path: str, name: str) -> list[Json]:
    found: list[Json] = ok(client.get(f"/api/v1/{path}"))[name]
    return found


@pytest.mark.parametrize("name", KINDS)
def test_swapped_values_are_unreadable(service: Service, tenant: Tenant, name: str) -> None:
    ada, kind = tenant.agent("ada"), KINDS[name]
    kind.store(ada)
    one, other = find_sealed(service, kind.sort)
    put_value(service, one, other)
    put_value(service, other, one)
    listed = kind.list(ada)
    assert [each.get("unreadable") for each in listed] == [True, True]
    assert SECRET not in str(listed)


def test_a_renamed_object_is_bound_to_its_new_key(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    _store_objects("x", "x")(ada)
    (former,) = find_sealed(service, "obj#a")
    ok(ada.post(f"{OBJECTS}/x/rename", json={"from": "a", "to": "c"}))
    assert ada.get(f"{OBJECTS}/x/c").text == SECRET
    write(service, former | {"sk": "obj#c"})
    refused(ada.get(f"{OBJECTS}/x/c"), 409, "UNREADABLE")


def test_an_unsealed_description_opens_no_object(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    _store_objects("x", "x")(ada)
    one, other = find_sealed(service)
    put_value(service, other, one | {"metadata": {"value": b"{}"}})
    refused(ada.get(f"{OBJECTS}/x/b"), 409, "UNREADABLE")
    plain = {name: value for name, value in other.items() if name != "sensitivity"}
    put_value(service, plain, one | {"metadata": {"value": b"{}"}})
    refused(ada.get(f"{OBJECTS}/x/b"), 409, "UNREADABLE")


def test_an_earlier_value_is_not_put_back(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = create(ada, entry(value={"limit": "old"}, **RESTRICTED))
    (old,) = find_sealed(service)
    ok(update(ada, made["id"], 1, value={"limit": "new"}))
    (new,) = find_sealed(service)
    put_value(service, new, old)
    refused(ada.get(f"{MEMORY}/{made['id']}"), 409, "UNREADABLE")


def test_a_message_does_not_take_the_name_of_another(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    _store_messages(0)(ada)
    one, other = sorted(find_sealed(service, "msg#"), key=itemgetter("sk"))
    put_value(service, other, one | {"value_name": one["sk"].rpartition("#")[2].lstrip("0") or "0"})
    listed = KINDS["messages"].list(ada)
    assert [each.get("unreadable", False) for each in listed] == [False, True]


def test_large_metadata_do_not_take_the_text_of_a_message(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    _store_messages(LARGE)(ada)
    changed = ada.patch("/api/v1/conversations/s", json={"metadata": {"m": "x" * LARGE}})
    ok(changed)
    (details,) = [each for each in find_sealed(service, "d") if each["sk"] == "d"]
    first = min(find_sealed(service, "msg#"), key=itemgetter("sk"))
    put_value(service, details, first)
    found = ok(ada.get("/api/v1/conversations/s"))
    assert found["unreadable"]
    assert SECRET in found["messages"][0]["content"]


def test_a_repeated_pop_returns_no_other_message(service: Service, tenant: Tenant) -> None:
    ada, key = tenant.agent("ada"), {"Idempotency-Key": "pop"}
    _store_messages(0)(ada)
    pop = "/api/v1/conversations/s/messages/pop"
    assert ok(ada.post(pop, headers=key))["message"]["content"] == "other"
    assert ok(ada.post(pop, headers=key))["message"]["content"] == "other"
    (message,) = find_sealed(service, "msg#")
    (popped,) = find_sealed(service, "k#")
    write(service, popped | {name: message[name] for name in ("value", "data_key")} | {"index": 0})
    assert SECRET not in ada.post(pop, headers=key).text


def test_the_secrets_of_a_run_are_bound_to_their_memory(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    secret = {"label": "pin", "value": "s3cret-PIN-4711"}
    start(ada, secrets=[secret])
    other = start(ada, agent="other", secrets=[{"label": "own", "value": "another-value"}])
    rows = find_sealed(service, "k#")
    theirs, mine = sorted(rows, key=lambda row: row["sk"].endswith(other.id))
    write(service, theirs | {"pk": mine["pk"]})
    heads = (each for each in map(decode_item, service.stored()) if each["pk"] == mine["pk"])
    (head,) = (each for each in heads if "secrets_sum" in each)
    write(service, head | {"secrets_sum": theirs["secrets_number"] + mine["secrets_number"]})
    put = other.try_put(f"the PIN is {secret['value']}")
    assert "REDACTED:pin" not in put.text


def test_an_earlier_entry_is_not_in_the_history_of_a_later_one(
    service: Service, tenant: Tenant
) -> None:
    ok(
        tenant.admin.patch(
            "/api/v1/memory/namespaces/facts", json={"permissions": {"default": "write"}}
        )
    )
    ada, stream, function = tenant.agent("ada"), Stream(service), stream_function(service)

    def remember(text: str) -> str:
        made = create(ada, semantic(value={"v": text}, **RESTRICTED))
        ok(update(ada, made["id"], 1, value={"v": "new"}))
        assert function(stream.read()) == []
        return str(made["id"])

    removed = remember(SECRET)
    (old,) = find_sealed(service, "v#")
    assert_no_content(ada.delete(f"{MEMORY}/{removed}"))
    assert function(stream.read()) == []
    made = remember("other")
    (row,) = find_sealed(service, "v#")
    write(service, row | {name: old[name] for name in ("value", "data_key", "nonce")})
    versions = ok(ada.get(f"{MEMORY}/{made}/history"))["versions"]
    assert SECRET not in str(versions)


def test_an_unreadable_item_is_replaced_or_deleted(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    _store_objects("x", "x")(ada)
    _store_states(ada)
    for each in list(find_sealed(service)):
        damaged = {"value": b"damaged", "data_key": b"damaged"}
        write(service, each | ({"metadata": damaged} if "metadata" in each else damaged))
    refused(ada.post(f"{OBJECTS}/x/rename", json={"from": "a", "to": "c"}), 409, "UNREADABLE")
    assert_no_content(ada.delete(f"{OBJECTS}/x/a"))
    ok(ada.put(f"{OBJECTS}/x/b", content=b"again"))
    assert ada.get(f"{OBJECTS}/x/b").text == "again"
    path = "/api/v1/agents/ada/state/ada"
    ok(ada.put(f"{path}/a", json={"value": 1}))
    assert_no_content(ada.delete(f"{path}/b"))
    assert ok(ada.get(f"{path}/a"))["value"] == 1


def test_damaged_compressed_texts_are_listed(service: Service, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    fact = {"subject": "s", "predicate": "p", "object": "o", "metadata": {"m": "x" * 5000}}
    ok(ada.post("/api/v1/facts", json=fact), 201)
    start(ada).put("x" * 5000)
    for each in map(decode_item, service.stored()):
        for name in ("metadata", "content"):
            if isinstance(each.get(name), bytes):
                write(service, each | {name: b"damaged"})
    (found,) = ok(ada.get("/api/v1/facts"))["facts"]
    assert found["unreadable"]
    (listed,) = start(ada).entries()
    assert listed["unreadable"]
