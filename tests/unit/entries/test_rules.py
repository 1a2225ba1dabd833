"""Test what a create and a change make of an entry (RFC-0015 §1, §3)."""

from functools import partial
from typing import Any, get_args

import pytest

from functions.entries.change import apply_change
from functions.entries.create import build_entry
from functions.entries.model import Entry
from functions.entries.requests import EntryChange, NewEntry
from functions.entries.tiers import POLICIES, Tier
from functions.platform.errors import AccessDenied, ServiceError, ValidationFailed, ValueTooLarge
from functions.platform.idempotency import RequestToken
from functions.platform.limits import MAX_VALUE_BYTES
from tests.unit.entries.making import NOW, make_change, make_entry, make_new, make_principal

TIERS: tuple[Tier, ...] = get_args(Tier)
TOKEN = RequestToken.create()
DAY = 86_400_000


def create(**fields: Any) -> Entry:
    return build_entry(make_principal(), make_new(**fields), NOW, TOKEN)


def change(entry: Entry, who: str = "ada", at: int = NOW + 1, **fields: Any) -> Entry:
    return apply_change(make_principal(who), entry, make_change(**fields), at, TOKEN)


def failing_field(error: ServiceError) -> str:
    field: str = error.members["errors"][0]["field"]
    return field


@pytest.mark.parametrize("tier", TIERS)
def test_a_new_entry_is_at_version_1_and_written_by_the_caller(tier: Tier) -> None:
    made = create(memory_type=tier)
    assert (made.version, made.created_at, made.updated_at, made.last_accessed_at) == (
        1,
        NOW,
        NOW,
        NOW,
    )
    assert (made.agent_id, made.created_by, made.memory_type, made.value) == (
        "ada",
        "ada",
        tier,
        b'{"n":1}',
    )
    assert made.curated_by == (None if POLICIES[tier].is_private else "ada")
    assert made.request_token == TOKEN.stored
    assert made.id.startswith(f"mem_{POLICIES[tier].id_letter}")


_COMPUTED = {
    *("namespace", "key", "memory_type", "agent_id", "value", "vector", "version", "expires_at"),
    *("created_at", "updated_at", "created_by", "curated_by", "last_accessed_at", "occurred_at"),
    *("inherited", "unreadable", "vector_length"),
}
"""Fields that need a check or a computation before an entry has them, or are ignored."""


@pytest.mark.parametrize("body", [NewEntry, EntryChange])
def test_every_field_that_a_request_and_an_entry_have_alike_is_taken_over(body: type) -> None:
    given: dict[str, Any] = {
        "tags": ["b", "a"],
        "ttl": "duration:P1D",
        "pinned": True,
        "priority": "high",
        "sensitivity": "internal",
    }
    shared = set(body.model_fields) & set(Entry._fields)  # type: ignore[attr-defined]
    assert shared - _COMPUTED == given.keys()
    made = create(**given) if body is NewEntry else change(make_entry(), **given)
    for name, value in given.items():
        assert getattr(made, name) == (tuple(value) if isinstance(value, list) else value)


def test_a_change_keeps_what_it_does_not_name() -> None:
    entry = make_entry(tags=("a",), sensitivity="internal", priority="low", pinned=True)
    changed = change(entry, value={"n": 2})
    kept = entry._replace(
        value=b'{"n":2}',
        version=2,
        updated_at=NOW + 1,
        last_accessed_at=NOW + 1,
        request_token=TOKEN.stored,
    )
    assert changed == kept


def test_null_takes_a_sensitivity_away() -> None:
    assert change(make_entry(sensitivity="restricted"), sensitivity=None).sensitivity is None


def test_who_changes_semantic_memory_becomes_its_curator() -> None:
    assert change(make_entry("semantic", curated_by="ada"), who="bob", tags=[]).curated_by == "bob"
    assert change(make_entry("working"), tags=[]).curated_by is None


@pytest.mark.parametrize("tier", ["working", "semantic"])
@pytest.mark.parametrize(("field", "value"), [("pinned", True), ("priority", "low")])
def test_only_episodic_memory_is_pinned_and_has_a_priority(
    tier: Tier, field: str, value: Any
) -> None:
    with pytest.raises(ValidationFailed) as creating:
        create(memory_type=tier, **{field: value})
    with pytest.raises(ValidationFailed) as changing:
        change(make_entry(tier), **{field: value})
    assert [failing_field(each.value) for each in (creating, changing)] == [field, field]


