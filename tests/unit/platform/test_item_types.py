"""The registry of item types: no two meet, and it is the only place that knows keys."""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from functions.platform import item_types
from functions.platform.item_types import (
    ITEM_TYPES,
    ItemType,
    find_due_type,
    find_item_type,
    find_sealed_type,
)
from functions.platform.keys import hash_name
from functions.platform.schema import BY_DUE, build_log_table, build_memory_table

_ROOT = Path(__file__).parents[3]
_NAMES = re.compile(r"\{[^}]*\}")
_HASHED_NAMES = re.compile(r"\{\w+(:[a-z][^}]*)?\}")
_PREFIX = re.compile(r'"(?:\{\w+\})?#?[a-z]{1,3}#(?:\{|")|"~key|split\("#')


def _overlap(one: str, other: str) -> bool:
    """Tell whether a key of one template could be one of the other, or begin like it."""
    starts = [each.partition("{")[0] for each in (one, other)]
    return starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])


def _is_same_partition(one: ItemType, other: ItemType) -> bool:
    shapes = [_NAMES.sub("{}", each.partition) for each in (one, other)]
    return one.table == other.table and shapes[0] == shapes[1]


def test_names_are_unique() -> None:
    assert len({each.name for each in ITEM_TYPES}) == len(ITEM_TYPES)


def test_no_two_types_of_a_partition_have_a_sort_key_in_common() -> None:
    meeting = [
        (one.name, other.name)
        for one, other in combinations(ITEM_TYPES, 2)
        if _is_same_partition(one, other) and _has_common_sort(one, other)
    ]
    assert meeting == []


def _has_common_sort(one: ItemType, other: ItemType) -> bool:
    if "{" in one.sort and "{" in other.sort:
        return _overlap(one.sort, other.sort)
    return one.has_sort(other.sort) or other.has_sort(one.sort)


def test_a_sort_key_names_the_type_of_a_due_item() -> None:
    due = [each for each in ITEM_TYPES if BY_DUE in each.indexes]
    for each in due:
        found = find_due_type(each.sort)
        assert found is not None
        assert found.sort == each.sort
    assert find_due_type("run") is None


def test_a_key_names_the_type_of_a_sealed_item() -> None:
    sealed = [each for each in ITEM_TYPES if each.sealed]
    for each in sealed:
        key = (_NAMES.sub("x", each.partition), _NAMES.sub("y", each.sort))
        assert find_sealed_type(key) is each
    for other in ITEM_TYPES:
        key = (_NAMES.sub("x", other.partition), _NAMES.sub("0", other.sort))
        assert other.sealed or find_sealed_type(key) is None


@pytest.mark.parametrize("each", ITEM_TYPES, ids=[each.name for each in ITEM_TYPES])
def test_a_type_is_of_a_package_and_of_indexes_that_exist(each: ItemType) -> None:
    assert (_ROOT / "functions" / each.package).is_dir()
    indexes = {
        index["IndexName"] for index in build_memory_table("memory")["GlobalSecondaryIndexes"]
    }
    assert {*each.indexes, *each.listed} <= indexes | {"the vector index"}
    assert not {*each.indexes} & {*each.listed}
    assert each.table == "memory" or not (each.indexes or each.listed)
    assert build_log_table("log")["KeySchema"] == build_memory_table("memory")["KeySchema"]


def test_no_two_types_are_listed_in_one_partition_of_an_index() -> None:
    rooms = Counter(
        (index, _HASHED_NAMES.sub(r"{\1}", template))
        for each in ITEM_TYPES
        for index, template in each.listed.items()
    )
    assert [room for room, count in rooms.items() if count > 1] == []


def test_a_key_is_built_and_recognized_by_its_type() -> None:
    key = item_types.MESSAGE.build_key("acme", session="s", generation="g", index=7)
    assert key == (f"acme#v#{hash_name('session', 's')}", "msg#g#000000000007")
    assert item_types.MESSAGE.has_sort(key[1])
    assert not item_types.CONVERSATION.has_sort(key[1])


@pytest.mark.parametrize("each", ITEM_TYPES, ids=[each.name for each in ITEM_TYPES])
def test_a_key_leads_to_its_type(each: ItemType) -> None:
    names: dict[str, Any] = dict.fromkeys(re.findall(r"\{(\w+)\}", each.partition + each.sort), 7)
    hashed = re.findall(r"\{(\w+):[a-z]", each.partition + each.sort)
    names |= dict.fromkeys(re.findall(r"\{(\w+):0", each.sort), 7) | dict.fromkeys(hashed, "x")
    own, sort = each.build_key("7", **names)
    found = find_item_type(each.table, ("7#a#7" if " " in each.partition else own, sort))
    assert found is not None
    assert (found.package, found.sort) == (each.package, each.sort)


def test_no_other_module_writes_a_prefix() -> None:
    service = _ROOT / "functions"
    files = set(service.rglob("*.py")) - set((service / "platform").rglob("*.py"))
    found = [str(path) for path in files if _PREFIX.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_names_are_hashed_as_the_template_says_and_digests_are_taken_as_they_are() -> None:
    key = item_types.GRANT.build_key("acme", task="t", principal="ada")
    assert key == (f"acme#t#{hash_name('task', 't')}", f"g#{hash_name('agent', 'ada')}")
    assert item_types.AGENT.build_key("acme", agent=hash_name("agent", "ada"))[0] == (
        item_types.AGENT.build_partition("acme", agent="ada")
    )


def test_a_range_begins_with_the_names_that_are_given() -> None:
    partition, prefix = item_types.ASSIGNMENT.build_range("acme", agent="ada")
    assert (partition, prefix) == (f"acme#a#{hash_name('agent', 'ada')}", "t#")
    _, prefix = item_types.ASSIGNMENT.build_range("acme", agent="ada", coordinator="boss")
    assert prefix == f"t#{hash_name('agent', 'boss')}#"
