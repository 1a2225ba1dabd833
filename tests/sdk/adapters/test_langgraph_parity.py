"""Run the same tests of any `BaseStore` over LangGraph's own store and over ours."""

from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)


def test_an_item_is_put_read_replaced_and_deleted(store: Any) -> None:
    store.put(("users", "ada"), "taste", {"tea": "green", "cups": 3, "notes": [None, True, 1.5]})
    first = store.get(("users", "ada"), "taste")
    assert (first.namespace, first.key) == (("users", "ada"), "taste")
    assert first.value == {"tea": "green", "cups": 3, "notes": [None, True, 1.5]}
    assert first.created_at.utcoffset() is not None
    store.put(("users", "ada"), "taste", {"tea": "black"})
    second = store.get(("users", "ada"), "taste")
    assert second.value == {"tea": "black"}
    assert first.updated_at <= second.updated_at
    store.delete(("users", "ada"), "taste")
    assert store.get(("users", "ada"), "taste") is None
    store.put(("users", "ada"), "taste", {"tea": "white"})
    assert store.get(("users", "ada"), "taste").value == {"tea": "white"}


def test_what_isn_t_there(store: Any) -> None:
    assert store.search(("nowhere",)) == store.list_namespaces(prefix=("nowhere",)) == []
    store.delete(("nowhere",), "k")
    assert store.get(("nowhere",), "k") is None


def test_a_key_is_in_its_own_namespace_only(store: Any) -> None:
    store.put(("a",), "k", {"n": 1})
    store.put(("a", "b"), "k", {"n": 2})
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    assert store.get(("a", "b"), "k").value == {"n": 2}


def test_a_prefix_ends_where_a_label_ends(store: Any) -> None:
    namespaces = [("foo",), ("foo", "child"), ("foo", "child", "deep"), ("foobar",), ("fo", "o")]
    for namespace in namespaces:
        store.put(namespace, "k", {})

    def under(*prefix: str) -> set[tuple[str, ...]]:
        return {item.namespace for item in store.search(prefix, limit=100)}

    assert under("foo") == {("foo",), ("foo", "child"), ("foo", "child", "deep")}
    assert under("foo", "child") == {("foo", "child"), ("foo", "child", "deep")}
    assert under("f") == set()
    assert under() == set(namespaces)
    assert set(store.list_namespaces(prefix=("foo",))) == under("foo")


LABELS = ["a/b", "a~1b", "~", "/", "*", "foo*", "%_", " ", "\n", "日本", "😀"]


def test_labels_and_keys_have_any_characters(store: Any, subtests: pytest.Subtests) -> None:
    namespaces = {(first, "x") for label in LABELS for first in (label, f"{label}{label}")}
    for label in LABELS:
        store.put((label, "x"), label, {"n": 1})
        store.put((f"{label}{label}", "x"), label, {"n": 2})
    assert set(store.list_namespaces()) == namespaces
    for label in LABELS:
        with subtests.test(label):
            assert store.get((label, "x"), label).value == {"n": 1}
            (item,) = store.search((label,))
            assert (item.namespace, item.key) == ((label, "x"), label)


def test_pages_are_whole_and_apart(store: Any) -> None:
    for number in range(13):
        store.put(("n", str(number % 3)), f"k{number}", {"even": number % 2 == 0})
    pages = [store.search(("n",), limit=5, offset=start) for start in (0, 5, 10, 15)]
    assert [len(page) for page in pages] == [5, 5, 3, 0]
    assert len({item.key for page in pages for item in page}) == 13
    even = [store.search(("n",), filter={"even": True}, limit=3, offset=at) for at in (0, 3, 6)]
    assert [len(page) for page in even] == [3, 3, 1]
    assert all(item.value["even"] for page in even for item in page)
    assert len(store.search(("n",))) == 10
    assert store.search(("n",), limit=0) == []


