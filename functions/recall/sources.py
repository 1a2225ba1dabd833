"""Ask each source through the package that owns it, and describe what it finds alike."""

from collections.abc import Callable, Container, Iterable
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
from functions.entries.model import LEARNED_FROM, Entry
from functions.entries.read import EntryReader
from functions.entries.tiers import EPISODIC, SEMANTIC, WORKING
from functions.facts.model import Fact, RecalledFact, Validity
from functions.facts.service import Facts
from functions.identity.model import Principal
from functions.namespaces.model import encode_segment
from functions.platform import limits
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.clock import to_rfc3339
from functions.platform.json_text import list_texts, loads
from functions.platform.keys import Digest
from functions.platform.references import Reference, SourceName, build_reference, no_reference
from functions.recall.freshness import Freshness
from functions.recall.model import AnswerMessage, Neighbor, RecallItem
from functions.recall.references import build_entry_references, build_episode_references
from functions.recall.requests import ConversationQuestion, Question
from functions.recall.text import cut_text
from functions.runs.episodes import Episodes
from functions.runs.model import Episode
from functions.runs.search import EpisodeSearch, FoundEpisode, read_text
from functions.search.requests import MemorySearch
from functions.search.service import Match, Search

_KNOWN_FILTERS: dict[SourceName, frozenset[str]] = {
    "entries": frozenset({"user_id", "agent_id", "namespace", "tags", "fields", "vector"}),
    "facts": frozenset({"user_id", "agent_type", "run_id", "as_of"}),
    "messages": frozenset({"user_id", "session_id", "tags"}),
    "episodes": frozenset({"agent_type", "run_id"}),
}
_FILTERS = frozenset().union(*_KNOWN_FILTERS.values())
_MAIN = ("text", "content")  # the field of a value that says most

Ask = ConversationQuestion | Question
Job = Callable[[], tuple[list[RecallItem], int | None]]
"""Finds items, and the time (epoch ms) until which they are complete; None if they always are."""


