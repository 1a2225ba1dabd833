"""End the facts that a new one replaces: those with its subject, predicate and user.

The item of a chain names the facts that hold. Each replacement writes it with the version that it
read, so of two replacements at once the later one ends the fact of the earlier one. Facts that were
learned without replacing any are found by the index of their subject, which may lag for a moment.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from functions.facts.model import Fact, FactQuery
from functions.facts.rules import end_fact
from functions.facts.store import FactStore, build_chain_key
from functions.platform import item_types
from functions.platform.bounded_pages import select_shown
from functions.platform.errors import ValidationFailed
from functions.platform.items import Item
from functions.platform.limits import MAX_REPLACED_FACTS, MAX_SINGLE_VALUED_PREDICATES
from functions.platform.run_keys import hash_fact
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, put_version, update


class Replacement(NamedTuple):
    """Tells what a new fact replaces.

    Attributes:
        before: the facts that it ends, as they are stored.
        after: the same facts, ended.
        seen: the version of the chain's item; None if there is none.
    """

    before: list[Fact]
    after: list[Fact]
    seen: int | None


@dataclass(eq=False)
class FactChainStore:
    """Finds and builds replacements, and keeps which predicates are single-valued."""

    _table: Table
    _store: FactStore

    def list_single_valued(self, tenant: str) -> frozenset[str]:
        """Return the predicates of a tenant that have one value at a time."""
        item = self._table.get(item_types.SINGLE_VALUED.build_key(tenant)) or {}
        predicates: frozenset[str] = item.get("predicates", frozenset())
        return predicates

    def declare(
        self, tenant: str, predicate: str, record: Write, *, is_single_valued: bool
    ) -> None:
        """Store whether a predicate has one value at a time, with the audit record."""
        key, one = item_types.SINGLE_VALUED.build_key(tenant), frozenset({predicate})
        if not is_single_valued:
            self._table.transact([update(key, "DELETE predicates :one", one=one), record])
            return
        condition = (
            "attribute_not_exists(predicates) OR size(predicates) < :most"
            " OR contains(predicates, :predicate)"
        )
        most: Item = {"most": MAX_SINGLE_VALUED_PREDICATES, "predicate": predicate}
        try:
            added = update(key, "ADD predicates :one", condition, one=one, **most)
            self._table.transact([added, record])
        except ConditionFailed as error:
            problem = f"{MAX_SINGLE_VALUED_PREDICATES} predicates are single-valued; remove one"
            raise ValidationFailed("predicate", problem) from error

    def find_replacements(
        self,
        tenant: str,
        facts: Sequence[Fact],
        starts: Iterable[int],
        replacing: Iterable[bool],
        written: Collection[str],
        now: int,
    ) -> list[Replacement | None]:
        """Find what each of these new facts replaces; None where it replaces nothing.

        Args:
            tenant: whose facts they are.
            facts: as they become.
            starts: since when each replaces others (epoch ms): a fact that still held and is
                learned again replaces them from now on.
            replacing: whether the request says that the fact replaces others.
            written: the ids that the request writes anyway.
            now: epoch ms. A fact that has ended replaces nothing.
        """
        single_valued = self.list_single_valued(tenant)
        is_replacing = [
            (each or fact.predicate in single_valued)
            and (fact.valid_until is None or fact.valid_until > now)
            for fact, each in zip(facts, replacing, strict=True)
        ]
        _assert_different_chains(facts, is_replacing)
        return [
            self._find_replacement(tenant, fact, start, written, now) if each else None
            for fact, start, each in zip(facts, starts, is_replacing, strict=True)
        ]

    def _find_replacement(
        self, tenant: str, fact: Fact, start: int, written: Collection[str], now: int
    ) -> Replacement:
        item = self._table.get(build_chain_key(tenant, fact.chain)) or {}
        found = self._store.get_many(tenant, item.get("facts", ()))
        by_id = {each.fact_id: each for each in found.values()}
        query = FactQuery(subject=fact.subject, predicate=fact.predicate, user_id=fact.user_id)
        listed = select_shown(self._store.list_newest(tenant, query))
        by_id |= {each.fact_id: each for each in listed if each.chain == fact.chain}
        others = (each for each in by_id.values() if each.fact_id not in written)
        open_facts = (each for each in others if _is_after(each.valid_until, start))
        before = list(islice(open_facts, MAX_REPLACED_FACTS))
        after = [end_fact(each, start, now, fact.learned_by) for each in before]
        return Replacement(before, after, item.get("version"))

    def build_writes(self, tenant: str, fact: Fact, replacement: Replacement) -> list[Write]:
        """Build the writes that end the replaced facts, and name the one that holds."""
        ended = [
            self._store.build_change(tenant, *each)
            for each in zip(replacement.before, replacement.after, strict=True)
        ]
        item = {
            "subject": fact.subject,
            "user_id": fact.user_id,
            "facts": [hash_fact(fact.fact_id)],
            # never a version that an item of this key had: a deleted fact takes its item with it
            "version": max((replacement.seen or 0) + 1, fact.updated_at),
        }
        named = put_version(build_chain_key(tenant, fact.chain), item, replacement.seen)
        return [*ended, named]


def _is_after(end: int | None, time: int) -> bool:
    return end is None or end > time


def _assert_different_chains(facts: Sequence[Fact], is_replacing: Iterable[bool]) -> None:
    chains = [fact.chain for fact in facts]
    for index, (chain, each) in enumerate(zip(chains, is_replacing, strict=True)):
        if each and chains.count(chain) > 1:
            problem = "replaces another fact of the batch; send them one after another"
            raise ValidationFailed("facts", problem).at(index)
