"""Search by DynamoDB's own vector index: the same results as by the exact search."""

from array import array
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.aws import create_client
from functions.platform.embedding_models import INDEXED_DIMENSIONS
from functions.platform.errors import Unavailable
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.schema import AGE_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import put
from functions.vectors.hybrid import QueryEmbedder, TextEmbedder
from functions.vectors.in_memory_vectors import InMemoryVectors, float16_format
from functions.vectors.model import Embedding, VectorFormat
from functions.vectors.native_index import NativeVectorIndex, native_format
from functions.vectors.wordllama import MODEL, embed_all
from tests.contract.bodies import MEMORY, create, entry, semantic
from tests.contract.expect import assert_no_content
from tests.contract.fact_calls import FACTS, learn, objects, recall
from tests.contract.search_calls import CAR, TAX, TEA, keys_of, search
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.transport import HandlerTransport, open_client, turns
from tests.contract.vector_index import INDEX, FakeVectorIndex, searching

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
MISSING = f"The table does not have the specified index: {INDEX}"
BUILDING = f"Cannot search backfilling vector index: {INDEX}"
TEXTS = (
    "the customer signed the contract after a long negotiation",
    "green tea is best when the water is not quite boiling",
    "the brakes of the delivery van were replaced in March",
    "the invoice is due thirty days after delivery",
    "responded positively to a direct talk about return on investment",
    "the deployment failed since the database was out of space",
    "prefers to be called in the morning, before meetings",
    "the hotel in Lisbon had a view of the river",
    "the patient is allergic to penicillin",
    "the team writes tests before code",
    "interest rates were raised by the central bank",
    "the recipe needs two eggs, flour and a pinch of salt",
)
_embed_query = QueryEmbedder(embed_all)


def _put(
    table: Table,
    stored: VectorFormat,
    address: tuple[str, str],
    embedding: Embedding,
    **filters: str,
) -> None:
    space, ref = address
    item = stored.encode(space, embedding, filters, 1) | {"version": 1}
    table.put(put(AGENT_VECTOR.build_key_in(space, ref=ref), item))


QUERIES = ("money to be paid", "a warm drink", "the car's repair", "software engineering", "health")


@pytest.fixture
def index(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeVectorIndex]:
    """The vector index of the memory table; who is started now finds it."""
    with searching(service.engine) as (url, found):
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", url)
        yield found


@pytest.fixture
def ada(service: Service, index: FakeVectorIndex, tenant: Tenant) -> httpx.Client:  # noqa: ARG001 - it is there first
    """An agent of a service that searches by that index."""
    handler = App(Container(replace(service.settings(), vector_index=INDEX), service.clock))
    key = tenant.principal("agent", "ada")["api_key"]
    return open_client(HandlerTransport(handler, turns(parallel=True)), key)


def test_it_ranks_as_the_exact_search_does(service: Service, index: FakeVectorIndex) -> None:
    table = Table(create_client("dynamodb"), service.engine.memory)
    for number, text in enumerate(TEXTS):
        kind = {"memory_type": "episodic" if number % 2 else "semantic"}
        for space, stored in (("exact", float16_format(MODEL)), ("native", native_format(MODEL))):
            _put(table, stored, (space, str(number)), TextEmbedder(embed_all)(text), **kind)
    exact, native = (
        InMemoryVectors(table, service.clock, MODEL),
        NativeVectorIndex(table, INDEX, MODEL),
    )
    for query in map(_embed_query, QUERIES):
        for equal in ({}, {"memory_type": "episodic"}):
            expected = exact.find_candidates("exact", query, len(TEXTS), equal)
            found = native.find_candidates("native", query, len(TEXTS), equal)
            by_cosine = sorted(expected.by_meaning, key=lambda hit: -hit.cosine)
            assert [hit.ref for hit in found.by_meaning] == [hit.ref for hit in by_cosine]
            for ref, cosine in expected.cosines.items():
                assert found.cosines.get(ref, cosine) == pytest.approx(cosine, abs=0.002)
    assert len(index.asked) == 4 * len(QUERIES)


