"""The store over the service (Agent Memory Protocol §2.1)."""

import logging
from collections.abc import Callable
from itertools import islice
from typing import Any

from agent_memory._sync.client import Client
from agent_memory.exceptions import AgentMemoryError, MemoryConflictError, MemoryNotFoundError
from agent_memory.memory_store.base import BaseMemoryStore
from agent_memory.memory_store.conversation import ConversationContext
from agent_memory.memory_store.documents import (
    assert_page,
    conversation_of,
    document_of,
    listed,
)
from agent_memory.memory_store.json_values import fitting
from agent_memory.memory_store.names import (
    assert_owner,
    assert_session,
    assert_state,
    assert_user,
)
from agent_memory.memory_store.participants import JoinedParticipants
from agent_memory.memory_store.revisions import GONE, SeenRevisions

_MOST_AT_ONCE = 1000
_log = logging.getLogger("agent_memory")


class DatabaseMemoryStore(BaseMemoryStore):
    """Keeps everything in the service, as the client's principal. Thread-safe.

    A conversation belongs to its user and its participants. Only they write it; only they and
    `shared_with` read it. A caller that stores one becomes a participant. An agent writes its
    states, and all agents of a type write those of the type; their owner reads them.

    All calls except the two deletions also raise the errors of `agent_memory.exceptions`; the
    deletions log them.

    Args:
        client: calls as the principal; stays open.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._revisions = SeenRevisions()
        self._joined = JoinedParticipants()

    def store_conversation(
        self, session_id: str, user_id: str, conversation: ConversationContext
    ) -> None:
        """See `BaseMemoryStore`.

        Raises:
            MemoryAccessError: it is another principal's.
        """
        assert_user(user_id)
        fields = document_of(session_id, conversation)
        own = self._revisions.get_own(conversation)
        seen = self._revisions.get_latest(session_id) if own is None else own
        try:
            stored = self._put(session_id, user_id, fields, seen)
        except MemoryNotFoundError as gone:
            if own is not None:
                raise MemoryConflictError(GONE, request_id=gone.request_id) from gone
            stored = self._put(session_id, user_id, fields, 0)
        self._revisions.note(conversation, stored["revision"])
        self._joined.note(session_id, stored, fields["agent_participants"])

    def _put(
        self, session_id: str, user_id: str, fields: dict[str, Any], revision: int
    ) -> dict[str, Any]:
        head = self._client.conversations.put(session_id, user_id, revision=revision, **fields)
        return dict(head.raw)

    def retrieve_conversation(self, session_id: str) -> ConversationContext | None:
        """See `BaseMemoryStore`.

        Raises:
            MemoryAccessError: the principal may not read it.
            MemoryConflictError: it changes faster than it can be read.
        """
        assert_session(session_id)
        try:
            found = self._client.conversations.get(session_id).raw
        except MemoryNotFoundError:
            self._revisions.note_absence(session_id)
            return None
        conversation = conversation_of(found, found["messages"])
        self._joined.leave_out(conversation)
        self._revisions.note(conversation, found["revision"])
        return conversation

    def delete_conversation(self, session_id: str) -> bool:
        """See `BaseMemoryStore`; why it couldn't be deleted is logged."""
        assert_session(session_id)
        is_gone = _done(lambda: self._client.conversations.delete(session_id))
        if is_gone:
            self._revisions.note_absence(session_id)
        return is_gone

    def list_conversations_for_user(
        self, user_id: str, limit: int = 100, offset: int = 0
    ) -> list[dict[str, Any]]:
        """See `BaseMemoryStore`; lists those that the principal may read."""
        assert_user(user_id)
        assert_page(limit, offset)
        most = offset + limit
        page_size = max(1, min(most, _MOST_AT_ONCE))
        found = self._client.conversations.list(user_id, limit=most, page_size=page_size)
        return [listed(each.raw) for each in islice(found, offset, None)]

    def store_agent_state(self, agent_id: str, owner_id: str, key: str, state_data: Any) -> None:
        """See `BaseMemoryStore`.

        Raises:
            MemoryAccessError: it belongs to another agent or agent type.
        """
        assert_state(agent_id, owner_id, key)
        self._client.states.put(agent_id, owner_id, key, fitting(state_data, "state"))

    def retrieve_agent_state(self, agent_id: str, owner_id: str, key: str) -> Any | None:
        """See `BaseMemoryStore`."""
        assert_state(agent_id, owner_id, key)
        return self._client.states.get(agent_id, owner_id, key)

    def delete_agent_state(self, agent_id: str, owner_id: str, key: str) -> bool:
        """See `BaseMemoryStore`; why it couldn't be deleted is logged."""
        assert_state(agent_id, owner_id, key)
        return _done(lambda: self._client.states.delete(agent_id, owner_id, key))

    def get_all_agent_states(self, agent_id: str, owner_id: str) -> dict[str, Any]:
        """See `BaseMemoryStore`."""
        assert_owner(agent_id, owner_id)
        return self._client.states.get_all(agent_id, owner_id)


def _done(deletion: Callable[[], bool]) -> bool:
    """Return whether nothing is left after a deletion (Agent Memory Protocol §3)."""
    try:
        deletion()
    except AgentMemoryError as error:
        _log.warning("not deleted: %s (request %s)", type(error).__name__, error.request_id)
        return False
    return True
