"""Test who may do what in a namespace."""

from typing import get_args

import pytest

from functions.authorization.rules import decide
from functions.identity.model import ADMIN, READ, WRITE, Kind, Principal
from functions.namespaces import rules
from functions.namespaces.authority import CHANGE_PERMISSIONS
from functions.namespaces.model import Access, Namespace, NamespaceTarget
from functions.namespaces.requests import NamespaceChange
from functions.namespaces.store import RULES_REMEMBERED, PrefixRules
from functions.platform.errors import CapacityExceeded
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.limits import MAX_ACL_ENTRIES

LEVELS: tuple[Access, ...] = get_args(Access)
NOW = 1_000


def principal(id: str, kind: Kind = "agent") -> Principal:
    """A principal with all permissions, which give no access to a namespace's memory."""
    return Principal("acme", id, kind, frozenset({ADMIN}))


def namespace(default: Access | None, name: str = "facts", /, **allow: Access) -> Namespace:
    """Permissions of a namespace, or a prefix rule."""
    return Namespace(name, default, allow, 2, 1, 1)


def target(*permissions: Namespace, is_denied: bool = False) -> NamespaceTarget:
    """A namespace with its own permissions first, then its prefix rules."""
    return NamespaceTarget("facts", permissions[0], permissions[1:], is_denied)


UNCONFIGURED = NamespaceTarget("facts")


@pytest.mark.parametrize("default", LEVELS)
@pytest.mark.parametrize("own", LEVELS)
def test_the_callers_own_access_outweighs_the_default(default: Access, own: Access) -> None:
    configured = target(namespace(default, alice=own))
    assert rules.get_access(principal("alice"), configured) == own
    assert rules.get_access(principal("bob"), configured) == default


@pytest.mark.parametrize("held", LEVELS)
@pytest.mark.parametrize("needed", LEVELS)
def test_access_levels_are_cumulative(held: Access, needed: Access) -> None:
    expected = LEVELS.index(held) >= LEVELS.index(needed)
    assert rules.has_access(principal("alice"), target(namespace(held)), needed) is expected


@pytest.mark.parametrize(
    ("kind", "access"), [("agent", "read"), ("coordinator", "write"), ("user", "write")]
)
def test_who_may_coordinate_writes_to_an_unconfigured_namespace(kind: Kind, access: Access) -> None:
    assert rules.get_access(principal("pat", kind), UNCONFIGURED) == access


def test_the_first_writer_curates_a_namespace_that_all_may_read() -> None:
    made = rules.build_first_configuration("facts", "alice", NOW)
    assert (made.version, made.created_at) == (1, NOW)
    assert rules.get_access(principal("alice"), target(made)) == "write"
    assert rules.get_access(principal("bob", "user"), target(made)) == "read"


@pytest.mark.parametrize(
    ("permissions", "access"),
    [
        ([namespace(None), namespace("none", "f*")], "none"),
        ([namespace("write"), namespace("none", "f*")], "write"),
        ([namespace(None, alice="write"), namespace("none", "f*")], "write"),
        ([namespace(None), namespace("read", "f*", alice="admin")], "admin"),
        ([namespace("none"), namespace("read", "f*", alice="admin")], "none"),
        ([namespace(None), namespace(None, "fa*"), namespace("write", "f*")], "write"),
        ([namespace(None), namespace("none", "fa*"), namespace("write", "f*")], "none"),
        ([namespace(None), namespace(None, "f*")], "read"),
    ],
)
def test_the_most_specific_permissions_that_say_something_count(
    permissions: list[Namespace], access: Access
) -> None:
    assert rules.get_access(principal("alice", "user"), target(*permissions)) == access


def test_a_prefix_rule_counts_for_a_namespace_that_nobody_has_configured() -> None:
    unconfigured = NamespaceTarget("facts", None, (namespace("none", "f*"),))
    assert rules.get_access(principal("pat", "user"), unconfigured) == "none"


def test_prefix_rules_fit_all_names_that_begin_so_the_longest_first() -> None:
    written = [namespace("read", name) for name in ("*", "a.*", "a.b*", "b*", "a.b.c*")]
    selected = [each.namespace for each in rules.select_rules(written, "a.b")]
    assert selected == ["a.b*", "a.*", "*"]
    assert rules.select_rules(written[3:], "a.b") == ()


def change(default: Access | None = None, /, **allow: Access) -> NamespaceChange:
    lines = [{"agent": agent, "access": access} for agent, access in allow.items()]
    given = {"allow": lines} if default is None else {"default": default, "allow": lines}
    return NamespaceChange.model_validate({"permissions": given})


