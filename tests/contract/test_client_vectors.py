"""The client's own vectors on entries: written with them, searched exactly."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, create, entry, semantic, update
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.faults import faulty
from tests.contract.search_calls import SEARCH, TEA, embedder, keys_of, search
from tests.contract.service import Service, Tenant, start
from tests.contract.sweeping import items

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
NAMESPACES = f"{MEMORY}/namespaces"
SPACE = "recipes"


def direction(*numbers: float, length: int = 64) -> list[float]:
    """A vector that begins with these numbers."""
    return [*numbers, *[0.0] * (length - len(numbers))]


def find(client: httpx.Client, vector: list[float], **more: Any) -> list[Any]:
    """Return the results of a search by vector in the namespace."""
    body = {"vector": vector, "memory_type": "episodic", "namespace": SPACE} | more
    found: list[Any] = ok(client.post(SEARCH, json=body))["results"]
    return found


def put_in(client: httpx.Client, key: str, *numbers: float, **more: Any) -> Any:
    """Create an episodic entry with a vector."""
    return create(client, entry(key=key, namespace=SPACE, vector=direction(*numbers), **more))


def test_the_nearest_are_found_from_the_answer_on(ada: httpx.Client) -> None:
    made = put_in(ada, "tea", 1)
    assert made["vector_length"] == 64
    assert [each["score"] for each in find(ada, direction(1))] == [1]
    put_in(ada, "coffee", 1, 1)
    put_in(ada, "tax", 0, 0, 5)
    found = find(ada, direction(3, 0.1))
    assert keys_of(found) == ["tea", "coffee", "tax"]
    assert [each["score"] for each in found] == pytest.approx([1, 0.73, 0], abs=0.01)
    assert found[0]["matched"] == []
    assert keys_of(find(ada, direction(3), min_score=0.5, top_k=1)) == ["tea"]
    assert keys_of(find(ada, direction(3), min_score=0.5)) == ["tea", "coffee"]


def test_a_change_moves_removes_or_keeps_a_vector(ada: httpx.Client) -> None:
    made = put_in(ada, "a", 3, 4)
    path = f"{MEMORY}/{made['id']}"
    assert "vector" not in ok(ada.get(path))
    shown = ok(ada.get(path, params={"vector": "include"}))["vector"]
    assert shown == pytest.approx(direction(0.6, 0.8), abs=0.001)
    put_in(ada, "b", 0, 1)
    assert keys_of(find(ada, direction(1), top_k=1)) == ["a"]
    ok(update(ada, made["id"], 1, value={"other": "text"}))
    assert keys_of(find(ada, direction(1), top_k=1)) == ["a"]
    ok(update(ada, made["id"], 2, vector=direction(0, 0, 1)))
    assert [each["score"] for each in find(ada, direction(1))] == [0, 0]
    assert keys_of(find(ada, direction(0, 0, 1), min_score=0.9)) == ["a"]
    assert "vector_length" not in ok(update(ada, made["id"], 3, vector=None))
    assert "vector" not in ok(ada.get(path, params={"vector": "include"}))
    assert keys_of(find(ada, direction(0, 0, 1))) == ["b"]


def test_a_put_takes_the_vector_along_or_away(ada: httpx.Client) -> None:
    body = entry(key="w", namespace=SPACE, memory_type="working")
    ok(ada.put(MEMORY, json=body | {"vector": direction(1)}), 201)
    assert keys_of(find(ada, direction(1), memory_type="working")) == ["w"]
    ok(ada.put(MEMORY, json=body | {"vector": direction(0, 1)}))
    assert find(ada, direction(1), memory_type="working", min_score=0.5) == []
    ok(ada.put(MEMORY, json=body))
    assert find(ada, direction(0, 1), memory_type="working") == []


def test_a_batch_writes_vectors_and_names_the_one_that_is_wrong(ada: httpx.Client) -> None:
    new = [entry(key=key, namespace=SPACE, vector=direction(n, 1)) for n, key in enumerate("abc")]
    ok(ada.post(f"{MEMORY}/batch", json={"entries": new}))
    assert keys_of(find(ada, direction(0, 1), top_k=1)) == ["a"]
    wrong = [entry(key="d", namespace=SPACE), new[0] | {"key": "e", "vector": [1.0] * 65}]
    answer = refused(ada.post(f"{MEMORY}/batch", json={"entries": wrong}), 400, "VALIDATION_ERROR")
    assert answer["index"] == 1
    assert len(find(ada, direction(1))) == 3


@pytest.mark.parametrize(
    "vector", [[1.0] * 63, [1.0] * 3073, [0.0] * 64, ["1"] * 64, [True] * 64, "text"]
)
def test_a_vector_has_64_to_3072_numbers(ada: httpx.Client, vector: Any) -> None:
    refused(ada.post(MEMORY, json=entry(vector=vector)), 400, "VALIDATION_ERROR")


def test_a_namespace_has_vectors_of_one_length(ada: httpx.Client, tenant: Tenant) -> None:
    longer = direction(1, length=3072)
    create(ada, entry(key="taken", namespace=SPACE))
    taken = ada.post(MEMORY, json=entry(key="taken", namespace=SPACE, vector=longer))
    refused(taken, 409, "ENTRY_EXISTS")  # what is refused decides on no length
    put_in(ada, "a", 1)
    invalid(ada.post(MEMORY, json=entry(key="b", namespace=SPACE, vector=longer)), "vector")
    asked = {"vector": longer, "memory_type": "episodic", "namespace": SPACE}
    invalid(ada.post(SEARCH, json=asked), "vector")
    create(ada, entry(key="b", namespace="other", vector=longer))
    assert keys_of(find(ada, longer, namespace="other")) == ["b"]
    create(tenant.agent("bob"), entry(key="b", namespace=SPACE, vector=longer))
    assert find(ada, direction(1), namespace="empty") == []


def test_of_two_first_vectors_one_decides_on_the_length(
    service: Service, ada: httpx.Client
) -> None:
    longer = direction(1, length=128)
    with faulty() as dynamodb:
        instance = start(service.engine, service.clock, service.key_file, 0)
        dynamodb.interrupt("transact_write_items", lambda _: True, lambda: put_in(ada, "a", 1))
        late = instance.client(ada.headers["X-API-Key"])
        invalid(late.post(MEMORY, json=entry(key="b", namespace=SPACE, vector=longer)), "vector")
    assert keys_of(find(ada, direction(1))) == ["a"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": "tea", "vector": direction(1)}, "namespace"),
        ({"vector": direction(1)}, "namespace"),
        ({"vector": direction(1), "namespace": "rec*"}, "namespace"),
        ({"query": "tea", "fields": {"kind": "drink"}}, "namespace"),
    ],
)
def test_a_search_is_by_words_or_by_a_vector_of_one_namespace(
    ada: httpx.Client, body: dict[str, Any], field: str
) -> None:
    invalid(ada.post(SEARCH, json={"memory_type": "episodic"} | body), field)


def test_what_is_gone_is_never_found_and_its_vector_is_removed(
    service: Service, ada: httpx.Client
) -> None:
    embed = embedder(service)
    made = [put_in(ada, key, 1) for key in "abc"]
    assert len(find(ada, direction(1))) == 3
    assert_no_content(ada.delete(f"{MEMORY}/{made[0]['id']}"))
    ok(update(ada, made[1]["id"], 1, vector=direction(0, 1)))
    assert keys_of(find(ada, direction(1), min_score=0.5)) == ["c"]
    embed()
    left = [item["ref"] for item in items(service, "v#") if "numbers" in item]
    assert sorted(left) == sorted(each["id"] for each in made[1:])
    put_in(ada, "a", 1)
    assert sorted(keys_of(find(ada, direction(1), min_score=0.5, top_k=2))) == ["a", "c"]


def test_a_sensitive_entry_has_no_vector(ada: httpx.Client) -> None:
    sealed = entry(key="x", namespace=SPACE, sensitivity="restricted")
    invalid(ada.post(MEMORY, json=sealed | {"vector": direction(1)}), "vector")
    made = put_in(ada, "a", 1)
    assert "vector_length" not in ok(update(ada, made["id"], 1, sensitivity="confidential"))
    assert find(ada, direction(1)) == []


def test_fields_are_compared_that_the_namespace_declares(
    service: Service, tenant: Tenant, ada: httpx.Client
) -> None:
    admin, embed = tenant.admin, embedder(service)
    for key, kind in (("a", "drink"), ("b", "food"), ("c", True)):
        value = TEA | {"kind": kind, "price": 2}
        create(admin, semantic(key=key, namespace=SPACE, value=value, vector=direction(1)))
    embed()
    semantics: dict[str, Any] = {"memory_type": "semantic"}
    asked = {"vector": direction(1), "namespace": SPACE, "fields": {"kind": "food"}}
    invalid(ada.post(SEARCH, json=asked | semantics), "fields.kind")
    change = {"search_fields": ["kind", "price", "kind"]}
    declared = ok(admin.patch(f"{NAMESPACES}/{SPACE}", json=change))["search_fields"]
    assert declared == ["kind", "price"]
    assert keys_of(find(ada, direction(1), fields={"kind": "food"}, **semantics)) == ["b"]
    assert len(find(ada, direction(1), fields={"price": 2.0}, **semantics)) == 3
    assert find(ada, direction(1), fields={"kind": 1}, **semantics) == []
    by_words = search(ada, "green tea", namespace=SPACE, fields={"kind": "drink"}, **semantics)
    assert keys_of(by_words) == ["a"]
    allowed = {"permissions": {"default": "none"}}
    kept = ok(admin.patch(f"{NAMESPACES}/{SPACE}", json=allowed))
    assert kept["search_fields"] == declared
    assert find(ada, direction(1), **semantics) == []
    invalid(admin.patch(f"{NAMESPACES}/rec*", json=change), "search_fields")


def test_another_agents_vectors_are_its_own(ada: httpx.Client, tenant: Tenant) -> None:
    put_in(ada, "a", 1)
    bob = tenant.agent("bob")
    assert find(bob, direction(1)) == []
    assert find(bob, direction(1), agent_id="ada") == []


def test_instances_find_what_others_write(service: Service, tenant: Tenant) -> None:
    key = tenant.principal("agent", "eve")["api_key"]
    one, other = service.client(key), service.client(key)
    put_in(one, "a", 1)
    assert keys_of(find(other, direction(1))) == ["a"]
    put_in(one, "b", 1)
    assert sorted(keys_of(find(other, direction(1)))) == ["a", "b"]
    assert sorted(keys_of(find(one, direction(1)))) == ["a", "b"]


def test_what_takes_long_to_be_written_is_found(service: Service, ada: httpx.Client) -> None:
    def search_meanwhile() -> None:
        service.clock.advance(seconds=25)
        assert not find(ada, direction(1))

    put_in(ada, "b", 1, memory_type="working")
    with faulty() as dynamodb:
        instance = start(service.engine, service.clock, service.key_file, 0)
        dynamodb.interrupt("transact_write_items", lambda _: True, search_meanwhile)
        put_in(instance.client(ada.headers["X-API-Key"]), "a", 1)
    assert keys_of(find(ada, direction(1))) == ["a"]


def test_a_query_beside_a_vector_counts_words_and_ids(service: Service, tenant: Tenant) -> None:
    embed, ada = embedder(service), tenant.agent("ada")
    put_in(ada, "near", 1, 0, value={"text": "a note about nothing"})
    put_in(ada, "named", 1, 0.4, value={"text": "incident INC-4821 was resolved"})
    put_in(ada, "far", 0, 1, value={"text": "incident INC-4821 was opened"})
    create(ada, entry(key="bare", namespace=SPACE, value={"text": "INC-4821 has no vector"}))
    embed()
    assert keys_of(find(ada, direction(1)))[:2] == ["near", "named"]
    both = find(ada, direction(1), query="INC-4821 resolved")
    assert both[0]["entry"]["key"] == "named"
    assert set(keys_of(both)) == {"near", "named", "far", "bare"}
    assert "4821" in both[0]["matched"]
