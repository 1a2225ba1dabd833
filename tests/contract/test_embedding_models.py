"""CONTRACT3 section 16: any embedding model at an OpenAI-compatible endpoint, for all sources."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.conversation_calls import put
from tests.contract.embedding_endpoint import Embeddings, serve_embeddings
from tests.contract.expect import ok, refused
from tests.contract.fact_calls import learn
from tests.contract.run_calls import append as append_episode
from tests.contract.run_calls import start
from tests.contract.search_calls import embedder
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import sweep
from tests.contract.transport import HandlerTransport, open_client, turns

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
Json = dict[str, Any]


@pytest.fixture
def model() -> Iterator[Embeddings]:
    with serve_embeddings() as served:
        yield served


@pytest.fixture
def chosen(model: Embeddings) -> Json:
    return {
        "embedding_model": "openai:topics",
        "embedding_url": model.url,
        "embedding_key": "sk-topics",
    }


class Deployment:
    """An agent's client of a deployment with the model, and its stream function."""

    def __init__(self, service: Service, key: str, **settings: Any) -> None:
        container = Container(replace(service.settings(), **settings), service.clock)
        self.client = open_client(HandlerTransport(App(container), turns(parallel=True)), key)
        self._stream, self._deliver = Stream(service), stream_function(service, **settings)

    def embed(self) -> None:
        assert self._deliver(self._stream.read()) == []


def fill(deployment: Deployment) -> None:
    """An item of each source about a car, and one about something else."""
    client = deployment.client
    for text in ("She drives to work", "The plant needs water"):
        ok(client.post("/api/v1/remember", json={"text": text}), 201)
    learn(client, "Acme", "bought", "an automobile")
    learn(client, "Acme", "sold", "a house")
    put(client, "s1", "Good morning", "Ma voiture est rouge", "Bye", user_id="acme")
    run = start(client)
    append_episode(client, run, "Washed the vehicle")
    append_episode(client, run, "Painted the fence")
    deployment.embed()


@pytest.fixture
def ada(service: Service, tenant: Tenant, chosen: Json) -> Deployment:
    return Deployment(service, tenant.principal("agent", "ada")["api_key"], **chosen)


def test_every_source_is_found_without_a_common_word(ada: Deployment, model: Embeddings) -> None:
    fill(ada)
    body = {"query": "car", "top_k": 4, "neighbours": 0}
    found = ok(ada.client.post("/api/v1/recall", json=body))["items"]
    assert {(each["source"], each["text"]) for each in found} == {
        ("entries", "She drives to work"),
        ("facts", "Acme bought an automobile"),
        ("messages", "Ma voiture est rouge"),
        ("episodes", "Washed the vehicle"),
    }
    assert model.keys == {"Bearer sk-topics"}
    assert {each["model"] for each in model.asked} == {"topics"}


def test_words_and_ids_count_beside_the_meaning(ada: Deployment) -> None:
    for number in (17, 18, 19):
        ok(ada.client.post("/api/v1/remember", json={"text": f"Car INV-10{number} is red"}), 201)
    ada.embed()
    body = {"query": "which vehicle is INV-1018?", "top_k": 1}
    (found,) = ok(ada.client.post("/api/v1/recall", json=body))["items"]
    assert found["text"] == "Car INV-1018 is red"


def test_a_recall_embeds_its_query_once_and_texts_once(ada: Deployment, model: Embeddings) -> None:
    fill(ada)
    for _ in range(2):
        ok(ada.client.post("/api/v1/recall", json={"query": "boisson"}))
    assert model.texts.count("boisson") == 1
    assert len(model.texts) == len(set(model.texts))


@pytest.mark.parametrize("dimensions", [64, 3072])
def test_vectors_have_as_many_numbers_as_the_settings_say(
    service: Service, tenant: Tenant, model: Embeddings, chosen: Json, dimensions: int
) -> None:
    settings = chosen | {"embedding_dimensions": dimensions}
    ada = Deployment(service, tenant.principal("agent", "ada")["api_key"], **settings)
    fill(ada)
    body = {"query": "car", "top_k": 4, "sources": ["entries", "messages"]}
    found = ok(ada.client.post("/api/v1/recall", json=body))["items"]
    assert {each["text"] for each in found[:2]} == {"She drives to work", "Ma voiture est rouge"}
    assert {each["dimensions"] for each in model.asked} == {dimensions}
    stored = [item["vector"]["B"] for item in service.stored() if "vector" in item]
    assert {len(each) for each in stored} == {2 * dimensions}


def test_an_endpoint_that_fails_loses_nothing(ada: Deployment, model: Embeddings) -> None:
    ok(ada.client.post("/api/v1/remember", json={"text": "She drives to work"}), 201)
    ada.embed()
    ada.client.event_hooks = {}  # they take no 503
    model.status = 500
    answer = ada.client.post("/api/v1/recall", json={"query": "automobile"})
    assert "answered 500" in refused(answer, 503, "UNAVAILABLE")["detail"]
    model.status = 200
    (found,) = ok(ada.client.post("/api/v1/recall", json={"query": "automobile"}))["items"]
    assert found["text"] == "She drives to work"


@pytest.mark.parametrize("size", [32, 4096])
def test_a_vector_of_another_size_is_refused(ada: Deployment, model: Embeddings, size: int) -> None:
    model.dimensions = size
    ada.client.event_hooks = {}
    answer = ada.client.post("/api/v1/recall", json={"query": "automobile"})
    assert f"{size} numbers" in refused(answer, 503, "UNAVAILABLE")["detail"]


def test_a_change_of_model_embeds_again(service: Service, tenant: Tenant, chosen: Json) -> None:
    key = tenant.principal("agent", "ada")["api_key"]
    before, embed = service.client(key), embedder(service)
    ok(before.post("/api/v1/remember", json={"text": "She drives"}), 201)
    embed()
    assert sweep(service, **chosen)["embedded"] == 1
    ada = Deployment(service, key, **chosen)
    (found,) = ok(ada.client.post("/api/v1/recall", json={"query": "automobile"}))["items"]
    assert "She drives" in found["text"]
