"""Facts, and results of a recall (ADR-043 Tier 3, contract §8)."""

from collections.abc import Mapping
from typing import NamedTuple


class Fact(NamedTuple):
    """A fact. Times are epoch ms; `metadata` is compact JSON."""

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    agent_type: str | None
    run: str | None
    metadata: bytes | None
    learner: str
    version: int
    created: int
    updated: int
    request: bytes | None = None

    @property
    def filters(self) -> dict[str, str]:
        """The attributes that a recall may filter by."""
        filters = {
            "subject": self.subject,
            "predicate": self.predicate,
            "agent_type": self.agent_type,
            "learned_from_run_id": self.run,
        }
        return {name: each for name, each in filters.items() if each is not None}

    @property
    def text(self) -> str:
        """The statement, which is embedded."""
        return f"{self.subject} {self.predicate} {self.object}"

    def matches(self, filters: Mapping[str, str], min_confidence: float) -> bool:
        """Whether the fact has these attributes and at least this confidence."""
        return self.confidence >= min_confidence and filters.items() <= self.filters.items()


class Recalled(NamedTuple):
    """A fact that a recall found.

    Attributes:
        score: how well it fits the query: 1 for its very words, about 0.2 at least.
        matched: the words and ids of the query that it has.
    """

    fact: Fact
    score: float
    matched: list[str]
