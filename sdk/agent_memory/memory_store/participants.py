"""The principal that the service puts among a conversation's participants: who stored it."""

from collections.abc import Collection, Mapping
from typing import Any

from agent_memory.memory_store.conversation import ConversationContext
from agent_memory.memory_store.remembered import Remembered


class JoinedParticipants:
    """Participants of a conversation that aren't listed, so that a read returns what was stored."""

    def __init__(self) -> None:
        self._joined: Remembered[frozenset[str]] = Remembered()

    def note(self, session_id: str, stored: Mapping[str, Any], given: Collection[str]) -> None:
        """Remember who was put among the participants that were given."""
        joined = frozenset(stored["agent_participants"]) - frozenset(given)
        self._joined.put(session_id, joined)

    def leave_out(self, conversation: ConversationContext) -> None:
        """Leave out who was put among the participants."""
        joined = self._joined.get(conversation.session_id) or frozenset()
        given = [each for each in conversation.agent_participants if each not in joined]
        conversation.agent_participants = given
