"""Recall: search all memory that the caller may read (CONTRACT3 section 14)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from functions.conversations.model import Conversation
from functions.conversations.search import (
    ConversationSearch,
    FoundMessage,
    HeldMessage,
    MessageQuery,
    read_message,
)
from functions.conversations.service import Conversations
from functions.entries.model import Entry
from functions.entries.read import EntryReader
from functions.entries.tiers import EPISODIC, SEMANTIC, WORKING
from functions.facts.model import Fact, FactQuery
from functions.facts.service import Facts
from functions.identity.model import Principal
from functions.namespaces.model import encode_segment
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.clock import Clock
from functions.platform.parallel import run_parallel
from functions.platform.references import (
    SourceName,
    build_reference,
    hash_reference,
    no_reference,
    parse_reference,
)
from functions.recall.freshness import Freshness
from functions.recall.items import (
    build_entry_references,
    build_episode_references,
    describe_entry,
    describe_episode,
    describe_fact,
    describe_message,
    get_time,
)
from functions.recall.model import AnswerMessage, Recalled, RecallItem
from functions.recall.requests import ConversationQuestion, Question
from functions.recall.text import render_within
from functions.recall.tokens import count_tokens
from functions.runs.model import Episode
from functions.runs.search import EpisodeSearch
from functions.runs.service import Episodes
from functions.search.requests import MemorySearch
from functions.search.service import Search
from functions.vectors.hybrid import Found

_KNOWN_FILTERS: dict[SourceName, frozenset[str]] = {
    "entries": frozenset({"user_id", "agent_id", "namespace", "tags", "fields", "vector"}),
    "facts": frozenset({"user_id", "agent_type", "run_id", "as_of"}),
    "messages": frozenset({"user_id", "session_id", "tags"}),
    "episodes": frozenset({"agent_type", "run_id"}),
}
_FILTERS = frozenset().union(*_KNOWN_FILTERS.values())

Ask = ConversationQuestion | Question
Job = Callable[[], tuple[list[RecallItem], int | None]]
"""Finds items, and the time (epoch ms) until which they are complete; None if always."""


@dataclass(eq=False)
class RecallService:
    """Searches the sources in parallel, and ranks all items by one score."""

    _search: Search
    _entries: EntryReader
    _facts: Facts
    _conversation_search: ConversationSearch
    _conversations: Conversations
    _episode_search: EpisodeSearch
    _episodes: Episodes
    _freshness: Freshness
    _clock: Clock

    def recall(self, caller: Principal, question: Question) -> Recalled:
        """Find the `top_k` best items for a question, of all sources together.

        Raises:
            ValidationFailed: a filter needs another one, as `fields` needs a namespace.
            Unavailable: no embedding model is installed, or it does not answer.
        """
        searched, skipped = _select_sources(question)
        started = self._clock()
        jobs = [job for name in searched for job in self._build_jobs(name, caller, question)]
        found = run_parallel(jobs)
        items = [each for several, _ in found for each in several]
        until = min([started, *(until for _, until in found if until is not None)])
        return _answer(items, question, skipped, until)

    def search_conversations(self, caller: Principal, question: ConversationQuestion) -> Recalled:
        """Find the best messages for a question.

        Raises:
            Unavailable: no embedding model is installed.
        """
        until = self._clock()
        return _answer(self._find_messages(caller, question), question, [], until)

    def get(self, caller: Principal, reference: str) -> RecallItem:
        """Get the item of a reference.

        Raises:
            NotFound: the text is no reference, or there is no such item.
            AccessDenied: the caller may not read it.
        """
        source, parts = parse_reference(reference)
        match source:
            case "entries":
                return describe_entry(self._get_entry(caller, *parts))
            case "facts":
                fact = self._facts.get(caller, parts[0])
                return describe_fact(
                    fact, self._facts.explain_validity(caller, [fact])[fact.fact_id]
                )
            case "messages":
                return self._get_message(caller, *parts)
            case "episodes":
                run_id, id = parts
                return describe_episode(self._episodes.get(caller, run_id, id))

    def _find_entries(
        self, caller: Principal, question: Question, request: MemorySearch
    ) -> tuple[list[RecallItem], int]:
        """Find entries of a tier; also return the time (epoch ms) until which they are complete."""

        def accept(entry: Entry) -> bool:
            return _is_wanted(question, get_time(entry), *build_entry_references(entry))

        until, names = self._freshness.get(caller, request, is_awaited=question.wait is not None)
        found = self._search.search(
            caller, request, is_touched=False, accept=accept, namespaces=names
        )
        return [_rate(describe_entry(each.element), each) for each in found], until

    def _find_facts(self, caller: Principal, question: Question) -> list[RecallItem]:
        """Find facts; facts of a subject that the question names come first."""
        asked = FactQuery(
            agent_type=question.agent_type,
            learned_from_run_id=question.run_id,
            user_id=question.user_id,
        )

        def accept(fact: Fact) -> bool:
            return _is_wanted(question, fact.valid_from, build_reference("facts", fact.fact_id))

        found = self._facts.find(
            caller, question.query or "", asked, accept, question.top_k, question.as_of
        )
        facts = [each.element for each in found]
        known = self._facts.explain_validity(caller, facts, is_past=question.as_of is not None)
        return [
            _rate(describe_fact(each.element, known[each.element.fact_id]), each) for each in found
        ]

    def _find_messages(self, caller: Principal, question: Ask) -> list[RecallItem]:
        """Find messages of the conversations that the caller may read."""
        sessions = question.excluded_sessions

        def accept(conversation: Conversation, message: HeldMessage) -> bool:
            session = conversation.session_id
            reference = build_reference("messages", session, message.index)
            return session not in sessions and _is_wanted(question, message.time, reference)

        query = MessageQuery(
            question.query or "",
            question.user_id,
            question.session_id,
            frozenset(question.tags),
            accept,
            question.neighbours,
        )
        found = self._conversation_search.search(caller, query, question.top_k)
        known = question.excluded_references
        return [
            _rate(describe_message(each.conversation, each.message, each.neighbors, known), each)
            for each in found
        ]

    def _find_episodes(self, caller: Principal, question: Question) -> list[RecallItem]:
        """Find episodes of the tenant's runs."""

        def accept(episode: Episode) -> bool:
            is_of_run = question.run_id in (None, episode.run_id)
            references = build_episode_references(episode.run_id, episode.id)
            return is_of_run and _is_wanted(question, episode.created_at, *references)

        found = self._episode_search.search(
            caller, question.query or "", question.agent_type, accept, question.top_k
        )
        return [_rate(describe_episode(each.element), each) for each in found]

    def _build_jobs(self, name: SourceName, caller: Principal, question: Question) -> list[Job]:
        """Build the searches of a source; jobs of different sources run in parallel."""
        match name:
            case "entries":
                requests = _build_searches(caller, question)
                return [partial(self._find_entries, caller, question, each) for each in requests]
            case "facts":
                find = self._find_facts
            case "messages":
                find = self._find_messages
            case "episodes":
                find = self._find_episodes
        return [lambda: (find(caller, question), None)]

    def _get_entry(self, caller: Principal, name: str, agent: str | None = None) -> Entry:
        if name.startswith("mem_"):
            return self._entries.get(caller, name, is_touched=False)
        return self._entries.get_by_nonce(caller, name[0], name[1:], agent)

    def _get_message(self, caller: Principal, session: str, index: str) -> RecallItem:
        if not index.isdecimal():
            raise no_reference()
        conversation, message = self._conversations.get_message(caller, session, int(index))
        held = read_message(message)
        return describe_message(conversation, held, [held])

    def list_answers(
        self, caller: Principal, reference: str, wanted: WantedPage
    ) -> BoundedPage[AnswerMessage]:
        """List the messages whose `uses` name an item, newest first, even if it was deleted.

        Raises:
            NotFound: the text is no reference.
        """
        page = self._conversations.list_uses(caller, hash_reference(reference), wanted)
        answers = [
            AnswerMessage(
                each.list_position,
                describe_message(each.conversation, read_message(each.message)),
            )
            for each in page.elements
        ]
        return BoundedPage(answers, page.end, page.total)


