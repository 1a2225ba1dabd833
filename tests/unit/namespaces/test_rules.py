"""Who may do what in a namespace."""

from typing import get_args

import pytest

from functions.identity.model import ADMIN, Kind, Principal
from functions.namespaces import rules
from functions.namespaces.model import Access, Namespace
from functions.namespaces.requests import NamespaceChange
from functions.namespaces.restrictions import Restrictions, restrict_namespace
from functions.platform.errors import VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.keys import hash_namespace

LEVELS: tuple[Access, ...] = get_args(Access)
NOW = 1_000


def principal(id: str, kind: Kind = "agent") -> Principal:
    """A principal with all permissions, which give no access to a namespace's memory."""
    return Principal("acme", id, kind, frozenset({ADMIN}))


def namespace(default: Access, **allow: Access) -> Namespace:
    """A configured namespace."""
    return Namespace("facts", default, allow, 2, 1, 1)


@pytest.mark.parametrize("default", LEVELS)
@pytest.mark.parametrize("own", LEVELS)
def test_the_callers_own_access_outweighs_the_default(default: Access, own: Access) -> None:
    configured = namespace(default, alice=own)
    assert rules.get_access(principal("alice"), configured) == own
    assert rules.get_access(principal("bob"), configured) == default


@pytest.mark.parametrize("held", LEVELS)
@pytest.mark.parametrize("needed", LEVELS)
def test_access_levels_are_cumulative(held: Access, needed: Access) -> None:
    expected = LEVELS.index(held) >= LEVELS.index(needed)
    assert rules.has_access(principal("alice"), namespace(held), needed) is expected


@pytest.mark.parametrize(
    ("kind", "access"), [("agent", "read"), ("coordinator", "write"), ("user", "write")]
)
def test_who_may_coordinate_writes_to_an_unconfigured_namespace(kind: Kind, access: Access) -> None:
    assert rules.get_access(principal("pat", kind), None) == access


def test_the_first_writer_curates_a_namespace_that_all_may_read() -> None:
    made = rules.build_first_configuration("facts", "alice", NOW)
    assert (made.version, made.created) == (1, NOW)
    assert rules.get_access(principal("alice"), made) == "write"
    assert rules.get_access(principal("bob"), made) == "read"


def change(default: Access, **allow: Access) -> NamespaceChange:
    """A request to change permissions."""
    lines = [{"agent": agent, "access": access} for agent, access in allow.items()]
    return NamespaceChange.model_validate({"permissions": {"default": default, "allow": lines}})


def test_permissions_are_replaced_whole() -> None:
    first, second = RequestToken.create(), RequestToken.create()
    made = rules.change_permissions("facts", None, change("read", alice="admin"), NOW, first)
    assert (made.version, made.created, made.updated) == (1, NOW, NOW)
    changed = rules.change_permissions("facts", made, change("none", bob="read"), NOW + 5, second)
    assert (changed.version, changed.created, changed.updated) == (2, NOW, NOW + 5)
    assert (changed.default, changed.allow) == ("none", {"bob": "read"})
    assert second.matches(changed.request)
    assert first.is_superseded(changed.previous_tokens)
    assert not second.is_superseded(changed.previous_tokens)


@pytest.mark.parametrize(("present", "version"), [(namespace("read"), 2), (None, 0)])
def test_a_change_names_the_present_version_or_none(
    present: Namespace | None, version: int
) -> None:
    rules.assert_version(present, None)
    rules.assert_version(present, version)
    with pytest.raises(VersionMismatch):
        rules.assert_version(present, version + 1)


@pytest.mark.parametrize("configured", [namespace("write", alice="admin"), None])
def test_a_denied_namespace_gives_the_caller_no_access(configured: Namespace | None) -> None:
    denied = Restrictions(denied=frozenset({hash_namespace("facts")}))
    alice, bob = principal("alice", "user"), principal("bob", "user")
    seen = restrict_namespace(alice, "facts", configured, denied)
    assert rules.get_access(alice, seen) == "none"
    if configured is not None:
        assert rules.get_access(bob, seen) == "write"


@pytest.mark.parametrize("configured", [namespace("write"), None])
def test_another_namespace_is_as_it_was(configured: Namespace | None) -> None:
    allowed = Restrictions(allowed=frozenset({hash_namespace("facts")}))
    seen = restrict_namespace(principal("alice"), "facts", configured, allowed)
    assert seen == configured
