"""Define access to a namespace, and changes of its permissions (RFC-0015 §2.3)."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from urllib.parse import unquote

from functions.identity.model import Principal
from functions.namespaces.model import PREFIX_MARK, USERS, Access, Namespace, NamespaceTarget
from functions.namespaces.requests import NamespaceChange, Permissions
from functions.platform.errors import CapacityExceeded
from functions.platform.idempotency import RequestToken
from functions.platform.kept_history import change_days
from functions.platform.limits import DEFAULT_HISTORY_DAYS, MAX_ACL_ENTRIES

_LEVELS: dict[Access, int] = {"none": 0, "read": 1, "write": 2, "admin": 3}
_CONFIGURED_DEFAULT: Access = "read"


def _find_id(root: str, name: str) -> str | None:
    first, _, rest = name.partition("/")
    if first != root:
        return None
    segment = rest.partition("/")[0]
    return "" if PREFIX_MARK in segment else unquote(segment)


find_owner = partial(_find_id, "agents")
"""Find the principal that owns a namespace by its name; None for a namespace without owner.

Example: `agents/ada/notes` belongs to `ada`, and `agents/ada%2Fb/notes` to `ada/b`. The owner of a
name such as `agents/a*` is the empty text, which is no principal's id.
"""
find_person = partial(_find_id, USERS)
"""Find the person whom a namespace is about, as `find_owner` does: `users/ada/notes`."""


def get_access(caller: Principal, target: NamespaceTarget) -> Access:
    """Return the caller's access, which the most specific permissions decide.

    A namespace's own permissions take precedence, followed by prefix rules from the longest to the
    shortest. The first that lists the caller or has a default decides.
    """
    if target.is_denied:
        return "none"
    said = _find_access(caller.id, (target.configured, *target.rules))
    owner = find_owner(target.name)
    if owner == caller.id:
        return "admin"
    if owner is not None:  # only the owner gives access to others
        return "write" if said == "admin" else said or "none"
    if said is None:
        may_write = target.configured is None and caller.may_coordinate
        return "write" if may_write else _CONFIGURED_DEFAULT
    return said


def get_default(target: NamespaceTarget) -> Access:
    """Return the access of principals that no permissions list."""
    defaults = (each.default for each in (target.configured, *target.rules) if each is not None)
    last = _CONFIGURED_DEFAULT if find_owner(target.name) is None else "none"
    return next((each for each in defaults if each is not None), last)


def _find_access(principal: str, permissions: Iterable[Namespace | None]) -> Access | None:
    for each in filter(None, permissions):
        # Example: `billing` lists ada with "write" and has no default, `bill*` has the default
        # "none". ada writes; `billing` does not decide for bob, so `bill*` does: none.
        said = each.allow.get(principal, each.default)
        if said is not None:
            return said
    return None


def has_access(caller: Principal, target: NamespaceTarget, needed: Access) -> bool:
    """Tell whether the caller's access reaches `needed`; the levels are cumulative."""
    return _LEVELS[get_access(caller, target)] >= _LEVELS[needed]


def is_prefix_rule(name: str) -> bool:
    """Tell whether a name is a prefix rule's."""
    return name.endswith(PREFIX_MARK)


def select_rules(rules: Iterable[Namespace], name: str) -> tuple[Namespace, ...]:
    """Select the prefix rules that match a name, the longest first.

    A rule without owner doesn't apply to owned namespaces.
    """
    owner = find_owner(name)
    fitting = (
        each
        for each in rules
        if name.startswith(each.namespace.removesuffix(PREFIX_MARK))
        and find_owner(each.namespace) == owner
    )
    return tuple(sorted(fitting, key=lambda each: len(each.namespace), reverse=True))


def build_first_configuration(name: str, curator: str, now: int) -> Namespace:
    """Build a namespace with its first writer as curator; others get the default access."""
    return Namespace(name, None, {curator: "write"}, 1, now, now)


def change_namespace(
    target: NamespaceTarget, change: NamespaceChange, now: int, token: RequestToken
) -> Namespace:
    """Return a namespace after a change of the given fields; errors as in `change_permissions`."""
    changed = change_permissions(target, change.permissions, now, token)
    if change.search_fields is not None:
        changed = replace(changed, search_fields=tuple(change.search_fields))
    if "history" not in change.model_fields_set:
        return changed
    days = DEFAULT_HISTORY_DAYS if change.history is None else change.history.days
    history = change_days(changed.history, days, DEFAULT_HISTORY_DAYS, now)
    return replace(changed, history=history)


def change_permissions(
    target: NamespaceTarget, asked: Permissions, now: int, token: RequestToken
) -> Namespace:
    """Return permissions after a change of the given fields.

    A principal with the access `none` is removed from the list. It stays listed if a default or a
    prefix rule would give it access.
    """
    base = target.configured or Namespace(target.name, None, {}, 0, now, 0)
    changed = replace(
        base,
        default=asked.default if "default" in asked.model_fields_set else base.default,
        allow=base.allow | {each.agent: each.access for each in asked.allow},
        version=base.version + 1,
        updated_at=now,
        requests=token.add_to(base.requests),
    )
    allow = _remove_unneeded(changed, target.rules)
    if len(allow) > MAX_ACL_ENTRIES:
        remedy = "remove principals by the access none, or set a default"
        raise CapacityExceeded("allow", len(base.allow), MAX_ACL_ENTRIES, remedy)
    return replace(changed, allow=allow)


def _remove_unneeded(changed: Namespace, rules: tuple[Namespace, ...]) -> dict[str, Access]:
    """Remove principals that have no access even without being listed."""
    unlisted = replace(changed, allow={})
    return {
        principal: access
        for principal, access in changed.allow.items()
        if access != "none" or _find_access(principal, (unlisted, *rules)) != "none"
    }
