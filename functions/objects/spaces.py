"""Use cases of spaces: list them, change their permissions."""

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize, is_allowed
from functions.identity.model import Principal
from functions.objects import rules
from functions.objects.authority import CHANGE_SPACE, SHOW_SPACE
from functions.objects.model import Space, SpaceTarget
from functions.objects.requests import SpaceChange
from functions.objects.store import ObjectStore, delete_space, put_space
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock
from functions.platform.errors import ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed


class Spaces:
    """The spaces of a caller's tenant."""

    def __init__(self, store: ObjectStore, audit: AuditTrail, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[Space]:
        """List a page of the spaces that the caller may read, newest first.

        `memory.admin` sees all.
        """
        return read_page(
            wanted,
            self._store.list_spaces(caller.tenant, wanted),
            lambda space: is_allowed(caller, SHOW_SPACE, SpaceTarget(space.name, space)),
        )

    @retry_on(ConditionFailed, "others are changing this space")
    def configure(
        self,
        caller: Principal,
        name: str,
        change: SpaceChange,
        version: int | None,
        token: RequestToken,
    ) -> Space:
        """Change the permissions of a space; create it if it does not exist.

        Raises:
            ValidationFailed: the body names another space.
            AccessDenied: the caller doesn't manage it.
            VersionMismatch: `version` is given and isn't the present one, or the request is a retry
                after another change.
            CapacityExceeded: more than 500 principals would be listed.
        """
        if change.space not in (None, name):
            raise ValidationFailed("space", "must be the name in the path")
        space = self._store.get_space(caller.tenant, name)
        verdict = Verdict.NEW if space is None else token.judge(space.permissions.requests)
        authorize(caller, CHANGE_SPACE, SpaceTarget(name, space))
        if space is not None and verdict is Verdict.REPLAY:
            return space
        present = 0 if space is None else space.permissions.version
        if version not in (None, present) or verdict is Verdict.SUPERSEDED:
            raise VersionMismatch.of("the space", present)
        now = self._clock()
        new = rules.change_space(space, name, caller.id, change, now, token)
        before = None if space is None else _describe(space)
        target = f"object-space:{name}"
        record = self._audit.record(caller, CHANGE_SPACE, target, before, _describe(new))
        self._store.commit([put_space(caller.tenant, space, new), record])
        return new

    def list_about(self, caller: Principal, user_id: str) -> list[Space]:
        """List the spaces about a person, without a check of access."""
        found = self._store.list_spaces(caller.tenant)
        return [each for each in found if rules.is_about(user_id, each.name)]

    def remove(self, caller: Principal, space: Space) -> None:
        """Remove a space that is empty."""
        self._store.commit([delete_space(caller.tenant, space)])


def _describe(space: Space) -> dict[str, object]:
    return {"default": space.permissions.default, "allow": space.permissions.allow}
