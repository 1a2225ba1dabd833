"""Search what was said in conversations (Agent Memory Protocol §6).

The texts of messages are held in memory and refreshed by each search, so a search finds all
messages that were appended before it began, and no deleted ones.
"""

from calendar import month_name
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any, NamedTuple

from functions.authorization.rules import is_allowed
from functions.conversations.authority import READ_CONVERSATION
from functions.conversations.lists import ConversationLists
from functions.conversations.mapper import header_key
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation, Message
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.identity.model import Principal
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock, from_rfc3339
from functions.platform.json_text import list_texts, loads
from functions.platform.limits import (
    MAX_QUERY_CHARACTERS,
    MAX_SEARCHED_CONVERSATIONS,
    MAX_SEARCHED_MESSAGES,
)
from functions.platform.retry import retry_on
from functions.platform.sensitivity import ENCRYPTED
from functions.vectors.held_texts import Text, add_texts
from functions.vectors.hybrid import Fit, Query, QueryEmbedder, TextEmbedder, read_query
from functions.vectors.matrix import HeldSpace, HeldSpaces, TextMatrix
from functions.vectors.model import (
    Embedding,
    Hit,
    Statistics,
    add_statistics,
    search_with_expansion,
)

_MAX_HELD_BYTES = 64_000_000  # of the vectors of some 60,000 messages, which have as many
_SPEAKERS = ("speaker", "name", "author")


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A message as a search needs it; `time` is its timestamp (epoch ms)."""

    index: int
    role: str
    speaker: str | None
    content: str
    time: int

    @property
    def text(self) -> str:
        """The text that is compared with queries: role, content and date, as `8 May 2023`."""
        said = self.content if self.speaker is None else f"{self.speaker}: {self.content}"
        day = datetime.fromtimestamp(self.time / 1000, UTC)
        return f"{said} {day.day} {month_name[day.month]} {day.year}"


@dataclass(slots=True)
class HeldConversation(HeldSpace):
    """The messages of a conversation, by their index, and the index of their texts.

    `seen` is the conversation's `rewritten_at` when they were read, and `end` the next index.
    """

    messages: dict[int, HeldMessage] = field(default_factory=dict)
    seen: tuple[str, int] | None = None
    end: int = 0


class HeldMessages:
    """The conversations that a process holds. Safe for use by several threads."""

    def __init__(self, reader: MessageStore, embed: TextEmbedder) -> None:
        self._reader = reader
        self._embed = embed
        self._spaces = HeldSpaces(HeldConversation, _MAX_HELD_BYTES)

    @contextmanager
    def use(self, conversation: Conversation) -> Iterator[HeldConversation]:
        """Hold the newest messages of a conversation, as of its header."""
        with self._spaces.use(header_key(conversation)[0]) as held:
            self._refresh(conversation, held)
            yield held

    def _refresh(self, conversation: Conversation, held: HeldConversation) -> None:
        """Read appended messages; read all again if others were changed."""
        seen = (conversation.generation, conversation.rewritten_at)
        if held.seen != seen or held.end > conversation.end:
            held.matrix, held.messages, held.seen = TextMatrix(), {}, None
            held.end = max(conversation.end - MAX_SEARCHED_MESSAGES, 0)
        if held.end < conversation.end:
            found = list(map(read_message, self._reader.read(conversation, held.end, None)))
            self._reader.assert_unchanged(conversation)
            add_texts(
                held.matrix, self._embed, [Text(str(each.index), 1, each.text) for each in found]
            )
            held.messages |= {each.index: each for each in found}
        held.seen, held.end = seen, conversation.end


def read_message(message: Message) -> HeldMessage:
    """Read the fields of a message that a search needs."""
    stored: dict[str, Any] = loads(message.text)
    metadata = stored.get("metadata") or {}
    names = (metadata.get(each) for each in _SPEAKERS)
    return HeldMessage(
        message.index,
        stored["role"],
        next((each for each in names if isinstance(each, str) and each), None),
        " ".join(list_texts(stored["content"]))[:MAX_QUERY_CHARACTERS],
        from_rfc3339(stored["timestamp"]),
    )


_MAX_DEPTH = 100_000  # candidates
_NEAR = (0.4, 0.2)  # weights of the messages beside a message, and of the next ones
_BUSY = "others keep changing a conversation"

AcceptMessage = Callable[[Conversation, HeldMessage], bool]
"""True if a search may return a message."""


class MessageQuery(NamedTuple):
    """A query for messages.

    Attributes:
        tags: only conversations that have all of these.
        neighbors: how many messages before and after a result are returned with it.
    """

    text: str
    user_id: str | None = None
    session_id: str | None = None
    tags: frozenset[str] = frozenset()
    accept: AcceptMessage = lambda _conversation, _message: True
    neighbors: int = 2


class FoundMessage(NamedTuple):
    """A message that a search found.

    Attributes:
        neighbors: the messages around it, and the message itself, in order.
    """

    conversation: Conversation
    message: HeldMessage
    score: float
    matched: list[str]
    neighbors: list[HeldMessage]
    parts: Mapping[str, float]


@dataclass(eq=False)
class ConversationSearch:
    """Searches the messages of the conversations that a caller may read."""

    _store: ConversationStore
    _lists: ConversationLists
    _held: HeldMessages
    _embed_query: QueryEmbedder
    _clock: Clock
    _is_searchable: bool

    @retry_on(ConversationChanged, _BUSY)
    def search(self, caller: Principal, query: MessageQuery, top_k: int) -> list[FoundMessage]:
        """Find the `top_k` best messages for a query, best first.

        Without `session_id`, the newest conversations are searched: those of the user, or
        those that the caller may read.
        """
        conversations = self._select(caller, query)
        embedding, asked = self._embed_query(query.text), read_query(query.text)
        with ExitStack() as holding:
            held = [
                (holding.enter_context(self._held.use(each)), each)
                for each in sorted(conversations, key=lambda each: each.session_id)
            ]
            statistics = add_statistics(each.matrix.count(embedding.terms) for each, _ in held)
            ranked = asked.use_statistics(statistics)

            def find(depth: int) -> tuple[list[FoundMessage], bool]:
                return _rank(held, query, ranked, embedding, statistics, depth)

            return search_with_expansion(top_k, _MAX_DEPTH, find)

    def _select(self, caller: Principal, query: MessageQuery) -> list[Conversation]:
        now = self._clock()
        return [
            each
            for each in self._list(caller, query)
            if is_allowed(caller, READ_CONVERSATION, each)
            and not each.has_expired(now)
            and each.sensitivity not in ENCRYPTED
            and (self._is_searchable if each.searchable is None else each.searchable)
            and query.user_id in (None, each.user_id)
            and query.tags <= frozenset(each.tags)
        ]

    def _list(self, caller: Principal, query: MessageQuery) -> Iterable[Conversation]:
        if query.session_id is not None:
            found = self._store.get_header(caller.tenant, query.session_id)
            return () if found is None else (found,)
        wanted = WantedPage(MAX_SEARCHED_CONVERSATIONS)
        if query.user_id is not None:
            page = self._lists.list_for_user(
                caller, query.user_id, query.tags, wanted, with_metadata=False
            )
        else:
            page = self._lists.list_readable(caller, query.tags, wanted, with_metadata=False)
        return [each.head for each in page.elements]


def _rank(
    held: Sequence[tuple[HeldConversation, Conversation]],
    query: MessageQuery,
    asked: Query,
    embedding: Embedding,
    statistics: Statistics,
    depth: int,
) -> tuple[list[FoundMessage], bool]:
    """Rank the best candidates of all conversations; also tell whether there are no others."""
    is_complete = True
    by_meaning: list[tuple[int, Hit]] = []  # with the number of the conversation
    by_words: list[tuple[int, Hit]] = []
    for number, (each, _) in enumerate(held):
        wanted = each.matrix.find_candidates(embedding, depth, {}, statistics)
        is_complete = is_complete and wanted.is_complete
        by_meaning += ((number, hit) for hit in wanted.by_meaning)
        by_words += ((number, hit) for hit in wanted.by_words)
    candidates = defaultdict[int, set[int]](set)
    for places in (by_meaning, by_words):
        for number, hit in nlargest(depth, places, key=lambda place: place[1].score):
            candidates[number].add(int(hit.ref))
    found = [
        result
        for number, indexes in candidates.items()
        for result in _score(*held[number], indexes, query, asked, embedding)
    ]
    found.sort(key=lambda each: (-each.score, each.conversation.session_id, each.message.index))
    return found, is_complete and len(by_meaning) <= depth


def _score(
    held: HeldConversation,
    conversation: Conversation,
    indexes: set[int],
    query: MessageQuery,
    asked: Query,
    embedding: Embedding,
) -> list[FoundMessage]:
    """Score the candidates of a conversation, and the messages near them.

    A message near a candidate may be the better answer. Example: "How long was the hike?" finds a
    question, and the message after it says "Two hours".
    """
    near = {each + step for each in indexes for step in range(-len(_NEAR), len(_NEAR) + 1)}
    messages = {each: held.messages[each] for each in near if each in held.messages}
    cosines = held.matrix.find_cosines(embedding, map(str, messages))
    fits = {
        each: asked.compare(cosines.get(str(each), 0.0), message.text)
        for each, message in messages.items()
    }
    around = range(-query.neighbors, query.neighbors + 1)
    return [
        FoundMessage(
            conversation,
            message,
            _add_neighbors(fits, index),
            fits[index].matched,
            [held.messages[index + step] for step in around if index + step in held.messages],
            fits[index].parts,
        )
        for index, message in messages.items()
        if query.accept(conversation, message)
    ]


def _add_neighbors(fits: dict[int, Fit], index: int) -> float:
    """Raise a message's score by its neighbors' scores; the highest score remains 1."""
    near = sum(
        weight * max(fits[other].score, 0)
        for distance, weight in enumerate(_NEAR, 1)
        for other in (index - distance, index + distance)
        if other in fits
    )
    score = fits[index].score
    return round(score + max(1 - score, 0) * min(near, 1), 6)
