"""End what was learned from messages that were changed or deleted since."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, Transition
from functions.entries.store import EntryStore
from functions.entries.tiers import SEMANTIC
from functions.entries.transaction_store import Transaction
from functions.facts.rules import end_fact
from functions.facts.store import FactStore
from functions.identity.model import SERVICE
from functions.learning import evidence
from functions.learning.model import LearnedItem
from functions.learning.plans import build_learner
from functions.learning.store import LearnedStore, build_learned_removal, build_learned_write
from functions.platform.clock import Clock
from functions.platform.json_text import dumps, loads
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write

_BUSY = "what was learned is being changed"


@dataclass(eq=False)
class Forgetting:
    """Compares what was learned from a conversation with the messages as they are."""

    _table: Table
    _conversations: ConversationStore
    _messages: MessageStore
    _learned: LearnedStore
    _facts: FactStore
    _entries: EntryStore
    _mapper: EntryMapper
    _clock: Clock

    def forget_changed(self, tenant: str, session: str) -> dict[str, int]:
        """End what was learned only from messages that were changed or deleted.

        Returns the index from which each strategy has to read again, if messages were changed.
        """
        rows = self._learned.list_conversation(tenant, session)
        if not rows:
            return {}
        conversation = self._conversations.get_header(tenant, session)
        read_digest = cache(partial(self._read_digest, conversation))
        again: dict[str, int] = {}
        for row in rows:
            marks = {each: evidence.parse_mark(each) for each in row.messages}
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
        """Read the digest of a message as it is; None if it was deleted."""
        if conversation is None:
            return None
        try:
            message = self._messages.get(conversation, index)
        except ConversationChanged:  # its next change in the stream compares again
            return None
        return None if message is None else evidence.compute_digest(message.text)

    @retry_on(ConditionFailed, _BUSY)
    def _keep(self, row: LearnedItem, kept: Sequence[str]) -> None:
        """Leave only these messages as the evidence of an item; end it if nothing else says it."""
        stored = self._learned.get(row.tenant, row.session_id, row.strategy, row.ref)
        if stored is None:
            return
        kept = [each for each in kept if each in stored.messages]
        changed = stored._replace(messages=tuple(kept), version=stored.version + 1)
        own = build_learned_write(changed) if kept else build_learned_removal(stored)
        writes = (
            self._change_fact(row, kept) if row.namespace is None else self._change_entry(row, kept)
        )
        self._table.transact([own, *writes])

    def _change_fact(self, row: LearnedItem, kept: Sequence[str]) -> list[Write]:
        fact = self._facts.get(row.tenant, row.ref).fact
        if fact is None or fact.metadata is None:
            return []
        document = evidence.remove_messages(loads(fact.metadata), row, kept)
        changed = fact._replace(metadata=dumps(document))
        is_over = not evidence.list_places(document) and fact.learned_by == SERVICE.id
        if is_over and fact.valid_until is None:
            now = self._clock()
            changed = end_fact(changed, now, now, SERVICE.id)
        return [self._facts.build_change(row.tenant, fact, changed)]

    def _change_entry(self, row: LearnedItem, kept: Sequence[str]) -> list[Write]:
        address = SEMANTIC.build_address(row.tenant, SERVICE.id, row.namespace or "", row.ref)
        entry = self._entries.get(address)
        if entry is None or entry.curated_by != SERVICE.id:
            return []
        document = evidence.remove_messages(loads(entry.value), row, kept)
        changed = _change_value(entry, document, self._clock())
        new = changed if evidence.list_places(document) else None
        learner, now = build_learner(row.tenant), self._clock()
        transaction = Transaction(learner, (Transition(entry, new),), now, actor=SERVICE)
        return transaction.build_writes(self._mapper)


def _change_value(entry: Entry, document: evidence.Document, now: int) -> Entry:
    value = dumps(document)
    return entry._replace(
        value=value, value_bytes=len(value), version=entry.version + 1, updated_at=now
    )
