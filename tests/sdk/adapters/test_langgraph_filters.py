"""LangGraph's filters: the same over its own store and over ours, and where ours goes further."""

from typing import Any

import pytest
from agent_memory.adapters.langgraph.filters import matches

FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"one", "two", "three"}),
    ({"color": "red"}, {"one", "two"}),
    ({"color": "red", "score": {"$gt": 3.5}}, {"one"}),
    ({"color": {"$eq": "green"}}, {"three"}),
    ({"color": {"$ne": "green"}}, {"one", "two"}),
    ({"missing": {"$ne": "x"}}, {"one", "two", "three"}),
    ({"missing": None}, {"one", "two", "three"}),
    ({"score": {"$gt": 3.0}}, {"one", "three"}),
    ({"score": {"$gte": 3.0}}, {"one", "two", "three"}),
    ({"score": {"$lt": 4.0}}, {"two"}),
    ({"score": {"$lte": 4}}, {"two", "three"}),
    ({"score": {"$gte": 3.5, "$lt": 4.5}}, {"three"}),
    ({"size": {"$gt": "9"}}, {"two"}),
    ({"nested": {"deep": {"n": 1}}}, {"one"}),
    ({"nested": {"deep": {"n": {"$gte": 1}}}}, {"one", "two"}),
    ({"tags": ["a", "b"]}, {"one"}),
    ({"tags": ["b", "a"]}, {"two"}),
    ({"color": "blue"}, set()),
]


@pytest.fixture
def filled(store: Any) -> Any:
    """A store with three items of many fields."""
    fields: list[tuple[str, float, str, int, list[str]]] = [
        ("red", 4.5, "1", 1, ["a", "b"]),
        ("red", 3, "10", 2, ["b", "a"]),
        ("green", 4.0, "9", 0, []),
    ]
    places = [(("docs",), "one"), (("docs", "more"), "two"), (("docs",), "three")]
    for place, (color, score, size, n, tags) in zip(places, fields, strict=True):
        nested = {"deep": {"n": n, "m": 2}}
        value = {"color": color, "score": score, "size": size, "nested": nested, "tags": tags}
        store.put(*place, value)
    return store


def test_filters(filled: Any, subtests: pytest.Subtests) -> None:
    for filter_, keys in FILTERS:
        with subtests.test(str(filter_)):
            assert {item.key for item in filled.search(("docs",), filter=filter_)} == keys
    with pytest.raises(ValueError, match=r"\$in"):
        filled.search(("docs",), filter={"color": {"$in": ["red"]}})


COMPARISONS: list[tuple[object, object, bool]] = [
    ("2026-02-01", "2026-01-31", True),
    ("10", 9, True),
    (2**53 + 1, 2**53, True),
    ("n/a", 9, False),
    (None, 9, False),
    ([1], 0, False),
]


def test_what_can_t_be_compared_doesn_t_match(subtests: pytest.Subtests) -> None:
    for found, operand, greater in COMPARISONS:
        with subtests.test(f"{found!r} > {operand!r}"):
            assert matches({"n": found}, {"n": {"$gt": operand}}) is greater
