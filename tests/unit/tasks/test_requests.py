"""Which bodies of tasks, access lists, grants and guardrails are well-formed."""

from typing import Any

import pytest

from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate
from functions.tasks.requests import Acl, GuardrailsChange, NewGrant, NewTask, TaskChange

TASK = {"intent_id": "intent_1"}
ALIKE: list[tuple[dict[str, Any], str]] = [
    ({"status": "done"}, "status"),
    ({"assigned_agent": ["alice"]}, "assigned_agent"),
    ({"memory_policy": {"max_entries": -1}}, "memory_policy.max_entries"),
    ({"memory_policy": {"max_entries": "7"}}, "memory_policy.max_entries"),
    ({"memory_policy": {"max_entries": 1.5}}, "memory_policy.max_entries"),
    ({"memory_policy": {"max_total_size_kb": -1}}, "memory_policy.max_total_size_kb"),
    ({"memory_policy": {"inherit_from_parent": "yes"}}, "memory_policy.inherit_from_parent"),
    ({"memory_policy": {"bogus": 1}}, "memory_policy.bogus"),
    ({"memory_policy": "none"}, "memory_policy"),
    ({"version": 3}, "version"),
    ({"created_at": "2030-01-01T00:00:00Z"}, "created_at"),
    ({"bogus": 1}, "bogus"),
]


def failing_fields(model: Any, body: Any) -> list[str]:
    with pytest.raises(ValidationFailed) as raised:
        validate(model, body)
    return [each["field"] for each in raised.value.members["errors"]]


@pytest.mark.parametrize(("changes", "field"), ALIKE)
def test_a_malformed_field_is_named_in_a_task_and_in_a_change(
    changes: dict[str, Any], field: str
) -> None:
    assert failing_fields(NewTask, TASK | changes) == [field]
    assert failing_fields(TaskChange, changes) == [field]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "intent_id"),
        ({"intent_id": 7}, "intent_id"),
        ({"intent_id": ""}, "intent_id"),
        (TASK | {"id": 7}, "id"),
        (TASK | {"id": ""}, "id"),
    ],
)
def test_a_malformed_id_is_named(body: dict[str, Any], field: str) -> None:
    assert failing_fields(NewTask, body) == [field]


@pytest.mark.parametrize("field", ["id", "intent_id", "parent_task_id"])
def test_what_a_task_is_cannot_be_changed(field: str) -> None:
    assert failing_fields(TaskChange, {field: "other"}) == [field]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "entries"),
        ({"entries": None}, "entries"),
        ({"entries": [{"principal": "a"}]}, "entries.0.access"),
        ({"entries": [{"principal": "a", "access": "admin"}]}, "entries.0.access"),
        ({"entries": [{"principal": "", "access": "read"}]}, "entries.0.principal"),
        ({"entries": [{"principal": "a", "access": "read", "bogus": 1}]}, "entries.0.bogus"),
        ({"entries": [], "bogus": 1}, "bogus"),
    ],
)
def test_a_malformed_access_list_is_rejected(body: dict[str, Any], field: str) -> None:
    assert failing_fields(Acl, body) == [field]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "access"),
        ({"access": "admin"}, "access"),
        ({"access": "read", "expires_at": "tomorrow"}, "expires_at"),
        ({"access": "read", "bogus": 1}, "bogus"),
    ],
)
def test_a_malformed_grant_is_rejected(body: dict[str, Any], field: str) -> None:
    assert failing_fields(NewGrant, body) == [field]


@pytest.mark.parametrize(
    ("guardrails", "field"),
    [
        (None, "guardrails"),
        ({"max_working_memory_per_task": -1}, "guardrails.max_working_memory_per_task"),
        ({"max_working_memory_per_task": "5"}, "guardrails.max_working_memory_per_task"),
        ({"max_episodic_memory_per_agent": 100_001}, "guardrails.max_episodic_memory_per_agent"),
        ({"allowed_semantic_namespaces": "x"}, "guardrails.allowed_semantic_namespaces"),
        ({"denied_semantic_namespaces": [""]}, "guardrails.denied_semantic_namespaces.0"),
        ({"memory_archive_required": 1}, "guardrails.memory_archive_required"),
    ],
)
def test_malformed_guardrails_are_rejected(guardrails: Any, field: str) -> None:
    assert failing_fields(GuardrailsChange, {"guardrails": guardrails}) == [field]
