"""Use cases on intents: read, set the access list, set the owner."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize, is_allowed
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, ValidationFailed
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.tasks.authority import READ_INTENT, SET_ACL, SET_OWNER, USE_INTENT
from functions.tasks.intent_store import IntentStore, replace_intent
from functions.tasks.model import Intent
from functions.tasks.requests import Acl, NewOwner

KindOf = Callable[[str, str], str | None]


@dataclass(eq=False)
class Intents:
    """The intents of a caller's tenant.

    Args:
        kind_of: reads a principal's kind by tenant and id; None if there is no such principal.
    """

    _store: IntentStore
    _audit: AuditTrail
    _kind_of: KindOf
    _clock: Clock

    def get(
        self, caller: Principal, intent_id: str, action: Action[Intent] = READ_INTENT
    ) -> Intent:
        """Read an intent with its access list.

        Raises:
            NotFound: the intent doesn't exist.
            AccessDenied: the action isn't permitted.
        """
        intent = self._store.get(caller.tenant, intent_id, caller.id)
        if intent.version == 0:
            raise NotFound("no task or entry names this intent")
        authorize(caller, action, intent)
        return intent

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[Intent]:
        """List a page of the intents that the caller may read, newest first."""
        intents = self._store.list_of_tenant(caller.tenant, caller.id, wanted)
        return read_page(wanted, intents, partial(is_allowed, caller, READ_INTENT))

    def authorize_use(self, caller: Principal, intent_id: str) -> None:
        """Check that the caller may name an intent, whether or not it exists.

        Raises:
            AccessDenied: it belongs to another principal.
        """
        authorize(caller, USE_INTENT, self._store.get(caller.tenant, intent_id, caller.id))

    def set_acl(self, caller: Principal, intent_id: str, acl: Acl) -> Intent:
        """Replace an intent's access list; a coordinator or user owns an intent without an owner.

        Raises:
            AccessDenied: the caller is neither the intent's owner nor the first coordinator or user
                to name it, and lacks `memory.admin`.
        """
        entries = {line.principal: line.access for line in acl.entries}

        def change(intent: Intent) -> Intent:
            owner = caller.id if caller.may_coordinate else None
            return replace(intent, acl=entries, owner=intent.owner or owner)

        return self._change(caller, intent_id, SET_ACL, change)

    def set_owner(self, caller: Principal, intent_id: str, new: NewOwner) -> Intent:
        """Replace an intent's owner by a coordinator or user; the access list stays.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            ValidationFailed: no coordinator or user has this id.
        """
        if self._kind_of(caller.tenant, new.principal) not in ("coordinator", "user"):
            raise ValidationFailed("principal", "must be a coordinator or user of this tenant")
        return self._change(
            caller, intent_id, SET_OWNER, lambda intent: replace(intent, owner=new.principal)
        )

    @retry_on(ConditionFailed, "others are changing this intent")
    def _change(
        self,
        caller: Principal,
        intent_id: str,
        action: Action[Intent],
        change: Callable[[Intent], Intent],
    ) -> Intent:
        old = self._store.get(caller.tenant, intent_id, caller.id)
        authorize(caller, action, old)
        created = old.created_at or self._clock()
        new = replace(change(old), version=old.version + 1, created_at=created)
        record = self._audit.record(
            caller, action, f"intent:{intent_id}", _describe(old), _describe(new)
        )
        self._store.commit([*replace_intent(caller.tenant, old, new), record])
        return new


def _describe(intent: Intent) -> dict[str, Any]:
    return {"owner": intent.owner, "entries": dict(sorted(intent.acl.items()))}
