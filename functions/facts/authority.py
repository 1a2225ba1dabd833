"""Define who deletes facts and declares predicates (ADR-043), and who reads facts about users.

The whole tenant reads facts of no user. The access to those about a user is that of the namespace
`users/{user_id}/memory`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from functions.authorization.rules import (
    HOLDS_ADMIN,
    HOLDS_WRITE,
    Action,
    authorize,
    is_allowed,
)
from functions.identity.model import ADMIN, Principal
from functions.namespaces.authority import READ_MEMORY, WRITE_MEMORY
from functions.namespaces.model import NamespaceTarget, name_memory_of_user
from functions.namespaces.service import Namespaces
from functions.platform.items import Item
from functions.platform.keys import Key

DELETE_FACT = Action(
    "fact.delete",
    (HOLDS_WRITE, HOLDS_ADMIN),
    denied="deleting facts needs memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has learned the fact."""
CHANGE_FACT = Action(
    "fact.change", (HOLDS_WRITE,), denied="learning facts needs memory.write", is_audited=True
)
"""Learn again, or end, a fact that another principal has learned."""
DECLARE_PREDICATE = Action(
    "predicate.declare",
    (HOLDS_ADMIN,),
    denied="declaring predicates needs memory.admin",
    is_audited=True,
)


@dataclass(eq=False)
class UserAccess:
    """A caller's access to facts about users, for one request. A fact of no user is open."""

    _namespaces: Namespaces
    _caller: Principal
    _targets: dict[str, NamespaceTarget] = field(default_factory=dict)
    _is_loaded: bool = False

    def can_read(self, user_id: str | None) -> bool:
        """Tell whether the caller may read facts about a user."""
        return user_id is None or is_allowed(self._caller, READ_MEMORY, self._find(user_id))

    def can_delete(self, user_id: str | None) -> bool:
        """Tell whether the caller may delete facts about a user."""
        if user_id is None or ADMIN in self._caller.permissions:
            return True
        return is_allowed(self._caller, WRITE_MEMORY, self._find(user_id))

    def assert_readable(self, user_id: str | None) -> None:
        """Check that the caller may read facts about a user."""
        if user_id is not None:
            authorize(self._caller, READ_MEMORY, self._find(user_id))

    def assert_writable(self, user_id: str | None) -> None:
        """Check that the caller may learn facts about a user."""
        if user_id is not None:
            authorize(self._caller, WRITE_MEMORY, self._find(user_id))

    def assert_deletable(self, user_id: str | None) -> None:
        """Check that the caller may delete facts about a user."""
        if not self.can_delete(user_id):
            self.assert_writable(user_id)

    def load(self, user_ids: Iterable[str | None]) -> None:
        """Read the permissions of users: one call, the first time even if there are none.

        Thus a list makes the same calls, whether it leaves facts out or has none.
        """
        unknown = {id for id in user_ids if id is not None} - self._targets.keys()
        names = {id: name_memory_of_user(id) for id in unknown}
        if names or not self._is_loaded:
            found = self._namespaces.find_each(self._caller, [*names.values()])
            self._targets |= {id: found[name] for id, name in names.items()}
        self._is_loaded = True

    def load_with(self, user_id: str, keys: Iterable[Key]) -> dict[Key, Item]:
        """Read the permissions of a user, and the items with these keys: one call."""
        name = name_memory_of_user(user_id)
        found, items = self._namespaces.find_each_with(self._caller, (name,), keys)
        self._targets[user_id] = found[name]
        return items

    def _find(self, user_id: str) -> NamespaceTarget:
        if user_id not in self._targets:
            self.load((user_id,))
        return self._targets[user_id]
