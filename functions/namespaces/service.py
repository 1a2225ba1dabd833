"""Use cases on namespaces: list, read, change permissions (RFC-0015 §2.3)."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize, is_allowed
from functions.identity.model import Principal
from functions.namespaces import authority, rules
from functions.namespaces.model import Access, Namespace, NamespaceTarget
from functions.namespaces.requests import Allowed, NamespaceChange, Permissions
from functions.namespaces.store import (
    NamespaceClaim,
    NamespaceStore,
    PrefixRules,
    Restrictions,
    RestrictionStore,
    decode_namespace,
    put_first_configuration,
)
from functions.platform import item_types
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page, sort_newest
from functions.platform.clock import Clock
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import NotFound, ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.parallel import run_parallel
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write

MEMORY_OF_USERS = "users/*"
"""The prefix rule for memory of users."""


@dataclass(eq=False)
class Namespaces:
    """The namespaces of a caller's tenant."""

    _store: NamespaceStore
    _restrictions: RestrictionStore
    _prefix_rules: PrefixRules
    _audit: AuditTrail
    _clock: Clock

    def find(self, caller: Principal, name: str) -> NamespaceTarget:
        """Read what decides on the caller's access to a namespace: one call."""
        key = item_types.NAMESPACE.build_key(caller.tenant, namespace=name)
        _, restricted, read = self._restrictions.read(caller.tenant, caller.id, key)
        return self._build_target(caller, name, read.get(key), restricted)

    def find_each(self, caller: Principal, names: Collection[str]) -> dict[str, NamespaceTarget]:
        """Read what decides on the caller's access to namespaces: a call per hundred."""
        return self.find_each_with(caller, names, ())[0]

    def find_each_with(
        self, caller: Principal, names: Collection[str], others: Iterable[Key]
    ) -> tuple[dict[str, NamespaceTarget], dict[Key, Item]]:
        """Read as `find_each` does, and other items by their keys in the same call."""
        build_key = item_types.NAMESPACE.build_key
        keys = {name: build_key(caller.tenant, namespace=name) for name in names}
        _, restricted, read = self._restrictions.read(
            caller.tenant, caller.id, *keys.values(), *others
        )
        targets = {
            name: self._build_target(caller, name, read.get(key), restricted)
            for name, key in keys.items()
        }
        return targets, read

    def find_with_entry(
        self, caller: Principal, address: EntryAddress, name: str | None = None
    ) -> tuple[Item | None, NamespaceTarget | None]:
        """Read the item of a semantic entry, and its namespace as `find` does: one call.

        Args:
            name: the namespace; by default, the entry's.
        """
        keys = address.item_key, address.namespace_key
        _, restricted, read = self._restrictions.read(caller.tenant, caller.id, *keys)
        item = read.get(address.item_key)
        name = name or (None if item is None else item["namespace"])
        if name is None:
            return None, None
        found = read.get(address.namespace_key)
        return item, self._build_target(caller, name, found, restricted)

    def _build_target(
        self,
        caller: Principal,
        name: str,
        stored: Item | Namespace | None,
        restricted: Restrictions,
    ) -> NamespaceTarget:
        configured = decode_namespace(stored) if isinstance(stored, dict) else stored
        fitting = self._prefix_rules.find(caller.tenant, name)
        return NamespaceTarget(name, configured, fitting, is_denied=restricted.denies(name))

    def list_readable(self, caller: Principal, prefix: str | None = None) -> list[str]:
        """List the configured namespaces whose memory the caller may read.

        With a prefix, they are listed by an index that may lag behind by milliseconds.
        """
        if prefix:
            names = list(self._store.iterate_names(caller.tenant, prefix, MAX_PAGE_ITEMS))
            return self.select_readable(caller, names)
        found = self._list_targets(caller, self._store.list_all)
        readable = (each for each, at in found if is_allowed(caller, authority.READ_MEMORY, at))
        return [each.namespace for each in sort_newest(readable)]

    def list_shown(self, caller: Principal, prefix: str) -> list[str]:
        """List the configured names with a prefix whose permissions the caller may see."""
        names = list(self._store.iterate_names(caller.tenant, prefix, MAX_PAGE_ITEMS))
        return self.select_readable(caller, names, authority.READ_PERMISSIONS)

    def list_few_readable(self, caller: Principal, prefix: str, most: int) -> list[str] | None:
        """List the names with a prefix whose memory the caller may read; None if it has many.

        Args:
            most: the largest number that counts as few.
        """
        if prefix:
            listed = self._store.iterate_names(caller.tenant, prefix, most + 1)
            names = list(islice(listed, most + 1))
            return None if len(names) > most else self.select_readable(caller, names)
        found = list(self._list_targets(caller, partial(self._store.list_few, count=most + 1)))
        if len(found) > most:
            return None
        action = authority.READ_MEMORY
        return [each.namespace for each, target in found if is_allowed(caller, action, target)]

    def select_readable(
        self,
        caller: Principal,
        names: Collection[str],
        action: Action[NamespaceTarget] = authority.READ_MEMORY,
    ) -> list[str]:
        """Select the configured names whose memory the caller may read: a call per hundred.

        Without names it makes one call, too, as if names were left out.
        """
        found = self.find_each(caller, names).values()
        return [
            each.name
            for each in found
            if each.configured is not None and is_allowed(caller, action, each)
        ]

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[Namespace]:
        """List a page of the readable namespaces and prefix rules, newest first.

        A caller that manages permissions gets all.
        """
        page = read_page(
            wanted,
            self._list_targets(caller, partial(self._store.list_with_rules, wanted=wanted)),
            lambda each: is_allowed(caller, authority.READ_PERMISSIONS, each[1]),
            lambda each: each[0].list_position,
        )
        shown = [_with_default(target, each) for each, target in page.elements]
        return BoundedPage(shown, page.end, page.total)

    def _list_targets(
        self, caller: Principal, read: Callable[[str], Iterable[Namespace]]
    ) -> Iterator[tuple[Namespace, NamespaceTarget]]:
        """Read namespaces, each with what decides on the caller's access."""
        reads: list[Callable[[], Any]] = [
            partial(read, caller.tenant),
            partial(self._restrictions.read, caller.tenant, caller.id),
        ]
        found, (_, restricted, _) = run_parallel(reads)
        for each in found:
            yield each, self._build_target(caller, each.namespace, each, restricted)

    def get(self, caller: Principal, name: str) -> Namespace:
        """Read one namespace's permissions.

        Raises:
            NotFound: it isn't configured.
            AccessDenied: the caller neither reads its memory nor manages permissions.
        """
        target = self._find_configuration(caller, name)
        if target.configured is None:
            raise NotFound("this namespace has no configuration and no entries")
        authorize(caller, authority.READ_PERMISSIONS, target)
        return _with_default(target, target.configured)

    def _find_configuration(self, caller: Principal, name: str) -> NamespaceTarget:
        """Read what decides on a namespace, or on a prefix rule if the name is a rule's."""
        target = self.find(caller, name)
        if not rules.is_prefix_rule(name):
            return target
        shorter = tuple(each for each in target.rules if each.namespace != name)
        own = self._store.get(caller.tenant, name)
        return target._replace(configured=own, rules=shorter)

    def claim_if_new(
        self, caller: Principal, target: NamespaceTarget
    ) -> tuple[NamespaceClaim, ...]:
        """Build the writes that make the caller the curator of a namespace without configuration.

        Raises:
            AccessDenied: the caller may not write in the namespace, configured or not.
        """
        authorize(caller, authority.WRITE_MEMORY, target)
        if target.configured is not None:
            return ()
        first = rules.build_first_configuration(target.name, caller.id, self._clock())
        write = put_first_configuration(caller.tenant, first)
        record = self._record(caller, authority.CLAIM_NAMESPACE, None, first)
        return (NamespaceClaim(target, (write, record)),)

    def declare(self, caller: Principal, name: str) -> None:
        """Let the principal that applies a workflow write in a namespace that it declares.

        Permissions that a request has set stay. If a namespace has them only from a first write,
        the applier becomes another curator, provided that it may change them: a first write gives
        no power over others.
        """
        target = self.find(caller, name)
        is_writable = is_allowed(caller, authority.WRITE_MEMORY, target)
        is_decided = target.configured is not None and target.configured.is_decided
        if target.is_denied or is_decided or (is_writable and target.configured is not None):
            return
        action = authority.CLAIM_NAMESPACE if is_writable else authority.CHANGE_PERMISSIONS
        if is_allowed(caller, action, target):
            own = Permissions(allow=[Allowed(agent=caller.id, access="write")])
            change = NamespaceChange(permissions=own)
            self._change(caller, name, action, change, None, RequestToken.create())

    def get_access(self, caller: Principal, name: str) -> Access:
        """Return the caller's access to a namespace's memory."""
        return rules.get_access(caller, self.find(caller, name))

    def list_about(self, tenant: str, user_id: str) -> list[Namespace]:
        """List the configured namespaces about a person, by an index: two calls for most."""
        return self._store.list_of_person(tenant, user_id)

    def is_closed_by_rules(self, tenant: str, name: str) -> bool:
        """Tell whether prefix rules give unlisted principals no access to a name."""
        fitting = self._prefix_rules.find(tenant, name)
        return rules.get_default(NamespaceTarget(name, rules=fitting)) == "none"

    def remove_about(self, tenant: str, user_id: str, prefix: str) -> None:
        """Remove permissions of names about a person with a prefix, if prefix rules close these."""
        for each in self.list_about(tenant, user_id):
            name = each.namespace
            if name.startswith(prefix) and self.is_closed_by_rules(tenant, name):
                self._store.delete(tenant, each)

    def configure(
        self,
        caller: Principal,
        name: str,
        change: NamespaceChange,
        version: int | None,
        token: RequestToken,
    ) -> Namespace:
        """Change or create the permissions of a namespace or prefix rule.

        Raises:
            ValidationFailed: the body names another namespace, or search fields for a prefix.
            AccessDenied: the caller doesn't manage the namespace.
            VersionMismatch: `version` is given and isn't the present one, or the request is a retry
                after another change.
            CapacityExceeded: more than 500 principals would be listed.
        """
        if change.namespace not in (None, name):
            raise ValidationFailed("namespace", "must be the name in the path")
        if change.search_fields is not None and rules.is_prefix_rule(name):
            raise ValidationFailed("search_fields", "are set for one namespace; leave out the *")
        if "history" in change.model_fields_set and rules.is_prefix_rule(name):
            raise ValidationFailed("history", "is set for one namespace; leave out the *")
        return self._change(caller, name, authority.CHANGE_PERMISSIONS, change, version, token)

    def close_users(self, caller: Principal) -> bool:
        """Set the rule for `users/*`, so that only the caller reads and writes memory of users.

        Returns False if the rule or a namespace below `users/` is configured already.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
        """
        if self._store.list_with_prefix(caller.tenant, "users/"):
            return False
        own = [Allowed(agent=caller.id, access="admin")]
        change = NamespaceChange(permissions=Permissions(default="none", allow=own))
        try:
            self.configure(caller, MEMORY_OF_USERS, change, 0, RequestToken.create())
        except VersionMismatch:  # the rule exists, or another request has just set it
            return False
        return True

    @retry_on(ConditionFailed, "others are changing this namespace")
    def _change(
        self,
        caller: Principal,
        name: str,
        action: Action[NamespaceTarget],
        change: NamespaceChange,
        version: int | None,
        token: RequestToken,
    ) -> Namespace:
        target = self._find_configuration(caller, name)
        present = target.configured
        verdict = Verdict.NEW if present is None else token.judge(present.requests)
        authorize(caller, action, target)
        if present is not None and verdict is Verdict.REPLAY:
            return _with_default(target, present)
        seen = 0 if present is None else present.version
        if verdict is Verdict.SUPERSEDED or version not in (None, seen):
            shown = None if present is None else _with_default(target, present)
            raise VersionMismatch.of("the namespace", seen, shown)
        new = rules.change_namespace(target, change, self._clock(), token)
        record = self._record(caller, action, present, new)
        self._store.replace(caller.tenant, present, new, record)
        self._prefix_rules.forget()
        return _with_default(target, new)

    def _record(
        self,
        caller: Principal,
        action: Action[NamespaceTarget],
        before: Namespace | None,
        after: Namespace,
    ) -> Write:
        was, is_ = (
            None if each is None else {"default": each.default, "allow": each.allow}
            for each in (before, after)
        )
        return self._audit.record(caller, action, f"namespace:{after.namespace}", was, is_)


def _with_default(target: NamespaceTarget, namespace: Namespace) -> Namespace:
    """Return permissions with the default of a prefix rule, if they have none."""
    return replace(namespace, default=rules.get_default(target._replace(configured=namespace)))
