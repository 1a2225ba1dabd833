"""Facts, and results of a recall (ADR-043 Tier 3)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from functions.platform.idempotency import RequestHistory
from functions.platform.keys import encode_timestamp, hash_fact

FactChange = Literal["ended", "held_again", "merged", "evidence_added", "weakened", "undone"]


class Fact(NamedTuple):
    """A fact. Times are epoch ms; `metadata` is compact JSON.

    Attributes:
        learned_from_run_id: the last run that learned it.
        learned_from_run_ids: the latest runs that learned it, the last one at the end.
        user_id: the user whom the fact is about; access is that of `users/{user_id}/memory`.
        valid_until: when it ceases to hold; None: it still holds.
        earlier_periods: when it held before that: pairs of `valid_from` and `valid_until`.
        replaced_facts: the ids of the facts that it ended.
        merged_into: the id of the fact that remains of facts that say the same.
        weakened: how often its confidence was lowered for disuse, since it was last used.
        recalled_at: when a recall last returned it, up to a day too early; 0: never.
        has_chain: whether the item of its chain names it.
        changes: the latest changes, each with `time`, `actor` and `change`; the last one at the
            end.
    """

    fact_id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    learned_by: str
    version: int
    created_at: int
    updated_at: int
    agent_type: str | None = None
    learned_from_run_id: str | None = None
    metadata: bytes | None = None
    requests: RequestHistory | None = None
    learned_from_run_ids: tuple[str, ...] = ()
    learned_count: int = 1
    first_learned_at: int = 0
    user_id: str | None = None
    valid_from: int = 0
    valid_until: int | None = None
    earlier_periods: tuple[Sequence[int], ...] = ()
    replaced_facts: tuple[str, ...] = ()
    merged_into: str | None = None
    weakened: int = 0
    recalled_at: int = 0
    has_chain: bool = False
    changes: tuple[Mapping[str, str | int], ...] = ()

    @property
    def filters(self) -> dict[str, str]:
        """The attributes that a recall may filter by."""
        filters = {
            "subject": self.subject,
            "predicate": self.predicate,
            "agent_type": self.agent_type,
            "learned_from_run_id": self.learned_from_run_id,
        }
        return {name: each for name, each in filters.items() if each is not None}

    @property
    def used_at(self) -> int:
        """The time when it was last learned or recalled."""
        return max(self.updated_at, self.recalled_at)

    @property
    def position(self) -> str:
        """Return the fact's position in lists."""
        return encode_timestamp(self.created_at) + hash_fact(self.fact_id)

    @property
    def statement(self) -> tuple[str, str, str, str | None]:
        """The subject, predicate and object, and the user whom they are about."""
        return self.subject, self.predicate, self.object, self.user_id

    @property
    def text(self) -> str:
        """The text of the statement, which is embedded."""
        return f"{self.subject} {self.predicate} {self.object}"

    @property
    def chain(self) -> tuple[str, str, str | None]:
        """Return the key of its chain: the facts that replace each other have the same."""
        return self.subject, self.predicate, self.user_id

    def matches(self, filters: Mapping[str, str]) -> bool:
        """Tell whether the fact has these attributes."""
        return filters.items() <= self.filters.items()

    def at(self, time: int) -> "Fact | None":
        """Return the fact with the period in which it held at a time; None if it did not hold."""
        for each in self.split_periods():
            if each.valid_from <= time and (each.valid_until is None or time < each.valid_until):
                return each
        return None

    def split_periods(self) -> "list[Fact]":
        """Return the fact once for each period in which it held."""
        earlier = (
            self._replace(valid_from=one, valid_until=two) for one, two in self.earlier_periods
        )
        return [*earlier, self]


class Validity(NamedTuple):
    """The validity of a fact: what it replaced, and what contradicts it.

    Attributes:
        replaced: the facts that it ended.
        conflicting: other facts that hold, if the predicate has one value at a time.
    """

    replaced: Sequence[Fact]
    conflicting: Sequence[Fact]


class FactQuery(NamedTuple):
    """Selects facts of a tenant; a field of None selects all."""

    subject: str | None = None
    predicate: str | None = None
    learned_from_run_id: str | None = None
    agent_type: str | None = None
    user_id: str | None = None

    @property
    def filters(self) -> dict[str, str]:
        """The attributes that a vector index filters by."""
        return {name: each for name, each in self._asdict().items() if each and name != "user_id"}

    def matches(self, fact: Fact) -> bool:
        """Tell whether the fact is selected; any run that learned it selects it."""
        return (
            self.subject in (None, fact.subject)
            and self.predicate in (None, fact.predicate)
            and self.agent_type in (None, fact.agent_type)
            and self.user_id in (None, fact.user_id)
            and (
                self.learned_from_run_id is None
                or self.learned_from_run_id in fact.learned_from_run_ids
            )
        )
