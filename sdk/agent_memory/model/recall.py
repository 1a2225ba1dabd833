"""Results of recall.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import RecallSource


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyMessage(Model):
    """A message around one that was found."""

    index: int
    reference: str
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallReference(Model):
    """An item that a reference names.

    Attributes:
        reference: A short name of the item: `GET /api/v1/recall/{reference}` returns it.
        text: The text of the item, at most 4,096 characters.
        time: The time that the item is about: a message's `timestamp`, an entry's
            `occurred_at`, a fact's `valid_from`, else the creation.
        provenance: The principal that stored the item, and its source. For a fact, also the
            time since which it holds, the fact that it `replaced`, and the other value of a
            single-valued predicate that it `conflicts_with`. Learned items name their messages
            in `learned_from`.
        speaker: For messages: the speaker.
    """

    source: RecallSource
    reference: str
    id: str
    text: str
    time: datetime
    provenance: dict[str, Any]
    speaker: str | None = None
    namespace: str | None = None
    key: str | None = None
    memory_type: str | None = None
    agent_id: str | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    session_id: str | None = None
    index: int | None = None
    role: str | None = None
    user_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallItem(RecallReference):
    """An item that recall found.

    Attributes:
        score: The relevance: 1 for the same words. Compare scores only within one response.
        matched: The words and IDs of the query that the item has.
        neighbours: For messages: the message and its neighbors, in order.
        explanation: With `explain`: the parts of the score.
    """

    score: float
    matched: tuple[str, ...]
    neighbours: tuple[NearbyMessage, ...] = ()
    explanation: dict[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Model):
    """The items that fit a question best, and their text.

    Attributes:
        text: The items as a block for a prompt: by source, with time, speaker and reference.
        tokens: An upper bound of the tokens of `text`.
        tokenizer: The rule that counts tokens.
        skipped_sources: The sources that do not support a given filter, and were not searched.
        indexed_until: All writes before this time were searched.
    """

    items: tuple[RecallItem, ...]
    text: str
    tokens: int
    tokenizer: str
    skipped_sources: tuple[RecallSource, ...]
    indexed_until: datetime