def _answer(
    items: Sequence[RecallItem], question: Ask, skipped: list[SourceName], until: int
) -> Recalled:
    ranked = sorted(items, key=lambda item: (-item.score, item.reference))
    best = [item for item in ranked if item.score >= question.min_score][: question.top_k]
    fitting, text = render_within(best, question.max_tokens)
    return Recalled(fitting, text, count_tokens(text), skipped, until)


def _select_sources(question: Question) -> tuple[list[SourceName], list[SourceName]]:
    """Select the sources that support all filters of a question; return the others, too."""
    given = {name for name in _FILTERS if getattr(question, name)}
    if question.query is not None:
        given.discard("vector")
    known = [name for name in question.sources if given <= _KNOWN_FILTERS[name]]
    return known, [name for name in question.sources if name not in known]


def _is_wanted(question: Ask, time: int, *references: str) -> bool:
    return (
        (question.since is None or time >= question.since)
        and (question.until is None or time < question.until)
        and question.excluded_references.isdisjoint(references)
    )


def _build_searches(caller: Principal, question: Question) -> list[MemorySearch]:
    namespace = question.namespace
    if question.user_id is not None:
        own = f"users/{encode_segment(question.user_id)}/"
        if namespace is not None and not namespace.startswith(own):
            return []
        namespace = namespace or f"{own}*"
    tiers = [SEMANTIC] if question.agent_id is None else []
    has_private = question.agent_id is not None or caller.kind == "agent"
    if question.user_id is None and has_private:
        tiers += [WORKING, EPISODIC]
    return [
        MemorySearch(
            query=question.query,
            vector=question.vector,
            top_k=question.top_k,
            memory_type=tier.name,
            namespace=namespace,
            agent_id=question.agent_id if tier.is_private else None,
            tags=question.tags,
            fields=question.fields,
        )
        for tier in tiers
    ]


def _rate(item: RecallItem, found: Found[Any] | FoundMessage) -> RecallItem:
    """Explain the score of an item."""
    matched, parts = tuple(found.matched), found.parts
    return replace(item, score=found.score, matched=matched, explanation=parts)
