"""Versions, ranges, room and permissions of objects."""

import pytest

from functions.authorization.rules import is_allowed
from functions.identity.model import Principal
from functions.namespaces.requests import Allowed, Permissions
from functions.objects.authority import (
    CHANGE_SPACE,
    DELETE_OBJECTS,
    READ_OBJECTS,
    SHOW_SPACE,
    WRITE_OBJECTS,
)
from functions.objects.model import SpaceTarget
from functions.objects.requests import SpaceChange
from functions.objects.rules import (
    assert_key,
    build_space,
    change_space,
    compute_version,
    parse_range,
)
from functions.platform.errors import RangeNotSatisfiable, ValidationFailed
from functions.platform.idempotency import RequestToken

BOTH = frozenset({"memory.read", "memory.write"})
OWNER, OTHER = (Principal("t", id, "agent", BOTH) for id in ("ada", "bob"))
READER = Principal("t", "ada", "agent", frozenset({"memory.read"}))
ADMIN = Principal("t", "keeper", "user", frozenset({"memory.admin"}))
ACTIONS = (READ_OBJECTS, WRITE_OBJECTS, DELETE_OBJECTS, SHOW_SPACE, CHANGE_SPACE)


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (None, None),
        ("bytes=0-0", (0, 1)),
        ("bytes=2-", (2, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=8-99", (8, 10)),
        ("Bytes=0-" + 5000 * "9", (0, 10)),
        ("bytes=-" + 5000 * "9", (0, 10)),
        ("bytes=" + 30 * "0" + "2-3", (2, 4)),
        ("bytes=5-2", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("lines=0-1", None),
        ("bytes=x-1", None),
    ],
)
def test_a_range_is_parsed(header: str | None, part: tuple[int, int] | None) -> None:
    assert parse_range(header, 10) == part


@pytest.mark.parametrize(
    ("header", "size"),
    [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0), (f"bytes={5000 * '9'}-", 10)],
)
def test_a_range_behind_the_last_byte_is_refused(header: str, size: int) -> None:
    with pytest.raises(RangeNotSatisfiable):
        parse_range(header, size)


def test_versions_grow_with_time_and_fit_a_double() -> None:
    assert compute_version(None, 5, 999) < compute_version(None, 6, 0)
    assert compute_version(None, 9_000_000_000_000, 999) < 2**53


@pytest.mark.parametrize("key", ["", "é" * 501, "\ud800"])
def test_a_key_has_at_most_1000_bytes_of_utf_8(key: str) -> None:
    assert_key("é" * 500, "key")
    with pytest.raises(ValidationFailed):
        assert_key(key, "key")


@pytest.mark.parametrize(
    ("caller", "allowed"),
    [
        (OWNER, {*ACTIONS}),
        (OTHER, set()),
        (READER, {READ_OBJECTS, SHOW_SPACE}),
        (ADMIN, {DELETE_OBJECTS, SHOW_SPACE, CHANGE_SPACE}),
    ],
)
def test_a_new_space_is_its_makers_alone(caller: Principal, allowed: set[object]) -> None:
    target = SpaceTarget("s", build_space("s", "ada", 0))
    assert {each for each in ACTIONS if is_allowed(caller, each, target)} == allowed


def test_coordinators_users_and_admins_create_shared_spaces() -> None:
    nobodys = SpaceTarget("s", None)
    coordinator = Principal("t", "boss", "coordinator", BOTH)
    assert is_allowed(coordinator, WRITE_OBJECTS, nobodys)
    assert is_allowed(OTHER._replace(kind="user"), WRITE_OBJECTS, nobodys)
    assert not is_allowed(OTHER, WRITE_OBJECTS, nobodys)
    assert not is_allowed(READER, WRITE_OBJECTS, nobodys)
    assert not is_allowed(OTHER, READ_OBJECTS, nobodys)


def test_a_private_space_is_its_owners_before_it_exists() -> None:
    private = SpaceTarget("agents/bob/s", None)
    for action in (READ_OBJECTS, WRITE_OBJECTS, DELETE_OBJECTS, CHANGE_SPACE):
        assert is_allowed(OTHER, action, private)
        assert not is_allowed(OWNER, action, private)
    assert is_allowed(ADMIN, DELETE_OBJECTS, private)
    assert not is_allowed(ADMIN, CHANGE_SPACE, private)


def test_what_a_change_of_permissions_does_not_name_stays() -> None:
    token = RequestToken.create()
    allow = SpaceChange(permissions=Permissions(allow=[Allowed(agent="bob", access="read")]))
    shared = change_space(build_space("s", "ada", 0), "s", "eve", allow, 1, token)
    assert (shared.owner, shared.permissions.version) == ("ada", 2)
    assert shared.permissions.allow == {"ada": "admin", "bob": "read"}
    none = SpaceChange(permissions=Permissions(default=None))
    private = change_space(shared, "s", "eve", none, 2, token)
    assert private.permissions.default == "none"
    made = change_space(None, "s", "eve", allow, 3, token)
    assert (made.owner, made.permissions.version) == ("eve", 1)
