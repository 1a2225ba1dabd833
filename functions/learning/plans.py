"""Define what an answer changes: the writes of facts or entries, and of the rows beside them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from functions.identity.model import SERVICE, Principal
from functions.learning.evidence import Reading, mark
from functions.learning.model import LearnedItem
from functions.learning.prompts import ModelAnswer, ReadMessage
from functions.learning.store import LearnedStore, build_learned_write
from functions.platform.writes import Write


class Known(NamedTuple):
    """An item that a strategy has learned before, as a request to the model shows it."""

    id: str
    row: LearnedItem
    stored: Any
    document: dict[str, Any]


class Plan(NamedTuple):
    """Tells what an answer changes.

    Attributes:
        learned: how many items are added, or learned again.
        dropped: how many could not be stored.
    """

    writes: Sequence[Write] = ()
    learned: int = 0
    ended: int = 0
    dropped: int = 0


class Target(Protocol):
    """Tells where a kind of strategy stores what it learns."""

    def name(self, reading: Reading) -> str:
        """Name whose memory it is, and what kind of item."""

    def list_known(self, reading: Reading) -> list[Known]:
        """List what was learned for this target, newest first."""

    def plan(self, reading: Reading, answer: ModelAnswer, known: Sequence[Known], now: int) -> Plan:
        """Plan what an answer changes."""


def build_learner(tenant: str) -> Principal:
    """Build the principal in whose name the service learns. No key stands for it."""
    return Principal(tenant, SERVICE.id, "user", frozenset())


def build_row_write(
    store: LearnedStore,
    reading: Reading,
    target: str,
    ref: str,
    messages: Iterable[ReadMessage],
    now: int,
    *,
    namespace: str | None = None,
    is_whole: bool = False,
) -> Write:
    """Build the write of the row of an item that was learned, or learned again: one read."""
    conversation, strategy = reading.conversation, reading.strategy.name
    present = store.get(reading.tenant, conversation.session_id, strategy, ref)
    marks = dict.fromkeys((*(present.messages if present else ()), *mark(messages)))
    row = LearnedItem(
        tenant=reading.tenant,
        session_id=conversation.session_id,
        user_id=conversation.user_id,
        strategy=strategy,
        target=target,
        ref=ref,
        messages=tuple(marks),
        version=1 if present is None else present.version + 1,
        created_at=now if present is None else present.created_at,
        namespace=namespace,
        is_whole=is_whole,
    )
    return build_learned_write(row)
