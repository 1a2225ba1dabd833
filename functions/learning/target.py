"""Plan the changes of an answer: the writes of facts or entries, and of their rows."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from functions.identity.model import SERVICE, Principal
from functions.learning.evidence import Reading, mark
from functions.learning.model import LearnedItem
from functions.learning.prompts import ModelAnswer, ReadMessage
from functions.learning.store import LearningStore, build_learned_removal, build_learned_write
from functions.platform.limits import MAX_KNOWN_ITEMS
from functions.platform.writes import Write


class Known(NamedTuple):
    """An item that a strategy has learned before, as a request to the model shows it."""

    id: str
    row: LearnedItem
    stored: Any
    document: dict[str, Any]


class Learned(NamedTuple):
    """A changed item, and the messages that say it."""

    item: Any
    messages: Sequence[ReadMessage]


Ended = tuple[Known, Sequence[ReadMessage]]
"""An item that is no longer true, and the messages that contradict it."""


class Plan(NamedTuple):
    """The changes of an answer.

    Attributes:
        learned: the number of items added or learned again.
        dropped: the number of items that could not be stored.
    """

    writes: Sequence[Write] = ()
    learned: int = 0
    ended: int = 0
    dropped: int = 0


@dataclass(eq=False)
class Target(ABC):
    """The memory in which a kind of strategy stores what it learns."""

    _learned: LearningStore

    @abstractmethod
    def list_known(self, reading: Reading) -> list[Known]:
        """List what was learned for this target, newest first."""

    @abstractmethod
    def build(
        self, reading: Reading, answer: ModelAnswer, known: Mapping[str, Known], now: int
    ) -> tuple[dict[str, Learned], int]:
        """Build the items that an answer adds, by their refs; count those that can't be stored."""

    @abstractmethod
    def build_writes(
        self, reading: Reading, learned: Collection[Learned], ended: Collection[Ended], now: int
    ) -> list[Write]:
        """Build the writes of all items."""

    @abstractmethod
    def build_change(self, row: LearnedItem, kept: Sequence[str], now: int) -> list[Write]:
        """Build the writes that reduce an item's evidence; without evidence, the item ends."""

    def list_rows(self, reading: Reading) -> dict[str, LearnedItem]:
        """List the rows of what was learned for this target, oldest first, by their refs."""
        rows = self._learned.list_known(reading.tenant, reading.target, MAX_KNOWN_ITEMS)
        return {each.ref: each for each in reversed(rows)}

    def plan(self, reading: Reading, answer: ModelAnswer, known: Sequence[Known], now: int) -> Plan:
        """Plan which items are added, learned again, and ended; an item that is both stays."""
        learned, dropped = self.build(reading, answer, {each.id: each for each in known}, now)
        by_id = {
            each.known: reading.select(each.messages)
            for each in answer.changes
            if each.action != "add"
        }
        ended = [
            (each, by_id[each.id])
            for each in known
            if each.id in by_id and each.row.ref not in learned
        ]
        writes = self.build_writes(reading, learned.values(), ended, now)
        writes += [
            self._build_row(reading, ref, each.messages, now) for ref, each in learned.items()
        ]
        writes += [build_learned_removal(each.row) for each, _ in ended]
        return Plan(writes, len(learned), len(ended), dropped)

    def _build_row(
        self, reading: Reading, ref: str, messages: Sequence[ReadMessage], now: int
    ) -> Write:
        """Build the write of the row of an item that was learned, or learned again: one read."""
        conversation, strategy = reading.conversation, reading.strategy
        is_whole = strategy.kind == "summary"  # any change of the conversation affects it
        present = self._learned.get_learned(
            reading.tenant, conversation.session_id, strategy.name, ref
        )
        new = () if is_whole else mark(messages)
        marks = dict.fromkeys((*(present.messages if present else ()), *new))
        row = LearnedItem(
            tenant=reading.tenant,
            session_id=conversation.session_id,
            user_id=conversation.user_id,
            strategy=strategy.name,
            target=reading.target,
            ref=ref,
            messages=tuple(marks),
            version=1 if present is None else present.version + 1,
            created_at=now if present is None else present.created_at,
            namespace=None if strategy.kind == "facts" else reading.namespace,
            is_whole=is_whole,
        )
        return build_learned_write(row)


def build_learner(tenant: str) -> Principal:
    """Build the principal as which the service learns; it has no key."""
    return Principal(tenant, SERVICE.id, "user", frozenset())
