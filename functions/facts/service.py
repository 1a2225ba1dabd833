"""Use cases of facts (ADR-043 Tier 3), which belong to the tenant until they are deleted.

The vector index only finds candidates: recalled facts are read from the table.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize
from functions.facts.authority import CHANGE_FACT, DECLARE_PREDICATE, DELETE_FACT, UserAccess
from functions.facts.model import Fact, FactQuery, Validity
from functions.facts.requests import NewFact, Recall
from functions.facts.rules import derive_fact_id, relearn
from functions.facts.store import (
    FactStore,
    Replacement,
    StoredFact,
    decode_fact,
    decode_stored,
    name_replaced,
)
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform import item_types
from functions.platform.bounded_pages import (
    BoundedPage,
    Examined,
    WantedPage,
    select_shown,
    take_page,
)
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.items import Item
from functions.platform.json_text import dumps_checked
from functions.platform.keys import get_tenant, hash_fact
from functions.platform.limits import (
    MAX_FACT_METADATA_BYTES,
    MAX_GET_ITEMS,
    MAX_WRITTEN_TOGETHER,
)
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff, retry_on
from functions.platform.run_keys import DAY
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.vectors.hybrid import Found, Query, VectorSearch, read_query
from functions.vectors.model import search_with_expansion

_SCORE_STEP = 0.000001  # the smallest difference of two scores
_BUSY, _ATTEMPTS = "others are writing this fact", 30


class _Place(NamedTuple):
    """The place where a fact is learned: what is stored there, and the item that refers to it."""

    stored: StoredFact
    reference: StoredFact | None = None

    @property
    def deleted(self) -> Fact | None:
        """The fact whose item becomes the reference."""
        return None if self.reference is None else self.reference.fact


@dataclass(eq=False)
class Facts:
    """The facts of a caller's tenant.

    Methods that take a `fact_id` raise `NotFound` if the tenant has no such fact.
    """

    _store: FactStore
    _vector_search: VectorSearch
    _audit: AuditTrail
    _namespaces: Namespaces
    _clock: Clock

    def learn(
        self, caller: Principal, news: Sequence[NewFact], token: RequestToken | None
    ) -> list[tuple[Fact, bool]]:
        """Store facts, all or none; return each, and whether it is new.

        Learning the same statement again updates the existing fact, even if the caller sends
        another id: `learned_count` grows, and the later confidence applies. A new statement with a
        known id replaces that fact. If a third fact has this statement, the third is updated, and
        the replaced one is deleted.

        Raises:
            ValidationFailed: two facts have the same statement or id; `index` is the second one's.
            ValueTooLarge: the metadata have over `MAX_FACT_METADATA_BYTES` as compact JSON.
            Unavailable: the embedding service doesn't answer.
            AccessDenied: a fact is about a user whose memory the caller may not write.
        """
        now = self._clock()
        facts = [_build_fact(caller, new, now) for new in news]
        _assert_different(facts)
        users = UserAccess(self._namespaces, caller)
        for fact in facts:
            users.assert_writable(fact.user_id)
        places = [
            _Place(StoredFact(fact.fact_id))
            if new.fact_id is None
            else self._find_place(caller.tenant, fact, None)
            for fact, new in zip(facts, news, strict=True)
        ]
        backoff, has_failed = Backoff(_BUSY, attempts=_ATTEMPTS), False
        while True:
            known = [place.stored.fact for place in places]
            if token is not None and all(
                each and token.judge(each.requests) is not Verdict.NEW for each in known
            ):
                return [(each, each.version == 1) for each in known if each is not None]
            for each in filter(None, (*known, *(place.deleted for place in places))):
                users.assert_writable(each.user_id)
            after = [
                _learn_at(place, fact, token) for place, fact in zip(places, facts, strict=True)
            ]
            replacing = [new.replaces is not None for new in news]
            written = {each.id for place in places for each in place if each is not None}
            starts = [fact.valid_from for fact in facts]
            replacements = self._store.find_replacements(
                caller.tenant, after, starts, replacing, written, now
            )
            after = list(map(name_replaced, after, replacements))
            try:
                self._store.write(self._build_writes(caller, after, places, replacements))
            except ConditionFailed as changed:
                if has_failed:
                    backoff.wait()
                has_failed = True
                places = [
                    self._find_place_again(caller.tenant, *each, changed)
                    for each in zip(facts, news, strict=True)
                ]
            else:
                return [(each, old is None) for each, old in zip(after, known, strict=True)]

    def _build_writes(
        self,
        caller: Principal,
        facts: Sequence[Fact],
        places: Sequence[_Place],
        replacements: Sequence[Replacement | None],
    ) -> list[Write]:
        tenant = caller.tenant
        writes = [
            write
            for fact, place in zip(facts, places, strict=True)
            for write in self._store.build_writes(
                tenant,
                fact,
                self._vector_search.embed_stored(fact.text),
                place.stored.version,
                place.reference,
            )
        ]
        for fact, replacement in zip(facts, replacements, strict=True):
            if replacement is not None:
                writes += self._store.build_replacement(tenant, fact, replacement)
                for each in replacement.before:
                    writes += self._record(caller, CHANGE_FACT, each, {"replaced_by": fact.fact_id})
        for fact, place in zip(facts, places, strict=True):
            writes += self._record(
                caller, CHANGE_FACT, place.stored.fact, {"version": fact.version}
            )
            writes += self._record(caller, DELETE_FACT, place.deleted)
        if len(writes) > MAX_WRITTEN_TOGETHER:
            raise ValidationFailed(
                "facts", "replace too many facts in one request; send fewer facts"
            )
        return writes

    def _find_place_again(
        self, tenant: str, fact: Fact, new: NewFact, changed: ConditionFailed
    ) -> _Place:
        """Find the place of a fact after a conflict; the error may have the present item."""
        item = changed.failed.get(item_types.FACT.build_key(tenant, fact=fact.fact_id))
        is_known = new.fact_id is None and item is not None
        stored = decode_stored(fact.fact_id, item) if is_known else None
        return self._find_place(tenant, fact, stored)

    def _find_place(self, tenant: str, fact: Fact, stored: StoredFact | None) -> _Place:
        """Find the place of a fact: its id, or the id under which its statement is stored.

        Args:
            stored: the item at the fact's id; None if it isn't read yet.
        """
        own = stored or self._store.get(tenant, fact.fact_id)
        derived = derive_fact_id(*fact.statement)
        known = own if fact.fact_id == derived else self._store.get(tenant, derived)
        same = self._find_statement(tenant, fact, known)
        if same is not None:
            return _Place(same, None if own.fact is None else own)
        is_referred = known is own or known.fact is not None or known.same_as == fact.fact_id
        return _Place(own, None if is_referred else known)

    def _find_statement(self, tenant: str, fact: Fact, known: StoredFact) -> StoredFact | None:
        """Find a fact of another id with the same statement; `known` is at the derived id."""
        if (known.same_as or known.id) == fact.fact_id:
            return None
        same = known if known.same_as is None else self._store.get(tenant, known.same_as)
        says_so = same.fact is not None and same.fact.statement == fact.statement
        return same if says_so else None

    def get(self, caller: Principal, id: str) -> Fact:
        """Get one fact: one read.

        Raises:
            AccessDenied: the fact is about a user whose memory the caller may not read.
        """
        fact = self._store.get(caller.tenant, id).fact
        if fact is None:
            raise NotFound("there is no such fact")
        UserAccess(self._namespaces, caller).assert_readable(fact.user_id)
        return fact

    def list_chain(self, caller: Principal, id: str) -> list[Fact]:
        """Return the chain of a fact: all with its subject, predicate and user, the latest first.

        A fact that held for several periods is returned once for each.

        Raises:
            AccessDenied: the fact is about a user whose memory the caller may not read.
        """
        fact = self.get(caller, id)
        query = FactQuery(subject=fact.subject, predicate=fact.predicate, user_id=fact.user_id)
        listed = select_shown(self._store.list_newest(caller.tenant, query))
        chain = {each.fact_id: each for each in listed if each.chain == fact.chain}
        chain |= {id: fact}
        periods = (period for each in chain.values() for period in each.split_periods())
        return sorted(periods, key=lambda each: (-each.valid_from, each.fact_id))

    def find_conflicts(
        self, caller: Principal, facts: Sequence[Fact], *, looks_further: bool = False
    ) -> dict[str, list[Fact]]:
        """Find the other present values of each fact's single-valued predicate.

        Args:
            looks_further: whether to search beyond these facts: two calls for each subject with
                such a predicate.
        """
        chains = [each.chain for each in facts]
        if not facts or (not looks_further and len({*chains}) == len(chains)):
            return {}
        single = self._store.list_single_valued(caller.tenant)
        known = {each.fact_id: each for each in facts if each.predicate in single}
        if looks_further:
            queries = {
                each.chain: FactQuery(each.subject, each.predicate) for each in known.values()
            }
            users, now = UserAccess(self._namespaces, caller), self._clock()
            listed = run_parallel(
                [partial(self._list_open, caller.tenant, each, now) for each in queries.values()]
            )
            others = (each for found in listed for each in found if users.can_read(each.user_id))
            known = {each.fact_id: each for each in others} | known
        return {
            fact.fact_id: [
                each
                for id, each in known.items()
                if id != fact.fact_id and each.chain == fact.chain
            ]
            for fact in facts
            if fact.fact_id in known
        }

    def _list_open(self, tenant: str, query: FactQuery, now: int) -> list[Fact]:
        listed = islice(self._store.list_newest(tenant, query), MAX_GET_ITEMS)
        return [each for each in select_shown(listed) if each.at(now) and each.valid_until is None]

    def explain_validity(
        self, caller: Principal, facts: Sequence[Fact], *, is_past: bool = False
    ) -> dict[str, Validity]:
        """Find what each of these facts replaced, and which others contradict it.

        Args:
            is_past: whether the facts held in the past, so that only they contradict each other.
        """
        ended = {hash_fact(each): each for fact in facts for each in fact.replaced_facts}
        users = UserAccess(self._namespaces, caller)
        found = self._store.get_many(caller.tenant, ended) if ended else {}
        readable = {each.fact_id: each for each in found.values() if users.can_read(each.user_id)}
        conflicts = self.find_conflicts(caller, facts, looks_further=not is_past)
        return {
            fact.fact_id: Validity(
                [readable[each] for each in fact.replaced_facts if each in readable],
                conflicts.get(fact.fact_id, ()),
            )
            for fact in facts
        }

    def list_single_valued(self, caller: Principal) -> list[str]:
        """Return the predicates that have one value at a time, in order."""
        return sorted(self._store.list_single_valued(caller.tenant))

    def declare(self, caller: Principal, predicate: str, *, is_single_valued: bool) -> None:
        """Declare whether a predicate has one value at a time.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            ValidationFailed: the tenant has declared 500 predicates.
        """
        authorize(caller, DECLARE_PREDICATE, None)
        target, after = f"predicate:{predicate}", {"single_valued": is_single_valued}
        record = self._audit.record(caller, DECLARE_PREDICATE, target, None, after)
        self._store.declare(caller.tenant, predicate, record, is_single_valued=is_single_valued)

    def list_page(
        self,
        caller: Principal,
        query: FactQuery,
        wanted: WantedPage,
        as_of: int | None = None,
        *,
        has_ended: bool = False,
    ) -> BoundedPage[Fact]:
        """List the facts that a query selects, newest first, from an index that may lag.

        Args:
            as_of: when they held (epoch ms); None is now.
            has_ended: whether facts that no longer hold are listed, too.
        """
        users = UserAccess(self._namespaces, caller)
        time = self._clock() if as_of is None else as_of

        def examine() -> Iterator[Examined[Fact]]:
            for group in self._store.list_groups(caller.tenant, query, wanted):
                users.load(each.element.user_id for each in group if each.element is not None)
                for position, element in group:
                    fact = element if element is None or has_ended else element.at(time)
                    is_shown = fact is not None and users.can_read(fact.user_id)
                    yield Examined(position, fact if is_shown else None)

        return take_page(wanted, examine())

    def forget_all(self, caller: Principal, query: FactQuery) -> int:
        """Delete the facts that a query selects; return their number.

        Raises:
            AccessDenied: the caller has neither `memory.write` nor `memory.admin`.
        """
        authorize(caller, DELETE_FACT, None)
        deleted = 0
        users = UserAccess(self._namespaces, caller)
        for group in self._store.list_groups(caller.tenant, query):
            facts = list(select_shown(group))
            users.load(fact.user_id for fact in facts)
            for fact in facts:
                if users.can_delete(fact.user_id):
                    with suppress(NotFound):
                        self.forget(caller, fact.fact_id, None)
                        deleted += 1
        return deleted

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def forget(self, caller: Principal, id: str, version: int | None) -> None:
        """Delete a fact.

        Raises:
            AccessDenied: the caller has neither `memory.write` nor `memory.admin`.
            VersionMismatch: If-Match names another version than the present one.
        """
        authorize(caller, DELETE_FACT, None)
        fact = self._store.get(caller.tenant, id).fact
        if fact is None:
            raise NotFound("there is no such fact")
        UserAccess(self._namespaces, caller).assert_deletable(fact.user_id)
        if version not in (None, fact.version):
            raise VersionMismatch.of("the fact", fact.version)
        reference = self._find_reference(caller.tenant, fact)
        audit = self._record(caller, DELETE_FACT, fact)
        self._store.delete(caller.tenant, fact, reference, audit)

    def _find_reference(self, tenant: str, fact: Fact) -> StoredFact | None:
        derived = derive_fact_id(*fact.statement)
        stored = None if fact.fact_id == derived else self._store.get(tenant, derived)
        return stored if stored is not None and stored.same_as == fact.fact_id else None

    def _record(
        self,
        caller: Principal,
        action: Action[Any],
        fact: Fact | None,
        after: dict[str, Any] | None = None,
    ) -> list[Write]:
        if fact is None or fact.learned_by == caller.id:
            return []
        before = {"learned_by": fact.learned_by, "version": fact.version}
        return [self._audit.record(caller, action, f"fact:{fact.fact_id}", before, after)]

    def recall(self, caller: Principal, request: Recall) -> list[Found[Fact]]:
        """Find the `top_k` facts that fit the query best by meaning, words and ids; best first.

        Raises:
            Unavailable: no embedding model is installed, or it doesn't answer.
        """
        filters = request.filters
        least = filters.min_confidence or 0.0

        def accept(fact: Fact) -> bool:
            return fact.confidence >= least

        asked = FactQuery(**filters.model_dump(exclude={"min_confidence"}))
        best = self.find(caller, request.query, asked, accept, request.top_k, request.as_of)
        return [each for each in best if each.score >= request.min_score]

    def find(
        self,
        caller: Principal,
        text: str,
        asked: FactQuery,
        accept: Callable[[Fact], bool],
        top_k: int,
        as_of: int | None = None,
    ) -> list[Found[Fact]]:
        """Find the `top_k` facts that fit a query best; best first.

        Args:
            asked: selects facts; its run must be the last one that learned a fact.

        Raises:
            Unavailable: no embedding model is installed, or it does not answer.
        """
        time = self._clock() if as_of is None else as_of
        embedding = self._vector_search.embed_query(text)
        query = read_query(text)
        users, user_id = UserAccess(self._namespaces, caller), asked.user_id
        space, filters = item_types.FACT.build_partition(caller.tenant), asked.filters

        def search(depth: int) -> tuple[list[Found[Fact]], bool]:
            found = self._vector_search.index.find_candidates(space, embedding, depth, filters)
            cosines, ranked = found.cosines, query.use_statistics(found.statistics)
            read = partial(users.load_with, user_id) if cosines and user_id is not None else None
            facts = self._store.get_many(caller.tenant, cosines, read)
            held = (
                (ref, each.at(time))
                for ref, each in facts.items()
                if each.matches(filters) and user_id in (None, each.user_id)
            )
            recalled = [
                Found(fact, *ranked.compare(cosines[ref], fact.text, fact.subject))
                for ref, fact in held
                if fact is not None and accept(fact) and users.can_read(fact.user_id)
            ]
            return _put_named_first(query, recalled), found.is_complete

        best = search_with_expansion(top_k, self._vector_search.index.max_results, search)
        if as_of is None:
            self._note_recall(caller.tenant, best)
        return best

    def _note_recall(self, tenant: str, found: Sequence[Found[Fact]]) -> None:
        """Note when facts were recalled, each once a day at most: a write for each."""
        now = self._clock()
        unused = [each.element for each in found if each.element.used_at < now - DAY]
        run_parallel([partial(self._store.note_recall, tenant, fact, now) for fact in unused])

    def reembedding_jobs(self, items: Iterable[Item]) -> list[Callable[[], None]]:
        """Build a job for each of these items whose vector is of another model or index."""
        matches = self._vector_search.format.matches
        return [partial(self._reembed, item) for item in items if not matches(item)]

    def _reembed(self, item: Item) -> None:
        fact = decode_fact(item)
        if fact is None:
            return
        embedding = self._vector_search.embed(fact.text)
        with suppress(ConditionFailed):  # the change of the fact has embedded it
            self._store.replace_vector(get_tenant(item["pk"]), fact, embedding)


def _put_named_first(query: Query, recalled: Iterable[Found[Fact]]) -> list[Found[Fact]]:
    """Sort facts by score; facts whose subject the query names come first (CONTRACT §8).

    The scores of all other facts are lowered below the last of these.
    """
    best = sorted(recalled, key=lambda each: (-each.score, each.element.fact_id))
    named = [each for each in best if query.names(each.element.subject)]
    if not named:
        return best
    limit = named[-1].score
    others = (each for each in best if not query.names(each.element.subject))
    return named + [
        each._replace(score=min(each.score, round(limit - place * _SCORE_STEP, 6)))
        for place, each in enumerate(others, 1)
    ]


def _learn_at(place: _Place, fact: Fact, token: RequestToken | None) -> Fact:
    version = max((place.stored.version or 0) + 1, fact.version)
    merged = relearn(place.stored.fact, fact, token)
    return merged._replace(fact_id=place.stored.id, version=version)


def _assert_different(facts: Sequence[Fact]) -> None:
    seen: set[object] = set()
    for index, fact in enumerate(facts):
        if fact.statement in seen or fact.fact_id in seen:
            raise ValidationFailed("facts", "must not have the same fact twice").at(index)
        seen |= {fact.statement, fact.fact_id}


def _build_fact(caller: Principal, new: NewFact, now: int) -> Fact:
    metadata = None
    if new.metadata is not None:
        said = "the metadata have"
        metadata = dumps_checked(new.metadata, "metadata", MAX_FACT_METADATA_BYTES, subject=said)
    start = now if new.valid_from is None else new.valid_from
    if new.valid_until is not None and new.valid_until <= start:
        raise ValidationFailed(
            "valid_until", "must be later than valid_from, which is now by default"
        )
    return Fact(
        fact_id=new.fact_id or derive_fact_id(new.subject, new.predicate, new.object, new.user_id),
        subject=new.subject,
        predicate=new.predicate,
        object=new.object,
        confidence=new.confidence,
        agent_type=new.agent_type,
        learned_from_run_id=new.learned_from_run_id,
        metadata=metadata,
        learned_by=caller.id,
        version=1,
        created_at=now,
        updated_at=now,
        learned_from_run_ids=() if new.learned_from_run_id is None else (new.learned_from_run_id,),
        first_learned_at=now,
        user_id=new.user_id,
        valid_from=start,
        valid_until=new.valid_until,
    )
