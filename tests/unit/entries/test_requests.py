"""RFC-0015 §1, §3: which bodies of entries and batches are well-formed."""

from typing import Any

import pytest

from functions.entries.change import to_entry_fields
from functions.entries.requests import BatchUpdate, EntryChange, NewEntry
from functions.platform.validation import validate
from tests.unit.platform.test_validation import list_failing_fields

ENTRY = {"namespace": "notes", "key": "k", "value": {"n": 1}, "memory_type": "episodic"}
MISSING: Any = object()
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


@pytest.mark.parametrize("field", [*("namespace", "key", "agent_id", "scope"), *SET_BY_THE_SERVICE])
def test_what_an_entry_is_cannot_be_changed(field: str) -> None:
    for value in ("other", None):
        assert list_failing_fields(EntryChange, {"value": {"n": 2}, field: value}) == [field]


def test_what_the_service_sets_is_ignored_in_a_create_and_nothing_else_is() -> None:
    given, plain = validate(NewEntry, ENTRY | SET_BY_THE_SERVICE), validate(NewEntry, ENTRY)
    assert to_entry_fields(given) == to_entry_fields(plain)
    assert list_failing_fields(NewEntry, ENTRY | SET_BY_THE_SERVICE | {"ids": 1}) == ["ids"]


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"namespace": "n"},
        {"key": "k"},
        {"id": "mem_x", "key": "k"},
        {"id": "mem_x", "agent_id": "bob"},
        {"id": None},
        {"id": "mem_x", "version": 0},
        {"id": "mem_x", "version": MISSING},
    ],
)
def test_an_update_in_a_batch_names_its_entry_one_way_and_its_version(
    named: dict[str, Any],
) -> None:
    for one_way in ({"id": "mem_x"}, {"namespace": "n", "key": "k", "agent_id": "bob"}):
        validate(BatchUpdate, {"version": 1, "value": {}} | one_way)
    body = {"version": 1, "value": {}} | named
    given = {name: value for name, value in body.items() if value is not MISSING}
    assert list_failing_fields(BatchUpdate, given)
