"""Namespaces as names of the service: exact both ways, prefixes among them, and bounded."""

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from agent_memory.adapters.langgraph.names import labels_of, namespace_of, prefix_of
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import PutOp

ROOT = "langgraph"
LABELS = st.lists(st.text(st.sampled_from("ab/~01*. é"), max_size=4), max_size=4).map(tuple)


@given(LABELS)
def test_a_name_tells_its_labels(labels: tuple[str, ...]) -> None:
    assert labels_of(ROOT, namespace_of(ROOT, labels)) == labels


@given(LABELS, LABELS)
def test_a_prefix_finds_what_begins_with_its_labels_and_nothing_else(
    labels: tuple[str, ...], prefix: tuple[str, ...]
) -> None:
    begins = namespace_of(ROOT, labels).startswith(prefix_of(ROOT, prefix).removesuffix("*"))
    assert begins == (labels[: len(prefix)] == prefix)


@given(st.text(st.sampled_from("ab/~01"), max_size=8))
def test_a_name_that_is_none_of_ours_has_no_labels(name: str) -> None:
    labels = labels_of(ROOT, f"{ROOT}/{name}")
    assert labels is None or namespace_of(ROOT, labels) == f"{ROOT}/{name}"


def test_who_writes_beside_the_store_under_its_root_isn_t_found(alice: Client) -> None:
    store = AgentMemoryStore(alice)
    store.put(("a",), "k", {})
    for namespace in (f"{ROOT}/a", f"{ROOT}/~2/", "langgraphs/a/"):
        alice.memory.set(namespace, "foreign", {}, memory_type="episodic")
    assert [item.key for item in store.search(())] == ["k"]
    assert store.list_namespaces() == [("a",)]


def test_roots_are_apart(alice: Client) -> None:
    one, other = AgentMemoryStore(alice, root="app"), AgentMemoryStore(alice, root="app2")
    one.put(("n",), "k", {"of": "app"})
    other.put(("n",), "k", {"of": "app2"})
    assert [item.value for item in one.search(())] == [{"of": "app"}]
    assert [entry.namespace for entry in alice.memory.query(namespace="app2/*")] == ["app2/n/"]
    with pytest.raises(ValueError, match="slash"):
        AgentMemoryStore(alice, root="a/b")


def test_the_longest_namespace(alice: Client) -> None:
    store = AgentMemoryStore(alice)
    label = "x" * (255 - len(f"{ROOT}//"))
    store.put((label,), "k", {"n": 1})
    (item,) = store.search((label,))
    assert item.namespace == (label,)
    with pytest.raises(ValueError, match="needs 256 characters; the maximum is 255"):
        store.put((f"{label}x",), "k", {"n": 2})


def test_one_bad_put_of_a_batch_changes_nothing(alice: Client) -> None:
    store = AgentMemoryStore(alice)
    good = PutOp(("a",), "k", {"n": 1})
    for bad in (PutOp(("x" * 255,), "k", {}), PutOp(("b",), "k", {}, ttl=-1.0)):
        with pytest.raises(ValueError, match=r"255|above 0"):
            store.batch([good, bad])
    assert store.search(()) == []
