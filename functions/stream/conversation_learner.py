"""Learn from conversations of a batch: follow changes, and read ready conversations.

Following needs only the table. A read asks a language model, in its own thread.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.learning.forgetting import Forgetting
from functions.learning.learner import Learner
from functions.learning.store import LearningStore
from functions.platform.item_types import CONVERSATION, LEARNING_POSITION
from functions.platform.items import Item, TypedItem, decode_item
from functions.platform.parallel import WorkerPool
from functions.stream.records import StreamBatch, StreamRecord, Subscription, order_by_turns

_THREADS = 8
_CONVERSATIONS, _POSITIONS = Subscription(CONVERSATION), Subscription(LEARNING_POSITION)


@dataclass(eq=False)
class ConversationLearner:
    """The consumer of changes of conversations, and of the positions of strategies in them."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = (_CONVERSATIONS, _POSITIONS)

    _forgetting: Forgetting
    _store: LearningStore
    _learner: Learner | None
    _pool: WorkerPool

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services; without a model, it never reads."""
        learner = container.learner if container.settings.learning_models else None
        pool = WorkerPool("learning", _THREADS)
        return cls(container.forgetting, container.learning_store, learner, pool)

    def process(self, batch: StreamBatch) -> None:
        """Follow changes of conversations, then read ready ones."""
        changed: dict[tuple[str, str], list[StreamRecord]] = {}
        for record in batch.records:
            if _CONVERSATIONS.matches(record) and batch.may_process(record):
                session_id = (record.new or record.old or {})["session_id"]["S"]
                changed.setdefault((record.tenant, session_id), []).append(record)
        batch.run(self._pool, [partial(self._note, *each) for each in changed.items()])
        if self._learner is None:
            return
        ready = [each for each in batch.records if _POSITIONS.matches(each) and _is_ready(each.new)]
        ordered = order_by_turns(ready, lambda record: record.tenant)
        batch.run(self._pool, [partial(self._learn, self._learner, each) for each in ordered])

    def _note(
        self, session: tuple[str, str], records: list[StreamRecord], batch: StreamBatch
    ) -> None:
        with batch.guard(records):
            again: dict[str, int] = {}
            if any(map(_is_rewritten, records)):
                again = self._forgetting.forget_changed(*session)
            if records[-1].new is None:
                self._store.delete_positions(*session)
            elif self._learner is not None:
                self._learner.note(*session, again)

    def _learn(self, learner: Learner, record: StreamRecord, batch: StreamBatch) -> None:
        with batch.guard([record]):
            position = decode_item(record.new or {})
            learner.learn(record.tenant, position["session_id"], position["strategy"])


def _is_rewritten(record: StreamRecord) -> bool:
    """Tell whether messages were changed or deleted, except by expiry."""
    old, new = _decode(record.old), _decode(record.new)
    if old is None:
        return False
    if new is None:
        return True
    names = ("generation", "rewritten_at")
    return any(old.get(name) != new.get(name) for name in names)


def _decode(image: TypedItem | None) -> Item | None:
    return decode_item(image) if image else None


def _is_ready(image: TypedItem | None) -> bool:
    return bool((image or {}).get("is_ready", {}).get("BOOL"))
