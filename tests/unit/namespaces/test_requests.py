"""Which permissions of a namespace are well-formed."""

from typing import Any

import pytest

from functions.namespaces.requests import NamespaceChange
from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate


@pytest.mark.parametrize(
    ("permissions", "field"),
    [
        (None, ""),
        ("read", ""),
        ({"default": "everything"}, ".default"),
        ({"allow": "alice"}, ".allow"),
        ({"allow": ["alice"]}, ".allow.0"),
        ({"allow": [{"agent": "alice"}]}, ".allow.0.access"),
        ({"allow": [{"agent": "alice", "access": "all"}]}, ".allow.0.access"),
        ({"allow": [{"agent": "", "access": "read"}]}, ".allow.0.agent"),
        ({"allow": [{"agent": 7, "access": "read"}]}, ".allow.0.agent"),
        ({"allow": [{"agent": "a", "access": "read", "more": 1}]}, ".allow.0.more"),
        ({"deny": []}, ".deny"),
    ],
)
def test_malformed_permissions_are_rejected(permissions: Any, field: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        validate(NamespaceChange, {"permissions": permissions})
    errors = raised.value.members["errors"]
    assert [each["field"] for each in errors] == [f"permissions{field}"]
