"""`client.recall`: a search of all memory that the caller may read."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.message_pieces import to_references
from agent_memory.model import Recall, RecallReference, RecallSource
from agent_memory.page import Paging
from agent_memory.requests import assert_known, drop_none, quote_segment, render_moment, to_list
from agent_memory.responses import parse, parse_object

if TYPE_CHECKING:
    from agent_memory._sync.client import Client


class RecallFields(TypedDict, total=False):
    """The filters and limits of a recall.

    Attributes:
        sources: the sources to search; all by default.
        agent_id: only memory of this agent.
        agent_type: only facts and episodes with this label.
        namespace: only entries of this namespace; a trailing `*` makes it a prefix.
        session_id: only messages of this conversation.
        run_id: only episodes of this run, and facts that it learned.
        tags: only entries and conversations that have all of these.
        fields: only entries whose values have these fields.
        vector: the query's vector, of your own embedding model.
        exclude: references, and `{"session_id": ...}`, of items that you already have.
        top_k: the maximum number of items; 10 by default.
        min_score: the lowest score.
        neighbours: the number of messages to return before and after a message.
        explain: add the parts of its score to each item.
        wait: `indexed` to wait until the newest entries are found.
    """

    sources: Iterable[RecallSource]
    agent_id: str
    agent_type: str
    namespace: str
    session_id: str
    run_id: str
    tags: Iterable[str]
    fields: Mapping[str, Any]
    vector: Sequence[float]
    exclude: Iterable[str | Mapping[str, str]]
    top_k: int
    min_score: float
    neighbours: int
    explain: bool
    wait: Literal["indexed"]


def ask(
    client: "Client",
    path: str,
    query: str | None,
    *,
    user_id: str | None,
    since: date | str | None,
    until: date | str | None,
    max_tokens: int | None,
    fields: Mapping[str, Any],
) -> Recall:
    """Send a question to a path, and return the result."""
    assert_known(fields, RecallFields, "user_id", "since", "until", "max_tokens")
    given = {
        name: to_list(each) if name in ("sources", "tags", "exclude", "vector") else each
        for name, each in fields.items()
    }
    body = given | drop_none(
        query=query,
        user_id=user_id,
        since=None if since is None else render_moment(since),
        until=None if until is None else render_moment(until),
        max_tokens=max_tokens,
    )
    return parse(Recall.from_document, parse_object(client.request("POST", path, json=body)))


def get_recalled(client: "Client", reference: str) -> RecallReference:
    """Return the item of a reference."""
    path = f"/api/v1/recall/{quote_segment(reference)}"
    return parse(RecallReference.from_document, parse_object(client.request("GET", path)))


class Answers(Resource):
    """The messages that use items of memory."""

    def list(self, item: RecallReference | str, paging: Paging) -> Pages[RecallReference]:
        """Return the messages whose `uses` name an item, newest first."""
        (reference,) = to_references(item)
        path = f"/api/v1/recall/{quote_segment(reference)}/answers"
        return self._list(path, "answers", RecallReference.from_document, paging)
