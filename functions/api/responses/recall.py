"""Results of a recall, as the API shows them."""

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import Count, PagePosition, Timestamp
from functions.platform.references import SourceName
from functions.recall.forgetting import Forgotten
from functions.recall.model import Neighbor, Recalled, RecallItem
from functions.recall.tokens import TOKENIZER


class NeighborDocument(TypedDict):
    """A message before or after a message that was found, or that message itself."""

    index: Count
    reference: str
    speaker: str
    text: str
    time: Timestamp


class RecallReferenceDocument(TypedDict):
    """An item of a source."""

    source: SourceName
    reference: str
    """A short name of the item: `GET /api/v1/recall/{reference}` returns it."""
    id: str
    text: str
    """The text of the item, in at most {MAX_RECALLED_CHARACTERS} characters."""
    time: Timestamp
    """The time that the item is about: a message's `timestamp`, an entry's `occurred_at`, a fact's
    `valid_from`, else the creation."""
    provenance: dict[str, Any]
    """The principal that stored the item, and its source. For a fact, also the time since when it
    holds, the fact that it `replaced`, and the other value of a single-valued predicate that it
    `conflicts_with`. Items that a strategy learned name the messages in `learned_from`."""
    speaker: NotRequired[str]
    """The principal that said it: for messages."""
    namespace: NotRequired[str]
    key: NotRequired[str]
    memory_type: NotRequired[str]
    agent_id: NotRequired[str]
    subject: NotRequired[str]
    predicate: NotRequired[str]
    object: NotRequired[str]
    session_id: NotRequired[str]
    index: NotRequired[Count]
    role: NotRequired[str]
    user_id: NotRequired[str]
    run_id: NotRequired[str]


class AnswersDocument(PagePosition):
    """A page of the messages that were made from an item."""

    answers: list[RecallReferenceDocument]


class RecallItemDocument(RecallReferenceDocument):
    """An item that recall found."""

    score: float
    """The match of the item with the query: 1 for the same words. Compare scores within one answer
    only."""
    matched: list[str]
    """The words and IDs of the query that the item has."""
    neighbours: NotRequired[list[NeighborDocument]]
    """For messages: those around it and the message itself, in order."""
    explanation: NotRequired[dict[str, float]]
    """With `explain`: what the score is computed from."""


class RecallDocument(TypedDict):
    """The items that fit a question best, and a text that quotes them."""

    items: list[RecallItemDocument]
    text: str
    """The items as a block for a prompt: by source, with time, speaker and reference."""
    tokens: Count
    """An upper bound of the tokens of `text`."""
    tokenizer: str
    """The rule that counts tokens."""
    skipped_sources: list[SourceName]
    """The sources that do not know one of the filters, and were not searched."""
    indexed_until: Timestamp
    """All writes before this time were searched."""


def render_recall(recalled: Recalled, *, is_explained: bool) -> RecallDocument:
    """Render the answer of a recall."""
    items = [_render_item(each, is_explained=is_explained) for each in recalled.items]
    return to_document(recalled, RecallDocument, items=items, tokenizer=TOKENIZER)


def render_reference(item: RecallItem) -> RecallReferenceDocument:
    """Render an item that a reference names."""
    provenance = dict(item.provenance)
    document = to_document(item, RecallReferenceDocument, provenance=provenance)
    document.update(item.address)  # type: ignore[typeddict-item]
    return document


def _render_item(item: RecallItem, *, is_explained: bool) -> RecallItemDocument:
    document = cast("RecallItemDocument", render_reference(item))
    document["score"] = item.score
    document["matched"] = list(item.matched)
    if item.neighbours:
        document["neighbours"] = list(map(_render_neighbor, item.neighbours))
    if is_explained:
        document["explanation"] = dict(item.explanation)
    return document


def _render_neighbor(neighbor: Neighbor) -> NeighborDocument:
    return to_document(neighbor, NeighborDocument)


class ForgottenDocument(TypedDict):
    """The counts of what was deleted about a user."""

    entries: Count
    facts: Count
    conversations: Count
    states: Count
    objects: Count
    complete: bool
    """True if nothing is left; otherwise repeat the request."""


def render_forgotten(forgotten: Forgotten) -> ForgottenDocument:
    names = ("entries", "facts", "conversations", "states", "objects")
    counts = {name: forgotten.counts[name] for name in names}
    return to_document(forgotten, ForgottenDocument, **counts)
