"""Values and names come back as they were sent."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.contract.bodies import (
    BATCH,
    create,
    entry,
    query,
    read,
    semantic,
    update,
    working,
)
from tests.contract.expect import ok
from tests.contract.service import Tenant

_serial = itertools.count(1)

SCALARS: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    -0.0,
    0.1,
    1e16,
    1e22,
    1e-7,
    123456789.123456789,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**64 - 1,
    2**64,
    10**38 + 1,
    -(10**100) - 1,
    10**300 + 7,
    "",
    " ",
    "\u0000",
    "a\u0000b",
    "\u0001\u001f\u007f\u0080",
    "\u2028\u2029\ufeff\ufffe\uffff",
    '"\\/\b\f\n\r\t',
    "é e\u0301",
    "🤖👩‍👩‍👧",
    "\U0010ffff",
    "نص",
    "null",
    [],
    {},
    [[], {}, [None]],
    {"": {"": 0}},
    {"a.b": 1, "a": {"b": 2}, "$set": 3, "__proto__": 4, "\u0000": 5, "S": "N", "NULL": True},
    {"é": 1, "e\u0301": 2},
]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), json_values, max_size=5)
names = st.text(min_size=1, max_size=255)


def exactly(value: Any) -> str:
    """A text that differs for any two different JSON values, 1 and 1.0 included."""
    return json.dumps(value, sort_keys=True)


def same_everywhere(tenant: Tenant, body: dict[str, Any]) -> None:
    """Writes the body each way there is, and compares each way of reading it."""
    client, want = tenant.admin, exactly(body["value"])
    made = create(client, body)
    found = query(client, key=body["key"])
    changed = ok(update(client, made["id"], 1, value=body["value"]))
    listed = query(client, key=body["key"], namespace=body["namespace"])
    batched = ok(client.post(BATCH, json={"entries": [body | {"key": body["key"] + "2"}]}))
    reads = [made, *found, changed, ok(read(client, made["id"])), *listed, *batched["entries"]]
    assert [exactly(each["value"]) for each in reads] == [want] * 6


@pytest.mark.parametrize("make", [entry, semantic, working])
def test_every_kind_of_value_round_trips(tenant: Tenant, make: Any) -> None:
    same_everywhere(tenant, make(value={"list": SCALARS, "nested": {"deep": SCALARS}}))


def test_every_kind_of_sensitive_value_round_trips(tenant: Tenant) -> None:
    same_everywhere(tenant, entry(value={"list": SCALARS}, sensitivity="restricted"))


@pytest.mark.parametrize("size", [900, 1100, 5000, 60_000])
def test_long_texts_round_trip(tenant: Tenant, size: int) -> None:
    text = ("\u0000é🤖 repeated text, " * size)[: size // 3]
    same_everywhere(tenant, entry(value={"text": text}))


def test_a_value_may_be_nested_deeply(tenant: Tenant) -> None:
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"in": [value]}
    same_everywhere(tenant, entry(value=value))


@given(value=objects)
@example(value={})
def test_any_object_round_trips(tenant: Tenant, value: dict[str, Any]) -> None:
    made = create(tenant.admin, entry(key=f"k{next(_serial)}", value=value))
    assert exactly(made["value"]) == exactly(value)
    assert exactly(ok(read(tenant.admin, made["id"]))["value"]) == exactly(value)


@pytest.mark.usefixtures("volume")
@settings(max_examples=25)
@given(namespace=names, key=names, tag=st.text(min_size=1, max_size=128))
@example(namespace="\u0000", key="\u0000", tag="\u0000")
@example(namespace="é", key="e\u0301", tag="\u2028")
@example(namespace="*", key="*", tag="*")
@example(namespace="a#b", key="c#d", tag="#")
@pytest.mark.parametrize("make", [entry, semantic])
def test_any_unicode_is_legal_in_names_and_tags(
    tenant: Tenant, make: Any, namespace: str, key: str, tag: str
) -> None:
    fresh = tenant.service.tenant().admin
    made = create(fresh, make(namespace=namespace, key=key, tags=[tag]))
    assert (made["namespace"], made["key"], made["tags"]) == (namespace, key, [tag])
    assert query(fresh, key=key, namespace=namespace) == [made]
    if "," not in tag and tag.strip() == tag:
        assert query(fresh, tags=tag) == query(fresh, tags_any=tag) == [made]


def test_names_that_look_alike_are_different_names(tenant: Tenant) -> None:
    alike = ["é", "e\u0301", "É", "e", "e\u0000", "e ", " e", "ｅ", "е"]  # noqa: RUF001
    made = [create(tenant.admin, entry(key=key, namespace=key)) for key in alike]
    for key, each in zip(alike, made, strict=True):
        assert query(tenant.admin, key=key) == query(tenant.admin, namespace=key) == [each]
