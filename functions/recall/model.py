"""Items that recall finds, and what selects them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from functions.platform.references import SourceName


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A message before or after a message that was found."""

    index: int
    reference: str
    speaker: str
    text: str
    time: int


@dataclass(frozen=True, slots=True)
class RecallItem:
    """An item that recall found. Times are epoch ms.

    Attributes:
        address: the fields that name the item in its source, such as `namespace` and `key`.
        speaker: who said it; None if it has no speaker.
        text: of the item.
        time: that it is about.
        neighbours: the messages around a message, and the message itself, in order.
        provenance: who stored it, and the sources.
    """

    source: SourceName
    reference: str
    id: str
    address: Mapping[str, Any]
    text: str
    time: int
    provenance: Mapping[str, Any]
    score: float = 0.0
    matched: tuple[str, ...] = ()
    speaker: str | None = None
    neighbours: tuple[Neighbor, ...] = ()
    explanation: Mapping[str, float] = field(default_factory=dict)


class AnswerMessage(NamedTuple):
    """A message that uses an item, with its position in the list."""

    list_position: str
    item: RecallItem


class Recalled(NamedTuple):
    """The answer of recall.

    Attributes:
        text: the items as a block for a prompt.
        tokens: an upper bound of the tokens of `text`.
        skipped_sources: the sources that don't support a given filter.
        indexed_until: all items written before this time (epoch ms) were searched.
    """

    items: Sequence[RecallItem]
    text: str
    tokens: int
    skipped_sources: list[SourceName]
    indexed_until: int