@dataclass(eq=False)
class RecallSources:
    """Tells what recall asks."""

    _search: Search
    _entries: EntryReader
    _facts: Facts
    _conversation_search: ConversationSearch
    _conversations: Conversations
    _episode_search: EpisodeSearch
    _episodes: Episodes
    _freshness: Freshness

    def find_entries(
        self, caller: Principal, question: Question, request: MemorySearch
    ) -> tuple[list[RecallItem], int]:
        """Find entries of a tier; also return the time (epoch ms) until which they are complete."""

        def accept(entry: Entry) -> bool:
            return _is_wanted(question, _get_time(entry), partial(build_entry_references, entry))

        until, names = self._freshness.get(caller, request, is_awaited=question.wait is not None)
        found = self._search.search(
            caller, request, is_touched=False, accept=accept, namespaces=names
        )
        return [_rate(_describe_entry(each.entry), each) for each in found], until

    def find_facts(self, caller: Principal, question: Question) -> list[RecallItem]:
        """Find facts; those of a subject that the question names precede the others."""
        asked = {"agent_type": question.agent_type, "learned_from_run_id": question.run_id}
        equal = {name: value for name, value in asked.items() if value is not None}

        def accept(fact: Fact) -> bool:
            references = partial(_list_references, "facts", fact.fact_id)
            return _is_wanted(question, fact.valid_from, references)

        found = self._facts.find(
            caller,
            question.query or "",
            equal,
            accept,
            question.top_k,
            question.as_of,
            user_id=question.user_id,
        )
        facts = [each.fact for each in found]
        known = self._facts.explain_validity(caller, facts, is_past=question.as_of is not None)
        return [_rate(_describe_fact(each.fact, known[each.fact.fact_id]), each) for each in found]

    def find_messages(self, caller: Principal, question: Ask) -> list[RecallItem]:
        """Find messages of the conversations that the caller may read."""
        sessions = question.excluded_sessions

        def accept(conversation: Conversation, message: HeldMessage) -> bool:
            session = conversation.session_id
            references = partial(_list_references, "messages", session, message.index)
            return session not in sessions and _is_wanted(question, message.time, references)

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
            _rate(_describe_message(each.conversation, each.message, each.neighbors, known), each)
            for each in found
        ]

    def find_episodes(self, caller: Principal, question: Question) -> list[RecallItem]:
        """Find episodes of the tenant's runs."""

        def accept(episode: Episode) -> bool:
            is_of_run = question.run_id in (None, episode.run_id)
            references = partial(build_episode_references, episode.run_id, episode.id)
            return is_of_run and _is_wanted(question, episode.created_at, references)

        found = self._episode_search.search(
            caller, question.query or "", question.agent_type, accept, question.top_k
        )
        return [_rate(_describe_episode(each.episode), each) for each in found]

    def build_jobs(self, name: SourceName, caller: Principal, question: Question) -> list[Job]:
        """Build what searches a source; jobs of different sources run side by side."""
        match name:
            case "entries":
                requests = _build_searches(caller, question)
                return [partial(self.find_entries, caller, question, each) for each in requests]
            case "facts":
                find = self.find_facts
            case "messages":
                find = self.find_messages
            case "episodes":
                find = self.find_episodes
        return [lambda: (find(caller, question), None)]

    def get(self, caller: Principal, reference: Reference) -> RecallItem:
        """Get the item that a reference names."""
        match reference.source:
            case "entries":
                return _describe_entry(self._get_entry(caller, *reference.parts))
            case "facts":
                fact = self._facts.get(caller, reference.parts[0])
                return _describe_fact(
                    fact, self._facts.explain_validity(caller, [fact])[fact.fact_id]
                )
            case "messages":
                return self._get_message(caller, *reference.parts)
            case "episodes":
                run_id, id = reference.parts
                return _describe_episode(self._episodes.get(caller, run_id, id))

    def _get_entry(self, caller: Principal, name: str, agent: str | None = None) -> Entry:
        if name.startswith("mem_"):
            return self._entries.get(caller, name, is_touched=False)
        return self._entries.get_by_nonce(caller, name[0], name[1:], agent)

    def _get_message(self, caller: Principal, session: str, index: str) -> RecallItem:
        if not index.isdecimal():
            raise no_reference()
        conversation, message = self._conversations.get_message(caller, session, int(index))
        held = read_message(message)
        return _describe_message(conversation, held, [held])

    def list_answers(
        self, caller: Principal, reference: Digest, wanted: WantedPage
    ) -> BoundedPage[AnswerMessage]:
        """List the messages whose `uses` name an item, newest first."""
        page = self._conversations.list_uses(caller, reference, wanted)
        answers = [
            AnswerMessage(
                each.list_position,
                _describe_message(each.conversation, read_message(each.message)),
            )
            for each in page.elements
        ]
        return BoundedPage(answers, page.end, page.total)


def select_sources(question: Question) -> tuple[list[SourceName], list[SourceName]]:
    """Select the sources that know all filters of a question; return the others, too."""
    given = {name for name in _FILTERS if getattr(question, name)}
    if question.query is not None:
        given.discard("vector")
    known = [name for name in question.sources if given <= _KNOWN_FILTERS[name]]
    return known, [name for name in question.sources if name not in known]


def _is_wanted(question: Ask, time: int, list_references: Callable[[], Iterable[str]]) -> bool:
    return (
        (question.since is None or time >= question.since)
        and (question.until is None or time < question.until)
        and (not question.exclude or question.excluded_references.isdisjoint(list_references()))
    )


def _list_references(source: SourceName, *parts: str | int) -> tuple[str, ...]:
    return (build_reference(source, *parts),)


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


def _get_time(entry: Entry) -> int:
    return entry.created_at if entry.occurred_at is None else entry.occurred_at


def _rate(
    item: RecallItem, found: Match | RecalledFact | FoundMessage | FoundEpisode
) -> RecallItem:
    """Say how well an item fits the question."""
    matched, parts = tuple(found.matched), found.parts
    return replace(item, score=found.score, matched=matched, explanation=parts)


def _describe_entry(entry: Entry) -> RecallItem:
    return RecallItem(
        source="entries",
        reference=build_entry_references(entry)[0],
        id=entry.id,
        address={
            "namespace": entry.namespace,
            "key": entry.key,
            "memory_type": entry.memory_type,
            "agent_id": entry.agent_id,
        },
        text=_cut(_describe_value(None if entry.unreadable else loads(entry.value))),
        time=_get_time(entry),
        provenance={
            "created_by": entry.created_by,
            **_find_evidence(None if entry.unreadable else entry.value),
        },
    )


