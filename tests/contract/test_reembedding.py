"""A change of model or index embeds again what is there, in the background (ADR-043 Tier 3)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.item_types import EMBEDDING
from functions.platform.items import decode_item
from functions.vectors import wordllama
from tests.contract.bedrock import MODEL, Bedrock, embedding
from tests.contract.bodies import MEMORY, create, entry, semantic, update
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.fact_calls import FACTS, learn, objects, recall
from tests.contract.faults import When, faulty
from tests.contract.search_calls import CAR, TAX, TEA, embedder, keys_of, search, vectors
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import after_each_kill, items, sweep, sweeper
from tests.contract.transport import HandlerTransport, MovableClock, open_client, turns
from tests.contract.vector_index import INDEX, searching

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
HOUR = 3600
TITAN: dict[str, Any] = {"embedding_model": MODEL}
NATIVE: dict[str, Any] = {"vector_index": INDEX}


@pytest.fixture(autouse=True)
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    """A model in Bedrock; who is started now finds it."""
    with embedding() as (url, model):
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", url)
        yield model


@pytest.fixture
def index(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A vector index of the memory table; who is started now finds it."""
    with searching(service.engine) as (url, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", url)
        yield


@pytest.fixture
def key(tenant: Tenant) -> str:
    """The key of the agent whose memory it is."""
    made: str = tenant.principal("agent", "ada")["api_key"]
    return made


@pytest.fixture
def ada(service: Service, tenant: Tenant, key: str) -> httpx.Client:
    """That agent, before the change: with facts and memory of both kinds, all embedded."""
    embed, client = embedder(service), service.client(key)
    for name, value in {"a": TEA, "b": CAR, "c": TAX}.items():
        create(client, entry(key=name, value=value))
    create(client, entry(key="sealed", value=TEA, sensitivity="restricted"))
    create(tenant.admin, semantic(key="d", value=TAX, namespace="taxes"))
    for what in ("email", "calls in the morning", "letters"):
        learn(client, "acme", "prefers", what, fact_id=f"f-{what.partition(' ')[0]}")
    embed()
    return client


def after(service: Service, key: str, **change: Any) -> httpx.Client:
    """Return the agent's client of a new instance, which was started with other settings."""
    handler = App(Container(replace(service.settings(), **change), service.clock))
    return open_client(HandlerTransport(handler, turns(parallel=True)), key)


def found_by(client: httpx.Client) -> list[list[str]]:
    """Return what searches for tea and taxes, and a recall of letters, find, best first."""
    return [
        keys_of(search(client, "green tea", top_k=1)),
        keys_of(search(client, "tax returns in April", memory_type="semantic", namespace="taxes")),
        objects(recall(client, "acme prefers letters", top_k=1)),
    ]


ALL = [["a"], ["d"], ["letters"]]
NONE: list[list[str]] = [[], [], []]


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("change", [TITAN, NATIVE, TITAN | NATIVE])
def test_searches_find_everything_once_it_is_embedded_again(
    service: Service, ada: httpx.Client, key: str, change: dict[str, str]
) -> None:
    assert found_by(ada) == ALL
    changed = after(service, key, **change)
    assert found_by(changed) == NONE
    done = sweep(service, **change)
    assert (done["reembedding_started"], done["embedded"]) == (1, 4 + 3)
    assert found_by(changed) == ALL
    assert found_by(after(service, key)) == NONE  # no vector of the former one is left
    assert sweep(service)["embedded"] == 4 + 3  # and back
    assert found_by(after(service, key)) == ALL


def test_facts_and_entries_stay_as_they_are(
    service: Service, ada: httpx.Client, key: str, clock: MovableClock
) -> None:
    fact, entries = ok(ada.get(f"{FACTS}/f-email")), ok(ada.get(MEMORY))
    clock.advance(seconds=100)
    sweep(service, **TITAN)
    changed = after(service, key, **TITAN)
    assert ok(changed.get(f"{FACTS}/f-email")) == fact
    assert ok(changed.get(MEMORY)) == entries
    assert_no_content(
        changed.delete(f"{FACTS}/f-email", headers={"If-Match": str(fact["version"])})
    )


@pytest.mark.usefixtures("ada")
def test_nothing_sensitive_goes_to_the_model(service: Service, bedrock: Bedrock) -> None:
    sweep(service, **TITAN)
    assert len(bedrock.asked) == 4 + 3
    assert len(vectors(service)) == 4 + 3
    assert not [text for text in bedrock.asked if "sealed" in text]


@pytest.mark.usefixtures("ada")
def test_an_index_in_memory_finds_vectors_that_were_embedded_again(
    service: Service, key: str, clock: MovableClock
) -> None:
    changed = after(service, key, **TITAN)
    clock.advance(seconds=2 * HOUR)
    learn(changed, "globex", "opened", "an office in Lisbon")
    assert objects(recall(changed, "acme prefers letters")) == ["an office in Lisbon"]
    sweep(service, **TITAN)
    assert objects(recall(changed, "acme prefers letters"))[0] == "letters"


def test_a_second_pass_embeds_what_former_settings_wrote_meanwhile(
    service: Service, ada: httpx.Client, key: str, clock: MovableClock
) -> None:
    run = sweeper(service, **TITAN)
    assert run()["embedded"] == 7
    learn(ada, "acme", "closed", "the office in Oslo")
    clock.advance(seconds=HOUR - 1)
    assert run() == {"lag_ms": 0}
    clock.advance(seconds=1)
    assert run() == {"lag_ms": 0, "embedded": 1}
    changed = after(service, key, **TITAN)
    assert objects(recall(changed, "the office in Oslo", top_k=1)) == ["the office in Oslo"]
    assert run() == sweep(service, **TITAN) == {"lag_ms": 0}
    (state,) = items(service, EMBEDDING.sort)
    assert "due" not in state


@pytest.mark.usefixtures("ada")
def test_without_a_change_nothing_is_written(service: Service) -> None:
    before = service.state()
    assert sweep(service) == {"lag_ms": 0}
    assert service.state() == before


def test_what_is_learned_without_a_model_is_embedded_once_there_is_one(
    service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("functions.vectors.wordllama.is_installed", lambda: False)
        wordllama._load_model.cache_clear()  # noqa: SLF001 - loaded once a process
        sweep(service)
        ada, embed = after(service, key), embedder(service)
        create(ada, entry(key="a", value=TEA))
        fact = learn(ada, "acme", "prefers", "email")
        assert learn(ada, "acme", "prefers", "letters") != fact
        assert ok(ada.get(f"{FACTS}/{fact['fact_id']}"))["object"] == "email"
        embed()
        assert vectors(service) == []
        ada.event_hooks = {}  # they take no 503
        answer = refused(ada.post(f"{FACTS}/recall", json={"query": "email"}), 503, "UNAVAILABLE")
        assert "tools.embedding_model" in answer["detail"]
        assert ok(ada.get("/api/v1/capabilities"))["facts"]["recall"] is False
    assert sweep(service)["embedded"] == 3
    ada = after(service, key)
    assert keys_of(search(ada, "green tea")) == ["a"]
    assert objects(recall(ada, "acme prefers email")) == ["email", "letters"]


@pytest.mark.usefixtures("ada")
def test_an_unavailable_model_delays_reembedding(
    service: Service, key: str, bedrock: Bedrock
) -> None:
    bedrock.answers = False
    run = sweeper(service, **TITAN)
    assert run()["failed"] == 1
    bedrock.answers = True
    assert run()["embedded"] == 7
    assert found_by(after(service, key, **TITAN)) == ALL


@pytest.mark.usefixtures("ada")
def test_an_unreadable_entry_does_not_stop_reembedding(service: Service) -> None:
    broken = next(item for item in items(service, "e#") if item["key"] == "b")
    place = {name: {"S": broken[name]} for name in ("pk", "sk")}
    service.engine.client.update_item(
        TableName=service.engine.memory,
        Key=place,
        UpdateExpression="REMOVE value_bytes, created_at",
    )
    assert sweep(service, **TITAN)["embedded"] == 6


@pytest.mark.usefixtures("ada")
def test_reembedding_resumes_page_by_page_and_sweep_by_sweep(
    service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.search.store._SCANNED", 3)
    monkeypatch.setattr("functions.schedule.handler.JOB_SECONDS", 0.000001)
    run, sweeps, embedded = sweeper(service, **TITAN), 0, 0
    while True:
        done = run()
        embedded += done.get("embedded", 0)
        sweeps += 1
        if "stopped" not in done:
            break
    assert (sweeps > 5, embedded) == (True, 7)
    assert found_by(after(service, key, **TITAN)) == ALL


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_next_sweep_completes_one_that_was_killed_at_any_write(
    service: Service, key: str, when: When
) -> None:
    ada = service.client(key)
    create(ada, entry(key="a", value=TEA))
    create(ada, entry(key="b", value=CAR))
    learn(ada, "acme", "prefers", "email")
    snapshot = service.stored()
    sweep(service, **TITAN)
    undisturbed = service.state()
    seen = after_each_kill(service, snapshot, when, service.state, **TITAN)
    assert seen == [undisturbed] * (1 + 3 + 1)  # the mark, what is embedded, how far it has come


@pytest.mark.usefixtures("ada")
def test_two_sweeps_at_once_do_what_one_does(service: Service, key: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: sweep(service, **TITAN), range(2)))
    assert found_by(after(service, key, **TITAN)) == ALL
    (state,) = items(service, EMBEDDING.sort)
    assert (state["is_last"], "due" in state) == (True, True)


@pytest.mark.parametrize("victim", ["a", "b", "f-letters"])
def test_an_entry_or_fact_changed_meanwhile_is_found_as_it_is(
    service: Service, ada: httpx.Client, key: str, clock: MovableClock, victim: str
) -> None:
    """Right before it is put, an entry is deleted, or changed, or a fact forgotten."""
    stream, deliver = Stream(service), stream_function(service)
    ids = {each["key"]: each["id"] for each in ok(ada.get(MEMORY))["entries"]}

    def meanwhile() -> None:
        assert_no_content(ada.delete(f"{MEMORY}/{ids['a']}"))
        ok(update(ada, ids["b"], 1, value={"vehicle": "a blue bicycle"}))
        assert_no_content(ada.delete(f"{FACTS}/f-letters"))
        assert deliver(stream.read()) == []

    with faulty() as client:
        client.interrupt("put_item", lambda put: ids.get(victim, victim) in str(put), meanwhile)
        sweep(service, **TITAN)
    clock.advance(seconds=HOUR)
    sweep(service, **TITAN)
    changed = after(service, key, **TITAN)
    assert "a" not in keys_of(search(changed, "green tea"))
    assert keys_of(search(changed, "a blue bicycle", top_k=1)) == ["b"]
    assert "letters" not in objects(recall(changed, "acme prefers letters"))
    left = [decode_item(item) for item in service.stored() if "vector" in item]
    assert ids["a"] not in str([item["sk"] for item in left])
    assert {item["model"] for item in left} == {MODEL}