def test_a_query_finds_all_that_matches(store: Any) -> None:
    store.put(("docs",), "tea", {"text": "green tea"}, index=["text"])
    store.put(("docs",), "car", {"text": "red car"}, index=False)
    items = store.search(("docs",), query="a hot drink")
    assert {item.key for item in items} == {"tea", "car"}
    (car,) = store.search(("docs",), query="a hot drink", filter={"text": "red car"})
    assert car.key == "car"


NAMESPACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("uid", "users", "alice"),
    ("uid", "users", "malice"),
]
LISTINGS: list[tuple[dict[str, Any], list[tuple[str, ...]]]] = [
    ({}, NAMESPACES),
    ({"prefix": ("a", "b")}, NAMESPACES[:4]),
    ({"suffix": ("f",)}, NAMESPACES[3:6]),
    ({"prefix": ("a",), "suffix": ("f",)}, NAMESPACES[3:5]),
    ({"prefix": ("a", "*", "f")}, NAMESPACES[3:5]),
    ({"prefix": ("*", "b")}, NAMESPACES[:4]),
    ({"suffix": ("*", "f")}, NAMESPACES[3:6]),
    ({"suffix": ("alice",)}, [NAMESPACES[6]]),
    ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", name) for name in "cdf"]),
    ({"max_depth": 1}, [("a",), ("b",), ("uid",)]),
    ({"prefix": ("a", "b"), "limit": 2}, NAMESPACES[:2]),
    ({"prefix": ("a", "b"), "offset": 2}, NAMESPACES[2:4]),
    ({"prefix": ("a", "b"), "offset": 1, "limit": 2}, NAMESPACES[1:3]),
    ({"prefix": ("a", "b", "c", "d")}, []),
]


def test_namespaces(store: Any, subtests: pytest.Subtests) -> None:
    for namespace in NAMESPACES:
        store.put(namespace, "k", {})
    for asked, listed in LISTINGS:
        with subtests.test(str(asked)):
            assert store.list_namespaces(**asked) == listed


def test_namespaces_that_langgraph_refuses(store: Any, subtests: pytest.Subtests) -> None:
    refused: list[tuple[str, ...]] = [(), ("a.b",), ("a", ""), ("langgraph", "a")]
    for namespace in refused:
        with subtests.test(str(namespace)), pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
    assert store.search(()) == []


def test_a_batch_answers_in_order_and_its_reads_come_before_its_writes(store: Any) -> None:
    store.put(("t", "foo"), "one", {"n": 1})
    results = store.batch(
        [
            PutOp(("t",), "three", {"n": 3}),
            GetOp(("t", "foo"), "one"),
            GetOp(("t",), "three"),
            SearchOp(("t",), filter={"n": 1}),
            PutOp(("t", "foo"), "one", None),
            ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("t",)),)),
            GetOp(("t",), "nothing"),
        ]
    )
    assert [type(result) for result in results[:3]] == [type(None), Item, type(None)]
    assert results[1].value == {"n": 1}
    assert [item.key for item in results[3]] == ["one"]
    assert ("t", "foo") in results[5]
    assert (results[4], results[6]) == (None, None)
    assert (store.get(("t",), "three").value, store.get(("t", "foo"), "one")) == ({"n": 3}, None)


def test_the_last_put_of_an_item_in_a_batch_counts(store: Any) -> None:
    puts: list[PutOp] = [PutOp(("t",), "k", {"n": number}) for number in range(3)]
    store.batch([*puts, PutOp(("t",), "gone", {"n": 1}), PutOp(("t",), "gone", None)])
    assert store.get(("t",), "k").value == {"n": 2}
    assert store.get(("t",), "gone") is None


def test_a_key_that_is_no_text_is_made_one(store: Any) -> None:
    store.put(("t",), 7, {"n": 7})
    assert store.get(("t",), "7").value == {"n": 7}


def test_there_is_no_such_operation(store: Any) -> None:
    with pytest.raises(ValueError, match="str"):
        store.batch(["get"])
