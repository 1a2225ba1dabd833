"""Store learned facts about the user of the conversation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from functions.facts.model import Fact
from functions.facts.rules import derive_fact_id, end_fact, relearn
from functions.facts.store import FactStore, StoredFact, name_replaced
from functions.identity.model import SERVICE
from functions.learning.evidence import (
    Document,
    Reading,
    add_place,
    build_place,
    list_places,
    remove_messages,
)
from functions.learning.model import LearnedItem
from functions.learning.prompts import FactChange, ModelAnswer, ReadMessage
from functions.learning.target import Ended, Known, Learned, Target
from functions.platform.json_text import dumps, loads
from functions.platform.keys import hash_fact
from functions.platform.limits import MAX_FACT_METADATA_BYTES
from functions.platform.writes import Write
from functions.vectors.hybrid import VectorSearch


@dataclass(eq=False)
class LearnedFacts(Target):
    """The facts about users."""

    _store: FactStore
    _vector_search: VectorSearch

    def list_known(self, reading: Reading) -> list[Known]:
        """List the present facts about the user that strategies have learned."""
        by_ref = {hash_fact(ref): row for ref, row in self.list_rows(reading).items()}
        found = self._store.get_many(reading.tenant, by_ref)
        held = [each for each in found.values() if _is_own(each, reading)]
        return [
            Known(f"k{number}", by_ref[hash_fact(each.fact_id)], each, _show(f"k{number}", each))
            for number, each in enumerate(held, 1)
        ]

    def build(
        self, reading: Reading, answer: ModelAnswer, known: Mapping[str, Known], now: int
    ) -> tuple[dict[str, Learned], int]:
        """Build the new facts; a repeated statement is one fact."""
        learned: dict[str, Learned] = {}
        for change in answer.changes:
            if change.action == "end" or not isinstance(change, FactChange):
                continue
            if not (messages := reading.select(change.messages)):
                continue
            fact = _build_fact(reading, change, messages, now)
            replaced = known[change.known or ""].stored if change.action == "replace" else fact
            stored = self._find(reading.tenant, fact)
            after = _learn(reading, fact, stored, messages, replaced.fact_id)
            learned.setdefault(after.fact_id, Learned(after, messages))
        return learned, 0

    def _find(self, tenant: str, fact: Fact) -> StoredFact:
        """Find a stored statement, under its derived id or under a caller's id."""
        stored = self._store.get(tenant, fact.fact_id)
        return stored if stored.same_as is None else self._store.get(tenant, stored.same_as)

    def build_writes(
        self, reading: Reading, learned: Collection[Learned], ended: Collection[Ended], now: int
    ) -> list[Write]:
        """Build the writes of facts, and of the facts that they end."""
        tenant = reading.tenant
        writes = [
            self._store.build_change(
                tenant, each.stored, end_fact(each.stored, _get_time(said, now), now, SERVICE.id)
            )
            for each, said in ended
        ]
        facts = [*(each.item for each in learned), *(each.stored for each, _ in ended)]
        firsts = list({each.item.chain: each for each in reversed([*learned])}.values())
        found = self._store.find_replacements(
            tenant,
            [each.item for each in firsts],
            [_get_time(each.messages, now) for each in firsts],
            [False] * len(firsts),
            {each.fact_id for each in facts},
            now,
        )
        by_id = {each.item.fact_id: by for each, by in zip(firsts, found, strict=True)}
        for each in learned:
            replacement = by_id.get(each.item.fact_id)
            fact = name_replaced(each.item, replacement)
            embedding, seen = self._vector_search.embed_stored(fact.text), fact.version - 1 or None
            writes += self._store.build_writes(tenant, fact, embedding, seen, None)
            if replacement is not None:
                writes += self._store.build_replacement(tenant, fact, replacement)
        return writes

    def build_change(self, row: LearnedItem, kept: Sequence[str], now: int) -> list[Write]:
        """Build the write that reduces a fact's evidence to what is kept."""
        fact = self._store.get(row.tenant, row.ref).fact
        if fact is None or fact.metadata is None:
            return []
        document = remove_messages(loads(fact.metadata), row, kept)
        changed = fact._replace(metadata=dumps(document))
        is_over = not list_places(document) and fact.learned_by == SERVICE.id
        if is_over and fact.valid_until is None:
            changed = end_fact(changed, now, now, SERVICE.id)
        return [self._store.build_change(row.tenant, fact, changed)]


def _learn(
    reading: Reading, fact: Fact, stored: StoredFact, messages: list[ReadMessage], replaced: str
) -> Fact:
    """Merge a fact with the stored one, and add the place that it was learned from."""
    known = stored.fact
    if known is not None and (known.valid_until is None or fact.valid_from < known.valid_until):
        fact = fact._replace(valid_from=fact.updated_at)  # it still holds, or holds again now
    merged = relearn(known, fact, None)
    before = None if known is None or known.metadata is None else loads(known.metadata)
    document: Document | None = before if isinstance(before, dict) else None
    metadata = dumps(add_place(document, build_place(reading, messages)))
    if len(metadata) > MAX_FACT_METADATA_BYTES:
        metadata = dumps(add_place(None, build_place(reading, messages)))
    ids = () if replaced == fact.fact_id else (replaced,)
    return merged._replace(
        fact_id=fact.fact_id if known is None else known.fact_id,
        metadata=metadata,
        version=max((stored.version or 0) + 1, fact.version),
        replaced_facts=(*merged.replaced_facts, *ids),
        learned_by=SERVICE.id if known is None else known.learned_by,
    )


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
    """Get the time of the last message, or the present time if that is earlier."""
    return min(max((each.time for each in messages), default=now), now)


def _is_own(fact: Fact, reading: Reading) -> bool:
    """Tell whether a fact of this user holds, and only strategies have learned it."""
    is_open = fact.valid_until is None and fact.merged_into is None
    is_users = fact.user_id == reading.conversation.user_id
    return is_open and is_users and fact.learned_by == SERVICE.id


def _show(id: str, fact: Fact) -> dict[str, str]:
    return {"id": id, "subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