def apply(
    configured: Namespace | None, asked: NamespaceChange, *fitting: Namespace
) -> tuple[Access | None, dict[str, Access]]:
    """The default and the list after a change."""
    changed = rules.change_namespace(
        NamespaceTarget("facts", configured, fitting), asked, NOW, RequestToken.create()
    )
    return changed.default, changed.allow


@pytest.mark.parametrize(
    ("before", "asked", "after"),
    [
        (None, change("read", alice="admin"), ("read", {"alice": "admin"})),
        (None, change(alice="admin"), (None, {"alice": "admin"})),
        (namespace("none", a="read"), change(b="write"), ("none", {"a": "read", "b": "write"})),
        (namespace("none", a="read"), change("write"), ("write", {"a": "read"})),
        (namespace("none", a="read", b="read"), change(a="none"), ("none", {"b": "read"})),
        (namespace("read", a="write"), change(a="none"), ("read", {"a": "none"})),
        (namespace("read", a="none"), change("none"), ("none", {})),
    ],
)
def test_what_a_change_does_not_name_stays(
    before: Namespace | None,
    asked: NamespaceChange,
    after: tuple[Access | None, dict[str, Access]],
) -> None:
    assert apply(before, asked) == after


def test_who_has_access_by_a_prefix_rule_is_barred_by_name() -> None:
    rule = namespace("none", "f*", a="read")
    assert apply(namespace(None), change(a="none", b="none"), rule) == (None, {"a": "none"})


def test_a_default_of_null_leaves_it_to_the_prefix_rules() -> None:
    asked = NamespaceChange.model_validate({"permissions": {"default": None}})
    assert apply(namespace("none"), asked) == (None, {})


def test_a_change_counts_up_and_remembers_its_request() -> None:
    first, second = RequestToken.create(), RequestToken.create()
    made = rules.change_namespace(UNCONFIGURED, change("read"), NOW, first)
    assert (made.version, made.created_at, made.updated_at) == (1, NOW, NOW)
    changed = rules.change_namespace(target(made), change("none"), NOW + 5, second)
    assert (changed.version, changed.created_at, changed.updated_at) == (2, NOW, NOW + 5)
    assert second.judge(changed.requests) is Verdict.REPLAY
    assert first.judge(changed.requests) is Verdict.SUPERSEDED
    assert RequestToken.create().judge(changed.requests) is Verdict.NEW


def test_a_list_has_no_more_principals_than_it_may() -> None:
    full: dict[str, Access] = {f"a{n}": "read" for n in range(MAX_ACL_ENTRIES)}
    assert len(apply(namespace("none", **full), change(a0="write"))[1]) == MAX_ACL_ENTRIES
    with pytest.raises(CapacityExceeded):
        apply(namespace("none", **full), change(one_more="read"))


def test_a_denied_namespace_gives_the_caller_no_access() -> None:
    denied = target(namespace("write", alice="admin"), is_denied=True)
    assert rules.get_access(principal("alice", "user"), denied) == "none"


@pytest.mark.parametrize(
    ("permissions", "access", "expected"),
    [
        ({ADMIN}, "none", "holds memory.admin, where no agent owns the namespace"),
        ({WRITE}, "admin", "admin access to the namespace"),
        ({READ}, "admin", None),
        ({READ, WRITE}, "write", None),
    ],
)
def test_permissions_are_changed_with_memory_admin_or_admin_access(
    permissions: set[str], access: Access, expected: str | None
) -> None:
    caller = Principal("acme", "pat", "user", frozenset(permissions))
    decision = decide(caller, CHANGE_PERMISSIONS, target(namespace("none", pat=access)))
    assert decision.rule == expected


def test_prefix_rules_are_read_anew_after_seconds_or_a_change() -> None:
    now, reads = [0], []

    def read(tenant: str) -> list[Namespace]:
        reads.append(tenant)
        return [namespace("none", "f*")]

    remembered = PrefixRules(read, lambda: now[0])
    for _ in range(2):
        assert [each.namespace for each in remembered.find("acme", "facts")] == ["f*"]
    assert remembered.find("acme", "other") == ()
    assert reads == ["acme"]
    now[0] += RULES_REMEMBERED
    remembered.find("acme", "facts")
    remembered.forget()
    remembered.find("acme", "facts")
    assert reads == ["acme"] * 3
