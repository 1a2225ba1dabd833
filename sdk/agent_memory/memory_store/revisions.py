"""Revisions that a store's caller has seen; overwriting another one is a conflict."""

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_memory.memory_store.remembered import Remembered

if TYPE_CHECKING:
    from agent_memory.memory_store.conversation import ConversationContext

GONE = "the conversation was deleted since it was retrieved; retrieve it again"
UNSEEN = "the stored conversation was not retrieved before; retrieve it"


@dataclass(frozen=True)
class Revision:
    """The revision of a conversation in one store."""

    store: str
    number: int


class SeenRevisions:
    """The revisions that one store has read or written; a conversation carries its own."""

    def __init__(self) -> None:
        self._store = uuid.uuid4().hex
        self._numbers: Remembered[int] = Remembered()

    def get_own(self, conversation: "ConversationContext") -> int | None:
        """Return the revision of a conversation in this store; None if it was never in it.

        None also if the store knows that the conversation was deleted.
        """
        origin = conversation.revision
        is_gone = self._numbers.get(conversation.session_id) == 0
        return None if origin is None or is_gone or origin.store != self._store else origin.number

    def get_latest(self, session_id: str) -> int:
        """Return the latest revision of a session that was seen; 0 for none."""
        return self._numbers.get(session_id) or 0

    def note(self, conversation: "ConversationContext", number: int) -> None:
        """Record the new revision of a conversation."""
        conversation.revision = Revision(self._store, number)
        self._numbers.put(conversation.session_id, number)

    def note_absence(self, session_id: str) -> None:
        """Record that a session has no conversation."""
        self._numbers.put(session_id, 0)
