"""Facts as they come and as they are kept (ADR-043 Tier 3, contract §8)."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from functions.platform.fields import Identifier

DEFAULT_RESULTS, MOST_RESULTS = 5, 100
MOST_CHARACTERS = 8192  # of a query
MOST_METADATA_BYTES = 16_384


def _worded(text: str) -> str:
    if not text.strip():
        raise ValueError("say it in words")
    return text


Part = Annotated[str, AfterValidator(_worded), Field(min_length=1, max_length=2048)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class NewFact(BaseModel):
    """Body of `POST /api/v1/facts`."""

    model_config = ConfigDict(extra="forbid")

    subject: Part
    predicate: Part
    object: Part
    confidence: Confidence = 1.0
    fact_id: Identifier | None = None
    agent_type: Identifier | None = None
    learned_from_run_id: Identifier | None = None
    metadata: dict[str, Any] | None = None


class RecallFilters(BaseModel):
    """What recalled facts have to be like."""

    model_config = ConfigDict(extra="forbid")

    agent_type: Identifier | None = None
    subject: Part | None = None
    predicate: Part | None = None
    learned_from_run_id: Identifier | None = None
    min_confidence: Confidence | None = None

    @property
    def equal(self) -> dict[str, str]:
        """What the index itself filters by."""
        return {name: str(value) for name, value in self if name != "min_confidence" and value}


class Recall(BaseModel):
    """Body of `POST /api/v1/facts/recall`."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, AfterValidator(_worded), Field(min_length=1, max_length=MOST_CHARACTERS)]
    top_k: Annotated[int, Field(ge=1, le=MOST_RESULTS, strict=True)] = DEFAULT_RESULTS
    filters: RecallFilters = RecallFilters()


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