@pytest.mark.parametrize("tier", ["working", "episodic"])
def test_nobody_creates_private_memory_of_another_agent(tier: Tier) -> None:
    with pytest.raises(AccessDenied):
        create(memory_type=tier, agent_id="bob")


def test_semantic_memory_may_be_of_another_agent() -> None:
    made = create(memory_type="semantic", agent_id="bob")
    assert (made.agent_id, made.created_by, made.curated_by) == ("bob", "ada", "ada")


def test_tags_are_kept_once_in_the_order_given() -> None:
    assert create(tags=["b", "a", "b"]).tags == ("b", "a")
    assert change(make_entry(), tags=["c", "c"]).tags == ("c",)


@pytest.mark.parametrize(("text", "size"), [("", 8), ("x" * 1017, 1025), ("ü", 10)])
def test_a_value_counts_by_its_bytes(text: str, size: int) -> None:
    value = {"s": text}
    assert create(value=value).value_bytes == change(make_entry(), value=value).value_bytes == size


@pytest.mark.parametrize("character", ["x", "é", "€", "🙂"])
def test_the_size_of_a_value_is_limited_in_bytes_of_utf8(character: str) -> None:
    room = MAX_VALUE_BYTES - len('{"s":""}')
    text = character * (room // len(character.encode()))
    text += "x" * (room - len(text.encode()))
    assert len(create(value={"s": text}).value) == MAX_VALUE_BYTES
    for write in (create, partial(change, make_entry())):
        with pytest.raises(ValueTooLarge) as error:
            write(value={"s": text + "x"})
        assert error.value.members == {"max": MAX_VALUE_BYTES, "actual": MAX_VALUE_BYTES + 1}


@pytest.mark.parametrize(
    ("given", "expires"),
    [
        ({}, None),
        ({"ttl": None}, None),
        ({"ttl": "duration:P1D"}, NOW + DAY),
        ({"ttl": "task_lifetime", "scope": {"task_id": "t"}}, None),
        ({"expires_at": "2031-01-01T00:00:00Z"}, 1_924_992_000_000),
        ({"ttl": "duration:P1D", "expires_at": "2031-01-01T00:00:00Z"}, 1_924_992_000_000),
    ],
)
def test_an_entry_expires_as_its_lifetime_says(given: dict[str, Any], expires: int | None) -> None:
    assert create(**given).expires_at == expires


@pytest.mark.parametrize(
    ("given", "expires"),
    [
        ({"tags": []}, NOW + DAY),
        ({"ttl": None}, None),
        ({"ttl": "duration:PT1S"}, NOW + 10 + 1000),
        ({"expires_at": None}, NOW + 10 + DAY),
        ({"expires_at": "2031-01-01T00:00:00Z"}, 1_924_992_000_000),
    ],
)
def test_a_new_lifetime_counts_from_the_change(given: dict[str, Any], expires: int | None) -> None:
    entry = make_entry(ttl="duration:P1D", expires_at=NOW + DAY)
    assert change(entry, at=NOW + 10, **given).expires_at == expires


@pytest.mark.parametrize("given", [{"ttl": "task_lifetime"}, {"ttl": "soon"}, {"ttl": "duration:"}])
def test_a_lifetime_without_a_meaning_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as creating:
        create(**given)
    with pytest.raises(ValidationFailed) as changing:
        change(make_entry(), **given)
    assert [failing_field(each.value) for each in (creating, changing)] == ["ttl", "ttl"]


@pytest.mark.parametrize(
    ("given", "decided"),
    [
        ({}, True),
        ({"pinned": None}, True),
        ({"pinned": False}, False),
        ({"pinned": True}, False),
        ({"memory_type": "working"}, False),
        ({"memory_type": "semantic"}, False),
    ],
)
def test_settings_decide_on_pinning_where_an_episodic_body_does_not(
    given: dict[str, Any], decided: bool
) -> None:
    assert create(**given).pinned_by_settings is decided
