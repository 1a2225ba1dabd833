"""Revisions that a store's caller has seen; overwriting another one is a conflict."""

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_memory.memory_store.remembered import Remembered

if TYPE_CHECKING:
    from agent_memory.memory_store.conversation import ConversationContext

GONE = "the conversation was deleted since it was retrieved; retrieve it again"
UNSEEN = "the caller hasn't seen the conversation that is stored; retrieve it"


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
        """Return the revision at which this store gave or took a conversation; None if neither.

        None also if the store knows that the conversation is gone since.
        """
        origin = conversation.revision
        is_gone = self._numbers.get(conversation.session_id) == 0
        return None if origin is None or is_gone or origin.store != self._store else origin.number

    def get_latest(self, session_id: str) -> int:
        """Return the latest revision of a session that was seen; 0: none."""
        return self._numbers.get(session_id) or 0

    def note(self, conversation: "ConversationContext", number: int) -> None:
        """Remember the revision that a conversation has from now on."""
        conversation.revision = Revision(self._store, number)
        self._numbers.put(conversation.session_id, number)

    def note_absence(self, session_id: str) -> None:
        """Remember that there is no conversation of a session."""
        self._numbers.put(session_id, 0)
