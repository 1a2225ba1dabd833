"""RFC-0015 §1, §3: which bodies of entries, batches and settings are well-formed."""

from typing import Any

import pytest

from functions.entries.requests import AgentConfig, BatchUpdate, EntryChange, NewEntry
from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate

ENTRY = {"namespace": "notes", "key": "k", "value": {"n": 1}, "memory_type": "episodic"}
FIFTY = ["🙂" * 128, *(f"tag {number}" for number in range(49))]
MISSING: Any = object()

ALIKE: list[tuple[str, Any]] = [
    ("value", [1]),
    ("value", "text"),
    ("value", None),
    ("value", 7),
    ("tags", [*FIFTY, "y"]),
    ("tags", [""]),
    ("tags", ["x" * 129]),
    ("tags", [7]),
    ("tags", [None]),
    ("tags", [["x"]]),
    ("tags", "x"),
    ("priority", "urgent"),
    ("priority", 1),
    ("pinned", "true"),
    ("pinned", 1),
    ("sensitivity", "secret"),
    ("ttl", [3600]),
    ("ttl", True),
    ("ttl", {"duration": "PT1H"}),
    ("bogus", 1),
    *(
        ("expires_at", moment)
        for moment in (
            "2040-01-01",
            "2040-01-01T00:00:00",
            "2040-13-01T00:00:00Z",
            "2039-02-29T00:00:00Z",
            "2040-01-01T25:00:00Z",
            "2040-W01-1T00:00:00Z",
            "٢٠٤٠-01-01T00:00:00Z",
            "99999-01-01T00:00:00Z",
            "9999-12-31T23:59:59-10:00",
            "tomorrow",
            "",
            2208988800,
            True,
            ["2040-01-01T00:00:00Z"],
        )
    ),
]


def failing_fields(model: Any, body: dict[str, Any]) -> list[str]:
    given = {name: value for name, value in body.items() if value is not MISSING}
    with pytest.raises(ValidationFailed) as raised:
        validate(model, given)
    return [each["field"] for each in raised.value.members["errors"]]


@pytest.mark.parametrize(("field", "value"), ALIKE)
def test_a_malformed_field_is_named_in_a_create_and_in_a_change(field: str, value: Any) -> None:
    for model, body in ((NewEntry, ENTRY), (EntryChange, {})):
        (found,) = failing_fields(model, {**body, field: value})
        assert found.partition(".")[0] == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("memory_type", "dream"),
        ("key", ["k"]),
        ("namespace", None),
        ("scope", "task_1"),
        ("scope.task_id", {"task_id": 7}),
        ("scope.bogus", {"bogus": "x"}),
        ("agent_id", ""),
        ("agent_id", "x" * 129),
        *((name, MISSING) for name in ENTRY),
    ],
)
def test_a_malformed_field_is_named_in_a_create(field: str, value: Any) -> None:
    assert failing_fields(NewEntry, {**ENTRY, field.partition(".")[0]: value}) == [field]


@pytest.mark.parametrize(
    "field",
    [
        *("namespace", "key", "memory_type", "agent_id", "scope", "id", "version", "created_at"),
        *("updated_at", "curated_by", "created_by", "tenant"),
    ],
)
def test_what_an_entry_is_cannot_be_changed(field: str) -> None:
    for value in ("other", None):
        assert failing_fields(EntryChange, {"value": {"n": 2}, field: value}) == [field]


def test_an_error_names_every_bad_field() -> None:
    bad = {"key": 7, "value": "text", "memory_type": "dream"}
    assert failing_fields(NewEntry, ENTRY | bad) == ["key", "value", "memory_type"]


def test_up_to_fifty_tags_of_128_characters() -> None:
    assert validate(NewEntry, ENTRY | {"tags": FIFTY}).tags == FIFTY
    assert validate(EntryChange, {"tags": FIFTY}).tags == FIFTY


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"namespace": "n"},
        {"key": "k"},
        {"id": "mem_x", "key": "k"},
        {"id": "mem_x", "agent_id": "bob"},
        {"id": None},
        {"id": "mem_x", "version": "1"},
        {"id": "mem_x", "version": 0},
        {"id": "mem_x", "version": MISSING},
    ],
)
def test_an_update_in_a_batch_names_its_entry_one_way_and_its_version(
    named: dict[str, Any],
) -> None:
    for one_way in ({"id": "mem_x"}, {"namespace": "n", "key": "k", "agent_id": "bob"}):
        validate(BatchUpdate, {"version": 1, "value": {}} | one_way)
    assert failing_fields(BatchUpdate, {"version": 1, "value": {}} | named)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("capacity", 0),
        ("capacity", 100_001),
        ("capacity", "7"),
        ("capacity", None),
        ("eviction_policy", "fifo"),
        ("pinned_namespaces", "a"),
        ("pinned_namespaces", ["n"] * 101),
        ("pinned_namespaces.0", [""]),
        ("more", 1),
    ],
)
def test_malformed_settings_of_an_agent_are_named(field: str, value: Any) -> None:
    settings = {field.partition(".")[0]: value}
    assert failing_fields(AgentConfig, {"episodic": settings}) == [f"episodic.{field}"]


SET_BY_THE_SERVICE: dict[str, Any] = {
    "id": "mem_01HXYZ",
    "version": 3,
    "created_at": "2026-02-08T10:00:00Z",
    "updated_at": None,
    "created_by": "agent_billing_02",
    "curated_by": "user_01HABC",
    "last_accessed_at": "yesterday",
    "inherited": True,
}


def test_what_the_service_sets_is_ignored_in_a_create_and_nothing_else_is() -> None:
    assert validate(NewEntry, ENTRY | SET_BY_THE_SERVICE) == validate(NewEntry, ENTRY)
    assert failing_fields(NewEntry, ENTRY | SET_BY_THE_SERVICE | {"ids": 1}) == ["ids"]
    assert "id" in failing_fields(EntryChange, {"value": {}, "id": "mem_1"})


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (3600, "duration:PT3600S"),
        (100, "duration:PT100S"),
        (0.5, "duration:PT0.5S"),
        ("PT24H", "duration:PT24H"),
        ("duration:P1D", "duration:P1D"),
        ("task_lifetime", "task_lifetime"),
    ],
)
def test_a_ttl_is_also_seconds_or_a_duration_without_a_prefix(given: Any, stored: str) -> None:
    assert validate(NewEntry, ENTRY | {"ttl": given}).ttl == stored
