"""The store over the service (Agent Memory Protocol §2.1; contract §9)."""

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
from agent_memory.memory_store.parts import parts

_MOST_AT_ONCE = 1000
_log = logging.getLogger("agent_memory")


class DatabaseMemoryStore(BaseMemoryStore):
    """Keeps everything in the service, as the client's principal. Thread-safe.

    A conversation belongs to who stored it first, to its user and to its participants: nobody else
    writes it, and they and `shared_with` alone read it. An agent's states are written by the agent,
    and by users and coordinators.

    A conversation of over 4 MB of JSON takes several writes: meanwhile a reader sees its beginning.
    Two who store one at the same time never mix theirs unnoticed: `MemoryConflictError`.

    Besides what `BaseMemoryStore` says, every call but the two deletions raises the errors of
    `agent_memory.exceptions`; those log them.

    Args:
        client: calls as the principal; stays open.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def store_conversation(
        self, session_id: str, user_id: str, conversation: ConversationContext
    ) -> None:
        """See `BaseMemoryStore`.

        Raises:
            MemoryAccessError: it is somebody else's.
            MemoryConflictError: somebody else wrote it meanwhile; store it again.
        """
        fields = document_of(session_id, conversation)
        first, *others = parts(fields.pop("messages"))
        conversations = self._client.conversations
        revision = conversations.put(session_id, user_id, first, **fields)["revision"]
        for part in others:
            revision += 1
            if conversations.append(session_id, part)["revision"] != revision:
                raise MemoryConflictError(
                    "somebody else wrote this conversation meanwhile; it may hold something of "
                    "both: store it again"
                )

    def retrieve_conversation(self, session_id: str) -> ConversationContext | None:
        """See `BaseMemoryStore`.

        Raises:
            MemoryAccessError: the principal may not read it.
            MemoryConflictError: it is written faster than it can be read.
        """
        try:
            found = self._client.conversations.whole(session_id)
        except MemoryNotFoundError:
            return None
        return conversation_of(found, found["messages"])

    def delete_conversation(self, session_id: str) -> bool:
        """See `BaseMemoryStore`; why it couldn't be deleted is logged."""
        return _done(lambda: self._client.conversations.delete(session_id))

    def list_conversations_for_user(
        self, user_id: str, limit: int = 100, offset: int = 0
    ) -> list[dict[str, Any]]:
        """See `BaseMemoryStore`; those that the principal may read."""
        assert_page(limit, offset)
        page_size = max(1, min(limit, _MOST_AT_ONCE))
        found = self._client.conversations.of_user(user_id, offset=offset, page_size=page_size)
        return [listed(each) for each in islice(found, limit)]

    def store_agent_state(self, agent_id: str, owner_id: str, key: str, state_data: Any) -> None:
        """See `BaseMemoryStore`.

        Raises:
            MemoryAccessError: it is another agent's.
        """
        self._client.states.put(agent_id, owner_id, key, fitting(state_data, "state"))

    def retrieve_agent_state(self, agent_id: str, owner_id: str, key: str) -> Any | None:
        """See `BaseMemoryStore`."""
        return self._client.states.get(agent_id, owner_id, key)

    def delete_agent_state(self, agent_id: str, owner_id: str, key: str) -> bool:
        """See `BaseMemoryStore`; why it couldn't be deleted is logged."""
        return _done(lambda: self._client.states.delete(agent_id, owner_id, key))

    def get_all_agent_states(self, agent_id: str, owner_id: str) -> dict[str, Any]:
        """See `BaseMemoryStore`."""
        return self._client.states.all(agent_id, owner_id)


def _done(deletion: Callable[[], bool]) -> bool:
    """Return whether there is nothing left after a deletion (Agent Memory Protocol §3)."""
    try:
        deletion()
    except AgentMemoryError as error:
        _log.warning("not deleted: %s (request %s)", type(error).__name__, error.request_id)
        return False
    return True