def _find_evidence(document: bytes | None) -> dict[str, Any]:
    """Find the messages that an entry or a fact was learned from, in its value or metadata."""
    value = None if document is None else loads(document)
    if not isinstance(value, dict) or LEARNED_FROM not in value:
        return {}
    return {LEARNED_FROM: value[LEARNED_FROM]}


def _describe_value(value: Any) -> str:
    """Describe a value in words: its main text, then its other fields in brackets."""
    if not isinstance(value, dict):
        return " ".join(list_texts(value))
    main = next((value[name] for name in _MAIN if isinstance(value.get(name), str)), None)
    others = "; ".join(
        f"{name}: {' '.join(list_texts(each))}"
        for name, each in value.items()
        if each is not main and name != LEARNED_FROM and any(list_texts(each))
    )
    if main is None:
        return others
    return f"{main} ({others})" if others else main


def _describe_fact(fact: Fact, validity: Validity) -> RecallItem:
    return RecallItem(
        source="facts",
        reference=build_reference("facts", fact.fact_id),
        id=fact.fact_id,
        address={"subject": fact.subject, "predicate": fact.predicate, "object": fact.object},
        text=_cut(fact.text + _describe_validity(fact, validity)),
        time=fact.valid_from,
        provenance={
            "valid_from": to_rfc3339(fact.valid_from),
            "valid_until": None if fact.valid_until is None else to_rfc3339(fact.valid_until),
            "replaced": [_name_fact(each) for each in validity.replaced],
            "conflicts_with": [_name_fact(each) for each in validity.conflicting],
            "learned_by": fact.learned_by,
            "learned_from_run_ids": list(fact.learned_from_run_ids),
            "confidence": fact.confidence,
            **_find_evidence(fact.metadata),
        },
    )


def _name_fact(fact: Fact) -> dict[str, str]:
    return {"reference": build_reference("facts", fact.fact_id), "object": fact.object}


def _describe_validity(fact: Fact, validity: Validity) -> str:
    """Say until when a fact held, what it replaced, and what contradicts it."""
    parts = [f"until {to_rfc3339(fact.valid_until)[:10]}"] if fact.valid_until is not None else []
    if validity.replaced:
        parts.append(f"before: {', '.join(each.object for each in validity.replaced)}")
    if validity.conflicting:
        others = ", ".join(each.object for each in validity.conflicting)
        parts.append(f"in conflict with: {others}")
    return f" ({'; '.join(parts)})" if parts else ""


def _describe_message(
    conversation: Conversation,
    message: HeldMessage,
    neighbors: Iterable[HeldMessage] = (),
    excluded: Container[str] = (),
) -> RecallItem:
    session = conversation.session_id
    return RecallItem(
        source="messages",
        reference=build_reference("messages", session, message.index),
        id=f"{session}/{message.index}",
        address={
            "session_id": session,
            "index": message.index,
            "role": message.role,
            "user_id": conversation.user_id,
        },
        text=_cut(message.content),
        time=message.time,
        provenance={"created_by": conversation.created_by},
        speaker=_name_speaker(message),
        neighbours=tuple(
            Neighbor(
                each.index,
                build_reference("messages", session, each.index),
                _name_speaker(each),
                _cut(each.content),
                each.time,
            )
            for each in neighbors
            if build_reference("messages", session, each.index) not in excluded
        ),
    )


def _name_speaker(message: HeldMessage) -> str:
    return message.speaker or message.role


def _describe_episode(episode: Episode) -> RecallItem:
    return RecallItem(
        source="episodes",
        reference=build_episode_references(episode.run_id, episode.id)[0],
        id=episode.id,
        address={"run_id": episode.run_id},
        text=_cut(read_text(episode)),
        time=episode.created_at,
        provenance={"created_by": episode.created_by},
    )


def _cut(text: str) -> str:
    return cut_text(text, limits.MAX_RECALLED_CHARACTERS) or text[: limits.MAX_RECALLED_CHARACTERS]
