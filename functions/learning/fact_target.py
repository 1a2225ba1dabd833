"""Store what a strategy learns as facts about the user of the conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from functions.facts.model import Fact
from functions.facts.rules import derive_fact_id, end_fact, relearn
from functions.facts.store import (
    FactChainStore,
    FactStore,
    Replacement,
    StoredFact,
    name_replaced,
)
from functions.identity.model import SERVICE
from functions.learning.evidence import Document, Reading, add_place, build_place
from functions.learning.plans import Known, Plan, build_row_write
from functions.learning.prompts import FactChange, ModelAnswer, ReadMessage
from functions.learning.store import LearnedStore, build_learned_removal
from functions.platform.json_text import dumps, loads
from functions.platform.keys import hash_fact
from functions.platform.limits import MAX_FACT_METADATA_BYTES, MAX_KNOWN_ITEMS
from functions.platform.writes import Write
from functions.vectors.hybrid import VectorSearch


class _New(NamedTuple):
    """A fact as it becomes, the messages that say it, and the version that is stored."""

    fact: Fact
    messages: list[ReadMessage]
    seen: int | None


@dataclass(eq=False)
class LearnedFacts:
    """The facts about users."""

    _store: FactStore
    _chains: FactChainStore
    _learned: LearnedStore
    _vector_search: VectorSearch

    def name(self, reading: Reading) -> str:
        """Name whose memory it is, and what kind of item."""
        return f"facts {reading.conversation.user_id}"

    def list_known(self, reading: Reading) -> list[Known]:
        """List the facts about the user that strategies have learned and that hold."""
        rows = self._learned.list_known(reading.tenant, self.name(reading), MAX_KNOWN_ITEMS)
        by_ref = {hash_fact(each.ref): each for each in reversed(rows)}
        found = self._store.get_many(reading.tenant, by_ref)
        held = [each for each in found.values() if _is_own(each, reading)]
        return [
            Known(f"k{number}", by_ref[hash_fact(each.fact_id)], each, _show(f"k{number}", each))
            for number, each in enumerate(held, 1)
        ]

    def plan(self, reading: Reading, answer: ModelAnswer, known: Sequence[Known], now: int) -> Plan:
        """Plan which facts are added, learned again, and ended."""
        facts = {each.id: each.stored for each in known}
        changes = [each for each in answer.changes if isinstance(each, FactChange)]
        ended = {
            each.known: reading.select(each.messages)
            for each in changes
            if each.action != "add" and each.known is not None
        }
        new = self._build_new(reading, changes, facts, now)
        stays = {each.fact.fact_id for each in new}
        writes = [
            self._store.build_change(reading.tenant, fact, end_fact(fact, time, now, SERVICE.id))
            for id, messages in ended.items()
            if (fact := facts[id]).fact_id not in stays
            for time in [_get_time(messages, now)]
        ]
        count = len(writes)
        writes += [build_learned_removal(each.row) for each in known if each.id in ended]
        written = stays | {facts[id].fact_id for id in ended}
        firsts = list({each.fact.chain: each for each in reversed(new)}.values())
        starts, no = [_get_time(each.messages, now) for each in firsts], [False] * len(firsts)
        found = self._chains.find_replacements(
            reading.tenant, [each.fact for each in firsts], starts, no, written, now
        )
        replacements = {each.fact.fact_id: by for each, by in zip(firsts, found, strict=True)}
        for each in new:
            writes += self._build_writes(reading, each, replacements.get(each.fact.fact_id), now)
        return Plan(writes, learned=len(new), ended=count)

    def _build_new(
        self, reading: Reading, changes: Sequence[FactChange], known: dict[str, Fact], now: int
    ) -> list[_New]:
        """Build the facts that are added; the same statement twice is one fact."""
        new: dict[str, _New] = {}
        for change in changes:
            if change.action == "end":
                continue
            messages = reading.select(change.messages)
            fact = _build_fact(reading, change, messages, now)
            stored = self._find(reading.tenant, fact)
            if fact.fact_id in new or not messages:
                continue
            replaced = known[change.known].fact_id if change.known else None
            new[fact.fact_id] = _learn(reading, fact, stored, messages, replaced)
        return list(new.values())

    def _find(self, tenant: str, fact: Fact) -> StoredFact:
        """Find what is stored of a statement, under its own id or under that of a caller."""
        stored = self._store.get(tenant, fact.fact_id)
        return stored if stored.same_as is None else self._store.get(tenant, stored.same_as)

    def _build_writes(
        self, reading: Reading, new: _New, replacement: Replacement | None, now: int
    ) -> list[Write]:
        """Build the writes of a fact, of those that a single-valued predicate ends, and its row."""
        tenant, fact = reading.tenant, name_replaced(new.fact, replacement)
        embedding = self._vector_search.embed_stored(fact.text)
        row = build_row_write(
            self._learned, reading, self.name(reading), fact.fact_id, new.messages, now
        )
        return [
            *self._store.build_writes(tenant, fact, embedding, new.seen, None),
            *([] if replacement is None else self._chains.build_writes(tenant, fact, replacement)),
            row,
        ]


def _learn(
    reading: Reading,
    fact: Fact,
    stored: StoredFact,
    messages: list[ReadMessage],
    replaced: str | None,
) -> _New:
    """Merge a fact with what is stored of it, and add the place that it was learned from."""
    known = stored.fact
    if known is not None and (known.valid_until is None or fact.valid_from < known.valid_until):
        fact = fact._replace(valid_from=fact.updated_at)  # it still holds, or again from now on
    merged = relearn(known, fact, None)
    before = None if known is None or known.metadata is None else loads(known.metadata)
    document: Document | None = before if isinstance(before, dict) else None
    metadata = dumps(add_place(document, build_place(reading, messages)))
    if len(metadata) > MAX_FACT_METADATA_BYTES:
        metadata = dumps(add_place(None, build_place(reading, messages)))
    ids = (replaced,) if replaced is not None and replaced != fact.fact_id else ()
    id = fact.fact_id if known is None else known.fact_id
    merged = merged._replace(
        fact_id=id,
        metadata=metadata,
        version=max((stored.version or 0) + 1, fact.version),
        replaced_facts=(*merged.replaced_facts, *ids),
        learned_by=SERVICE.id if known is None else known.learned_by,
    )
    return _New(merged, messages, stored.version)


def _build_fact(
    reading: Reading, change: FactChange, messages: Sequence[ReadMessage], now: int
) -> Fact:
    statement = (change.subject, change.predicate, change.object)
    user = reading.conversation.user_id
    return Fact(
        derive_fact_id(*statement, user),
        *statement,
        confidence=change.confidence,
        learned_by=SERVICE.id,
        version=1,
        created_at=now,
        updated_at=now,
        first_learned_at=now,
        user_id=user,
        valid_from=_get_time(messages, now),
    )


def _get_time(messages: Sequence[ReadMessage], now: int) -> int:
    """Get the time of the last of some messages; one in the future is now."""
    return min(max((each.time for each in messages), default=now), now)


def _is_own(fact: Fact, reading: Reading) -> bool:
    """Tell whether strategies alone have learned a fact of this user, and it holds."""
    is_open = fact.valid_until is None and fact.merged_into is None
    is_users = fact.user_id == reading.conversation.user_id
    return is_open and is_users and fact.learned_by == SERVICE.id


def _show(id: str, fact: Fact) -> dict[str, str]:
    return {"id": id, "subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
