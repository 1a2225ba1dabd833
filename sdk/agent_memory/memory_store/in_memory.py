"""The store that ends with its process (Agent Memory Protocol §2.1)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from threading import Lock
from typing import Any

from agent_memory.exceptions import MemoryConflictError, ValidationError
from agent_memory.memory_store.base import BaseMemoryStore
from agent_memory.memory_store.conversation import ConversationContext
from agent_memory.memory_store.documents import (
    Document,
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
from agent_memory.memory_store.revisions import GONE, UNSEEN, SeenRevisions

_NOTHING = ("null", "[]")


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the store's own time


class InMemoryMemoryStore(BaseMemoryStore):
    """Stores everything in the process: for development, tests and single sessions. Thread-safe.

    Args:
        clock: returns the present moment, in UTC.
    """

    def __init__(self, clock: Callable[[], datetime] = _now) -> None:
        self._clock = clock
        self._lock = Lock()
        self._revisions = SeenRevisions()
        # JSON, so that callers can't change it: the head and the messages, in the order of the
        # last update
        self._conversations: dict[str, tuple[str, str]] = {}
        self._states: dict[tuple[str, str], dict[str, str]] = {}

    def store_conversation(
        self, session_id: str, user_id: str, conversation: ConversationContext
    ) -> None:
        """See `BaseMemoryStore`."""
        assert_user(user_id)
        document = document_of(session_id, conversation)
        said = document.pop("messages")
        if self._over(document):
            raise ValidationError("expires_at must be in the future")
        now = self._clock().isoformat(timespec="milliseconds")
        with self._lock:
            before = self._head(session_id)
            present = 0 if before is None else before["revision"]
            self._assert_seen(conversation, present)
            document |= {
                "session_id": session_id,
                "user_id": user_id,
                "message_count": len(said),
                "created_at": now if before is None else before["created_at"],
                "updated_at": now,
                "revision": present + 1,
            }
            self._conversations.pop(session_id, None)  # the last updated one is the last
            self._conversations[session_id] = json.dumps(document), json.dumps(said)
            self._revisions.note(conversation, present + 1)

    def _assert_seen(self, conversation: ConversationContext, present: int) -> None:
        own = self._revisions.get_own(conversation)
        seen = self._revisions.get_latest(conversation.session_id) if own is None else own
        if present == 0 and own is not None:
            raise MemoryConflictError(GONE)
        if present not in (0, seen):
            raise MemoryConflictError(UNSEEN)

    def retrieve_conversation(self, session_id: str) -> ConversationContext | None:
        """See `BaseMemoryStore`."""
        assert_session(session_id)
        with self._lock:
            head, (_, said) = self._head(session_id), self._conversations.get(session_id, _NOTHING)
        if head is None:
            self._revisions.note_absence(session_id)
            return None
        conversation = conversation_of(head, json.loads(said))
        self._revisions.note(conversation, head["revision"])
        return conversation

    def delete_conversation(self, session_id: str) -> bool:
        """Delete a conversation; always True."""
        assert_session(session_id)
        with self._lock:
            self._conversations.pop(session_id, None)
            self._revisions.note_absence(session_id)
        return True

    def list_conversations_for_user(
        self, user_id: str, limit: int = 100, offset: int = 0
    ) -> list[dict[str, Any]]:
        """See `BaseMemoryStore`."""
        assert_user(user_id)
        assert_page(limit, offset)
        with self._lock:
            newest_first = list(reversed(self._conversations))
        heads = map(self._head, newest_first)
        theirs = (head for head in heads if head is not None and head["user_id"] == user_id)
        return [listed(head) for head in islice(theirs, offset, offset + limit)]

    def _head(self, session_id: str) -> Document | None:
        """Return a conversation without its messages, unless it has expired."""
        text, _ = self._conversations.get(session_id, _NOTHING)
        head: Document | None = json.loads(text)
        return None if head is None or self._over(head) else head

    def _over(self, head: Document) -> bool:
        ends = head["expires_at"]
        return ends is not None and datetime.fromisoformat(ends) <= self._clock()

    def store_agent_state(self, agent_id: str, owner_id: str, key: str, state_data: Any) -> None:
        """See `BaseMemoryStore`."""
        assert_state(agent_id, owner_id, key)
        text = json.dumps(fitting(state_data, "state"))
        with self._lock:
            states = self._states.setdefault((agent_id, owner_id), {})
            states.pop(key, None)  # the last updated one is the last
            states[key] = text

    def retrieve_agent_state(self, agent_id: str, owner_id: str, key: str) -> Any | None:
        """See `BaseMemoryStore`."""
        assert_state(agent_id, owner_id, key)
        text = self._states.get((agent_id, owner_id), {}).get(key)
        return None if text is None else json.loads(text)

    def delete_agent_state(self, agent_id: str, owner_id: str, key: str) -> bool:
        """Delete a state; always True."""
        assert_state(agent_id, owner_id, key)
        with self._lock:
            self._states.get((agent_id, owner_id), {}).pop(key, None)
        return True

    def get_all_agent_states(self, agent_id: str, owner_id: str) -> dict[str, Any]:
        """See `BaseMemoryStore`."""
        assert_owner(agent_id, owner_id)
        with self._lock:
            states = dict(self._states.get((agent_id, owner_id), {}))
        return {key: json.loads(text) for key, text in reversed(states.items())}
