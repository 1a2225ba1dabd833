"""Search by meaning (RFC-0015 §4.3): what is found, in which order, how soon gone."""

import itertools
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    change_task,
    create,
    create_task,
    entry,
    read,
    semantic,
    update,
    working,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.search_calls import (
    CAR,
    SEARCH,
    TAX,
    TEA,
    Embed,
    keys_of,
    search,
    state_of_vectors,
    vectors,
)
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import sweep
from tests.contract.transport import MovableClock

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]


@pytest.fixture
def ada(embed: Embed, tenant: Tenant) -> httpx.Client:  # noqa: ARG001 - its stream begins before
    return tenant.agent("ada")


def three(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    about = {"a": TEA, "b": CAR, "c": TAX}
    return {
        key: create(client, entry(key=key, value=value, **changes)) for key, value in about.items()
    }


def test_the_most_similar_come_first_with_scores(ada: httpx.Client, embed: Embed) -> None:
    made = three(ada)
    embed()
    found = search(ada, "something warm to drink")
    assert [each.keys() for each in found] == [{"entry", "score", "matched"}] * 3
    assert found[0]["entry"] == ok(read(ada, made["a"]["id"]))
    scores = [each["score"] for each in found]
    assert scores == sorted(scores, reverse=True)
    assert 1 >= scores[0] > scores[1]
    assert keys_of(search(ada, "automobile", top_k=1)) == ["b"]
    assert keys_of(search(ada, "money owed to the state", top_k=1)) == ["c"]


def test_words_of_keys_and_tags_are_searched(ada: httpx.Client, embed: Embed) -> None:
    create(ada, entry(key="holidayPlans", value={"n": 1}))
    create(ada, entry(key="8c1f", value={"n": 2}, tags=["invoice"]))
    embed()
    assert keys_of(search(ada, "vacation", top_k=1)) == ["holidayPlans"]
    assert keys_of(search(ada, "bill to be paid", top_k=1)) == ["8c1f"]


def test_an_updated_entry_is_found_by_its_new_value(ada: httpx.Client, embed: Embed) -> None:
    made = three(ada)
    embed()
    before = {each["entry"]["key"]: each["score"] for each in search(ada, "a hot tea")}
    ok(update(ada, made["b"]["id"], 1, value={"drink": "black tea with milk"}))
    embed()
    found = {each["entry"]["key"]: each for each in search(ada, "a hot tea")}
    assert found["b"]["entry"]["value"] == {"drink": "black tea with milk"}
    assert found["b"]["score"] > before["b"] + 0.1
    assert found["c"]["score"] == before["c"]


def test_filters_narrow_however_many_others_are_closer(ada: httpx.Client, embed: Embed) -> None:
    for number in range(30):
        create(ada, entry(key=f"tea {number}", value=TEA, namespace="x.y"))
    create(ada, entry(key="far", value=TAX, tags=["t", "u"], namespace="x.z"))
    create(ada, entry(key="other", value=TEA, tags=["t"], namespace="y"))
    embed()
    assert keys_of(search(ada, "hot tea", tags=["t", "u"], top_k=2)) == ["far"]
    assert keys_of(search(ada, "hot tea", namespace="x.z")) == ["far"]
    assert keys_of(search(ada, "tax", namespace="y")) == ["other"]
    assert keys_of(search(ada, "tax", namespace="x.*", top_k=1)) == ["far"]
    assert len(search(ada, "hot tea", namespace="x.*", top_k=100)) == 31
    assert search(ada, "hot tea", namespace="x.*", tags=["v"]) == []
    assert search(ada, "hot tea", memory_type="working") == []


def test_working_memory_is_found_at_once_and_stores_no_vector(
    ada: httpx.Client, tenant: Tenant, embed: Embed
) -> None:
    def find(query: str, **fields: Any) -> list[str]:
        return keys_of(search(ada, query, memory_type="working", **fields))

    for key, value in {"a": TEA, "b": CAR, "c": TAX}.items():
        create(ada, working("t", key=key, value=value, tags=[key]))
    create(ada, working("t", key="hidden", value=TEA, sensitivity="restricted"))
    create(ada, working(key="sold", value=CAR, namespace="x.y"))
    assert find("something warm to drink", top_k=1) == ["a"]
    assert find("automobile", tags=["b"]) == ["b"]
    assert find("automobile", namespace="x.*") == ["sold"]
    assert len(find("automobile", top_k=100)) == 4
    (made,) = ok(ada.get(MEMORY, params={"key": "a"}))["entries"]
    ok(update(ada, made["id"], 1, value=TAX))
    assert set(find("money owed to the state", top_k=2)) == {"a", "c"}
    embed()
    assert vectors(tenant.service) == []


Removal = Callable[[httpx.Client, Tenant, MovableClock], None]


def deleted(ada: httpx.Client, tenant: Tenant, clock: MovableClock) -> None:  # noqa: ARG001
    (found,) = ok(ada.get(MEMORY))["entries"]
    assert_no_content(ada.delete(f"{MEMORY}/{found['id']}"))


def expired(ada: httpx.Client, tenant: Tenant, clock: MovableClock) -> None:  # noqa: ARG001
    clock.advance(seconds=3600)


def archived(ada: httpx.Client, tenant: Tenant, clock: MovableClock) -> None:  # noqa: ARG001
    ok(change_task(tenant.admin, ok(ada.get("/api/v1/tasks/t")), status="completed"))


def replaced(ada: httpx.Client, tenant: Tenant, clock: MovableClock) -> None:  # noqa: ARG001
    clock.advance(seconds=3600)
    create(ada, working(value={"n": 1}, sensitivity="restricted"))


@pytest.mark.parametrize(
    ("remove", "ttl"),
    [
        (deleted, "duration:PT1H"),
        (expired, "duration:PT1H"),
        (archived, "task_lifetime"),
        (replaced, "duration:PT1H"),
    ],
)
def test_a_removed_entry_is_not_found_and_leaves_no_vector(
    remove: Removal,
    ttl: str,
    ada: httpx.Client,
    tenant: Tenant,
    embed: Embed,
    clock: MovableClock,
) -> None:
    create_task(tenant.admin, id="t", assigned_agent="ada")
    create(ada, entry(value=TEA, scope={"task_id": "t"}, ttl=ttl))
    embed()
    assert keys_of(search(ada, "hot tea")) == ["k"]
    remove(ada, tenant, clock)
    assert search(ada, "hot tea") == []
    sweep(tenant.service)
    embed()
    assert vectors(tenant.service) == []


def test_an_evicted_entry_is_not_found(tenant: Tenant, ada: httpx.Client, embed: Embed) -> None:
    config = {"episodic": {"capacity": 1}}
    ok(tenant.admin.patch("/api/v1/agents/ada/memory/config", json=config))
    create(ada, entry(key="old", value=TEA))
    embed()
    new = create(ada, entry(key="new", value=CAR))
    assert search(ada, "hot tea") == []
    embed()
    assert keys_of(search(ada, "hot tea")) == ["new"]
    assert vectors(tenant.service) == [new["id"]]


def test_sensitive_memory_is_never_embedded(
    tenant: Tenant, ada: httpx.Client, embed: Embed
) -> None:
    create(ada, entry(key="secret", value=TEA, sensitivity="confidential"))
    made = create(ada, entry(key="later", value=TEA, sensitivity="internal"))
    embed()
    assert keys_of(search(ada, "hot tea")) == ["later"]
    assert vectors(tenant.service) == [made["id"]]
    ok(update(ada, made["id"], 1, sensitivity="restricted"))
    assert search(ada, "hot tea") == []
    embed()
    assert vectors(tenant.service) == []
    ok(update(ada, made["id"], 2, sensitivity="public"))
    embed()
    assert keys_of(search(ada, "hot tea")) == ["later"]


def test_replays_and_disorder_change_nothing(tenant: Tenant, service: Service) -> None:
    stream, deliver = Stream(service), stream_function(service)
    ada = tenant.agent("ada")
    lives = [create(ada, entry(key=key, value=TEA)) for key in "ab"]
    ok(update(ada, lives[0]["id"], 1, value=CAR))
    ok(update(ada, lives[0]["id"], 2, value=TAX))
    assert_no_content(ada.delete(f"{MEMORY}/{lives[1]['id']}"))
    create(ada, entry(key="b", value=CAR))
    records = [each for each in stream.read() if each["dynamodb"]["Keys"]["sk"]["S"][:2] == "e#"]
    assert deliver(records) == []
    straight = state_of_vectors(service)
    assert keys_of(search(ada, "income tax", top_k=1)) == ["a"]
    for order in itertools.islice(itertools.permutations(records), 0, None, 97):
        for record in order:
            assert deliver([record]) == []
        assert state_of_vectors(service) == straight
    assert keys_of(search(ada, "tea", top_k=10)) in (["a", "b"], ["b", "a"])


def test_a_replay_together_with_later_changes_embeds_the_last_state(
    tenant: Tenant, service: Service
) -> None:
    stream, deliver, ada = Stream(service), stream_function(service), tenant.agent("ada")
    made = create(ada, entry(key="k", value=TEA))
    assert deliver(stream.read()) == []
    ok(update(ada, made["id"], 1, value=CAR))
    changes = stream.read()
    assert deliver(changes) == []
    ok(update(ada, made["id"], 2, value=TEA))
    last = stream.read()
    assert deliver(changes + last) == []
    embedded = state_of_vectors(service)
    assert deliver(last) == []
    assert state_of_vectors(service) == embedded


def test_a_found_entry_counts_as_accessed_for_eviction(
    tenant: Tenant, ada: httpx.Client, embed: Embed, clock: MovableClock
) -> None:
    config = {"episodic": {"capacity": 2}}
    ok(tenant.admin.patch("/api/v1/agents/ada/memory/config", json=config))
    for key, value in (("old", TEA), ("newer", CAR)):
        create(ada, entry(key=key, value=value))
        clock.advance(seconds=1)
    embed()
    assert keys_of(search(ada, "hot tea", top_k=1)) == ["old"]
    create(ada, entry(key="newest", value=TAX))
    embed()
    assert sorted(keys_of(search(ada, "hot tea"))) == ["newest", "old"]


def test_bad_input_is_refused(ada: httpx.Client, tenant: Tenant) -> None:
    body = {"query": "tea", "memory_type": "episodic"}
    for field, value in (
        ("query", ""),
        ("query", " \n"),
        ("query", "x" * 8193),
        ("top_k", 0),
        ("top_k", 101),
        ("memory_type", "none"),
    ):
        invalid(ada.post(SEARCH, json=body | {field: value}), field)
    invalid(tenant.admin.post(SEARCH, json=body), "agent_id")
    writer = tenant.agent("writer", permissions=["memory.write"])
    refused(writer.post(SEARCH, json=body), 403, "ACCESS_DENIED")


def test_odd_texts_are_embedded_and_found(ada: httpx.Client, embed: Embed) -> None:
    odd = {"深い": ["お茶", {"": None}], "😀": 1e300, "x" * 300: "tea " * 15_000, "\x00": True}
    create(ada, entry(key="odd", value=odd))
    create(ada, entry(key="17", value={}))
    embed()
    assert keys_of(search(ada, "お茶")) == ["odd", "17"]


def test_semantic_memory_of_all_readable_namespaces_is_ranked_together(
    tenant: Tenant, ada: httpx.Client, embed: Embed
) -> None:
    for namespace, value in (("shop.a", TEA), ("shop.b", CAR), ("home", TAX)):
        create(tenant.admin, semantic(namespace=namespace, key=namespace, value=value))
    embed()
    kind = {"memory_type": "semantic"}
    assert keys_of(search(ada, "hot tea", **kind))[0] == "shop.a"
    assert keys_of(search(ada, "automobile", namespace="shop.*", **kind)) == ["shop.b", "shop.a"]
    assert keys_of(search(ada, "hot tea", namespace="home", **kind)) == ["home"]
    assert search(ada, "hot tea", agent_id="ada", **kind) == []
