"""Facts as they come and as they are kept (ADR-043 Tier 3, contract §8)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact. Times are epoch ms; `metadata` is compact JSON; `model` is what embedded it."""

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
    model: str
    request: bytes | None = None

    @property
    def filters(self) -> dict[str, str]:
        """What a recall may ask for, as it is stored."""
        filters = {
            "subject": self.subject,
            "predicate": self.predicate,
            "agent_type": self.agent_type,
            "learned_from_run_id": self.run,
        }
        return {name: each for name, each in filters.items() if each is not None}

    @property
    def text(self) -> str:
        """What is embedded: the statement, in words."""
        said = f"{self.subject} {self.predicate} {self.object}"
        return " ".join(said.replace("_", " ").replace(":", " ").split())


@dataclass(frozen=True, slots=True)
class Recalled:
    """A fact, and how alike it is to the query: the cosine of their vectors, 1 at most."""

    fact: Fact
    score: float
