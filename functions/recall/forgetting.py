"""Delete all memory about a user, through the packages that own it."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from functions.audit.service import AuditLog, AuditTrail
from functions.authorization.rules import authorize, is_allowed
from functions.conversations.archive import ConversationArchive
from functions.conversations.lists import ConversationLists
from functions.conversations.model import ListedConversation
from functions.conversations.service import Conversations
from functions.conversations.states import States
from functions.entries.batch import Batches
from functions.entries.filters import Filters, parse_namespace_filter
from functions.facts.model import FactQuery
from functions.facts.service import Facts
from functions.identity.model import ADMIN, READ, WRITE, Principal
from functions.identity.store import Persons
from functions.namespaces.model import USERS, encode_segment, list_spellings
from functions.namespaces.rules import get_default
from functions.namespaces.service import Namespaces
from functions.objects.service import Objects
from functions.objects.spaces import Spaces
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.errors import AccessDenied, NotFound
from functions.recall.authority import FORGET_USER

_SECONDS = 15.0  # of one request
_PAGE = 100
_OPEN = (
    "the memory of users is open to the whole tenant; memory.admin closes it: PATCH "
    '/api/v1/memory/namespaces/users%2F* {"permissions": {"default": "none"}}'
)
_CLOSED = (
    "forgetting a user needs write access to all namespaces below users/{user_id}/; memory.admin "
    "gives it, or deletes the person by POST /api/v1/deletions"
)
_NO_TAGS = frozenset[str]()


class Forgotten(NamedTuple):
    """The number of deleted items by kind; `complete` if nothing is left."""

    counts: Counter[str]
    complete: bool


@dataclass(eq=False)
class UserForgetting:
    """Deletes the memory of users."""

    _namespaces: Namespaces
    _entries: Batches
    _facts: Facts
    _conversations: tuple[ConversationLists, Conversations, ConversationArchive]
    _states: tuple[Persons, States]
    _objects: tuple[Spaces, Objects]
    _audit: AuditTrail
    _log: AuditLog

    def forget(self, caller: Principal, user_id: str) -> Forgotten:
        """Delete all memory about a user for 15 seconds; the next request continues.

        Raises:
            AccessDenied: the user's memory is open to all, or not all the caller's to write.
        """
        own = f"{USERS}/{encode_segment(user_id)}"
        target = self._namespaces.find(caller, f"{own}/memory")
        authorize(caller, FORGET_USER, target)
        if get_default(target) != "none" and ADMIN not in caller.permissions:
            raise AccessDenied(_OPEN)
        for each in self._namespaces.list_about(caller.tenant, user_id):
            other = self._namespaces.find(caller, each.namespace)
            if each.namespace.startswith(f"{own}/") and not is_allowed(caller, FORGET_USER, other):
                raise AccessDenied(_CLOSED)
        self._log.add(self._audit.record(caller, FORGET_USER, f"user:{user_id}"))
        counts = Counter[str]()
        deadline = time.monotonic() + _SECONDS
        for name, delete in self._list_steps(caller, user_id, own):
            while deleted := delete():
                counts[name] += deleted
                if time.monotonic() > deadline:
                    return Forgotten(counts, complete=False)
        self._namespaces.remove_about(caller.tenant, user_id, f"{own}/")
        return Forgotten(counts, complete=True)

    def _list_steps(
        self, caller: Principal, user_id: str, own: str
    ) -> Iterator[tuple[str, Callable[[], int]]]:
        """List the steps for each kind of memory: a call deletes some items, until it returns 0."""
        user = Principal(caller.tenant, user_id, "user", frozenset({READ, WRITE}))
        steward = caller._replace(permissions=caller.permissions | {ADMIN})
        namespace, prefix = parse_namespace_filter(f"{own}/*")
        filters = Filters(memory_type="semantic", namespace=namespace, namespace_prefix=prefix)
        lists, conversations, archive = self._conversations
        listed = partial(lists.list_for_user, user=user_id, with_metadata=False)
        delete = partial(conversations.delete, user, version=None, is_recorded=False)
        archived = partial(archive.delete, user, expired=None)
        yield "entries", partial(self._entries.delete, steward, filters)
        yield "conversations", partial(_delete_listed, user, listed, delete)
        yield "conversations", partial(_delete_listed, user, lists.list_archived, archived)
        yield "facts", partial(self._facts.forget_all, caller, FactQuery(user_id=user_id))
        yield "states", partial(self._delete_states, caller, user_id)
        yield "objects", partial(self._delete_objects, steward, user_id)

    def _delete_states(self, caller: Principal, user_id: str) -> int:
        persons, states = self._states
        agents = persons.list_agents_with_states(caller.tenant, user_id)
        return states.delete_all(caller, agents, user_id)

    def _delete_objects(self, steward: Principal, user_id: str) -> int:
        """Delete the spaces `users/{user_id}` and below, and the user's keys in the space `users`.

        In the path `users/ada/k`, the space is `users`, and the key `ada/k`.
        """
        spaces, objects = self._objects
        names = list_spellings(user_id)
        deleted = sum(objects.delete_prefix(steward, USERS, f"{each}/")[0] for each in names)
        for space in spaces.list_about(steward, user_id):
            count, is_complete = objects.delete_prefix(steward, space.name, "")
            deleted += count
            if is_complete:
                spaces.remove(steward, space)
        return deleted


def _delete_listed(
    user: Principal,
    read: Callable[..., BoundedPage[ListedConversation]],
    delete: Callable[..., None],
) -> int:
    """Delete the first of the user's conversations, as the user may."""
    deleted, after = 0, None
    while True:
        page = read(user, tags=_NO_TAGS, wanted=WantedPage(_PAGE, after=after))
        for each in page.elements:
            if each.head.user_id == user.id:
                with suppress(NotFound):
                    delete(session=each.head.session_id)
                    deleted += 1
        after = page.end
        if deleted or after is None:
            return deleted
