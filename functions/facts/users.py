"""Access to facts about users: that of the namespace `users/{user_id}/memory`."""

from dataclasses import dataclass, field

from functions.authorization.rules import authorize, is_allowed
from functions.identity.model import ADMIN, Principal
from functions.namespaces.authority import READ_MEMORY, WRITE_MEMORY
from functions.namespaces.model import NamespaceTarget, encode_segment
from functions.namespaces.service import Namespaces


@dataclass(eq=False)
class UserAccess:
    """Decides who may use the facts about users."""

    _namespaces: Namespaces

    def of(self, caller: Principal) -> "CallerAccess":
        """Return a caller's access, which is read once for each user."""
        return CallerAccess(self._namespaces, caller)


@dataclass(eq=False)
class CallerAccess:
    """A caller's access to facts about users, for one request. A fact of no user is open."""

    _namespaces: Namespaces
    _caller: Principal
    _targets: dict[str, NamespaceTarget] = field(default_factory=dict)

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

    def _find(self, user_id: str) -> NamespaceTarget:
        if user_id not in self._targets:
            name = f"users/{encode_segment(user_id)}/memory"
            self._targets[user_id] = self._namespaces.find(self._caller, name)
        return self._targets[user_id]
