"""Hide the principal that the service adds to a conversation's participants: its writer."""

from collections.abc import Collection, Mapping
from typing import Any

from agent_memory.memory_store.conversation import ConversationContext
from agent_memory.memory_store.remembered import Remembered


class JoinedParticipants:
    """Added participants of conversations, which reads omit to return the stored list."""

    def __init__(self) -> None:
        self._joined: Remembered[frozenset[str]] = Remembered()

    def note(self, session_id: str, stored: Mapping[str, Any], given: Collection[str]) -> None:
        """Record the participant that was added to the given ones."""
        joined = frozenset(stored["agent_participants"]) - frozenset(given)
        self._joined.put(session_id, joined)

    def leave_out(self, conversation: ConversationContext) -> None:
        """Remove the added participant."""
        joined = self._joined.get(conversation.session_id) or frozenset()
        given = [each for each in conversation.agent_participants if each not in joined]
        conversation.agent_participants = given
