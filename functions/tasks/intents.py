"""Use cases on intents' access lists (contract §5)."""

from functions.identity.model import Principal
from functions.platform.errors import AccessDenied, NotFound
from functions.tasks.intent_store import IntentStore
from functions.tasks.model import Intent
from functions.tasks.requests import Acl
from functions.tasks.rules import may_read_intent, may_set_acl


class Intents:
    """The intents of a caller's tenant."""

    def __init__(self, store: IntentStore) -> None:
        self._store = store

    def get(self, caller: Principal, intent_id: str) -> Intent:
        """Read an intent with its access list.

        Raises:
            NotFound: nobody has used this intent.
            AccessDenied: the caller neither owns it nor takes part in it.
        """
        intent = self._store.get(caller.tenant, intent_id)
        if intent is None:
            raise NotFound("nobody has used this intent")
        if not may_read_intent(caller, intent):
            raise AccessDenied("you have no part in this intent")
        return intent

    def set_acl(self, caller: Principal, intent_id: str, acl: Acl) -> Intent:
        """Replace an intent's access list.

        Raises:
            NotFound: nobody has used this intent.
            AccessDenied: the caller is neither its owner nor has `memory.admin`.
        """
        intent = self.get(caller, intent_id)
        if not may_set_acl(caller, intent):
            raise AccessDenied("only an intent's owner sets its access list")
        return self._store.set_acl(caller, intent_id, acl.entries)