def test_written_entries_are_found_and_deleted_ones_are_not(
    service: Service, tenant: Tenant, ada: httpx.Client, index: FakeVectorIndex
) -> None:
    stream, deliver = Stream(service), stream_function(service, vector_index=INDEX)
    made = {key: create(ada, entry(key=key, value=v)) for key, v in {"a": TEA, "b": CAR}.items()}
    create(tenant.admin, semantic(key="c", value=TAX, namespace="taxes"))
    assert deliver(stream.read()) == []
    assert keys_of(search(ada, "something warm to drink")) == ["a", "b"]
    assert keys_of(search(ada, "due", memory_type="semantic", namespace="taxes")) == ["c"]
    assert keys_of(search(ada, "an automobile", top_k=1)) == ["b"]
    assert_no_content(ada.delete(f"{MEMORY}/{made['b']['id']}"))
    assert keys_of(search(ada, "an automobile")) == ["a"]
    assert deliver(stream.read()) == []
    refs = index.answer(index.asked[-1])["SearchResults"]
    assert [made["a"]["id"] in each["Item"]["sk"]["S"] for each in refs] == [True]
    assert not any(AGE_ATTRIBUTE in each for each in service.stored())


@pytest.mark.parametrize("said", [BUILDING, MISSING])
def test_an_index_that_is_being_built_is_not_available_yet(
    service: Service, index: FakeVectorIndex, said: str
) -> None:
    index.building = said
    native = NativeVectorIndex(
        Table(create_client("dynamodb"), service.engine.memory), INDEX, MODEL
    )
    with pytest.raises(Unavailable, match="being built"):
        native.find_candidates("s", _embed_query("tea"), 5, {})


def test_another_models_vectors_are_never_compared(
    service: Service,
    index: FakeVectorIndex,  # noqa: ARG001 - it is searched
) -> None:
    table = Table(create_client("dynamodb"), service.engine.memory)
    _put(table, native_format("another"), ("s", "a"), TextEmbedder(embed_all)("tea"))
    native = NativeVectorIndex(table, INDEX, MODEL)
    assert native.find_candidates("s", _embed_query("tea"), 5, {}).cosines == {}


def test_a_zero_vector_is_stored_but_not_indexed(
    service: Service,
    index: FakeVectorIndex,  # noqa: ARG001 - it is searched
) -> None:
    table = Table(create_client("dynamodb"), service.engine.memory)
    zeros = array("f", [0.0] * INDEXED_DIMENSIONS)
    still = Embedding((zeros,), {})
    _put(table, native_format(MODEL), ("s", "a"), still)
    native = NativeVectorIndex(table, INDEX, MODEL)
    for each in (_embed_query("tea"), still):
        assert native.find_candidates("s", each, 5, {}).cosines == {}
    assert len(list(table.query("s", "v#"))) == 1


def test_all_filters_of_facts_are_filters_of_the_index(
    service: Service,
    ada: httpx.Client,
    index: FakeVectorIndex,  # noqa: ARG001 - it is searched
) -> None:
    learn(ada, "acme", "prefers", "email", agent_type="sales", learned_from_run_id="run_1")
    fact = learn(ada, "x" * 2000, "prefers", "calls", agent_type="support")
    assert objects(recall(ada, "a message by email")) == ["email", "calls"]
    for name in ("subject", "predicate", "agent_type"):
        assert "calls" in objects(recall(ada, "email", **{name: fact[name]}))
    assert objects(recall(ada, "calls", learned_from_run_id="run_1")) == ["email"]
    assert_no_content(ada.delete(f"{FACTS}/{fact['fact_id']}"))
    assert objects(recall(ada, "calls")) == ["email"]
    lists = [item for item in service.stored() if "numbers" in item]
    assert len(lists) == 1
