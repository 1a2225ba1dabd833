"""End what was learned from messages that were changed or deleted since."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.learning.entry_target import LearnedEntries
from functions.learning.evidence import compute_digest, parse_mark
from functions.learning.fact_target import LearnedFacts
from functions.learning.model import LearnedItem
from functions.learning.store import LearningStore, build_learned_removal, build_learned_write
from functions.learning.target import Target
from functions.platform.clock import Clock
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed, Table

_BUSY = "others are changing the learned memory"


@dataclass(eq=False)
class Forgetting:
    """Compares learned items with the present messages of their conversation."""

    _table: Table
    _conversations: ConversationStore
    _messages: MessageStore
    _learned: LearningStore
    _facts: LearnedFacts
    _entries: LearnedEntries
    _clock: Clock

    def forget_changed(self, tenant: str, session: str) -> dict[str, int]:
        """End what was learned only from messages that were changed or deleted.

        If messages were changed, returns the index from which each strategy reads again.
        """
        rows = self._learned.list_learned(tenant, session)
        if not rows:
            return {}
        conversation = self._conversations.get_header(tenant, session)
        read_digest = cache(partial(self._read_digest, conversation))
        again: dict[str, int] = {}
        for row in rows:
            marks = {each: parse_mark(each) for each in row.messages}
            present = {each: read_digest(index) for each, (index, _) in marks.items()}
            changed = [i for each, (i, then) in marks.items() if present[each] not in (None, then)]
            if row.is_whole:
                changed = [0]
            if changed:
                again[row.strategy] = min(*changed, again.get(row.strategy, changed[0]))
            kept = [each for each, (_, then) in marks.items() if present[each] == then]
            if row.is_whole or len(kept) < len(row.messages):
                self._keep(row, kept)
        return again

    def _read_digest(self, conversation: Conversation | None, index: int) -> str | None:
        """Read the digest of the present message; None if it was deleted."""
        if conversation is None:
            return None
        try:
            message = self._messages.get(conversation, index)
        except ConversationChanged:  # its next change in the stream compares again
            return None
        return None if message is None else compute_digest(message.text)

    @retry_on(ConditionFailed, _BUSY)
    def _keep(self, row: LearnedItem, kept: Sequence[str]) -> None:
        """Keep only these messages as the evidence of an item; end it if no evidence is left."""
        stored = self._learned.get_learned(row.tenant, row.session_id, row.strategy, row.ref)
        if stored is None:
            return
        kept = [each for each in kept if each in stored.messages]
        changed = stored._replace(messages=tuple(kept), version=stored.version + 1)
        own = build_learned_write(changed) if kept else build_learned_removal(stored)
        target: Target = self._facts if row.namespace is None else self._entries
        self._table.transact([own, *target.build_change(row, kept, self._clock())])
