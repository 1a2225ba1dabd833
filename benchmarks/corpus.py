"""The corpus of facts and queries, further facts as noise, and the quality of answers to queries.

Both were written by hand before the first measurement. They contain many near misses: ids that are
anagrams, codes and versions that differ by two digits, names that differ by a letter.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

_CORPUS = Path(__file__).parents[1] / "tests/contract/corpus"
CLASSES = {
    "a": "same words",
    "b": "other words",
    "c": "ids, codes, names",
    "d": "all about a subject",
    "e": "typing errors, inflections",
    "f": "another language",
    "g": "nothing stored",
}
"""The classes of queries."""
NO_ANSWER = "g"

_FEW, _MANY = 5, 10
_SUREST = 0.9  # the share of right first answers that score at least the threshold
Ranked = list[tuple[str, float]]

# None of these answers a query: their numbers begin with 6 and have seven digits, unlike others.
_SUBJECTS = (
    *("member:club:{}", "printer {}", "parking bay P-{}", "newsletter issue {}", "sensor TMP-{}"),
    *("meeting room MR-{}", "laptop asset {}", "locker {}", "survey SV-{}", "subscriber {}"),
    *("training course TC-{}", "badge {}", "purchase order PO-{}", "desk {}", "vending machine {}"),
    *("Sprachkurs SK-{}", "Drucker {}", "abonné {}", "imprimante {}", "impresora {}", "socio {}"),
)
_STATEMENTS = (
    *("prefers | the digest on Mondays", "prefers | text over phone", "was_moved_to | floor {}"),
    *(
        "has | a quiet fan",
        "has | a loose cable",
        "reports | {} degrees",
        "is_assigned_to | shift {}",
    ),
    *("was_cleaned_by | the contractor", "was_rated | {} of 100", "is_labelled | batch {}"),
    *("needs | new toner", "needs | a firmware check", "was_seen_in | building {}"),
    *("asked_for | a receipt", "asked_for | a larger monitor", "opened | {} messages"),
    *("attended | session {}", "skipped | session {}", "accepts | coins and cards"),
    *("is_connected_to | switch {}", "was_replaced_after | {} days", "costs | {} points a week"),
    *("braucht | neuen Toner", "wurde | in Halle {} gesehen", "préfère | le courrier du lundi"),
    *("est_relié_à | la prise {}", "necesita | tóner", "pidió | un recibo"),
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact of the corpus."""

    id: str
    subject: str
    predicate: str
    object: str

    @property
    def text(self) -> str:
        """Return the text that is embedded."""
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class Question:
    """A query of the corpus."""

    group: str  # the letter of its class
    query: str
    right: frozenset[str]  # the ids of the facts that answer it


def read_facts() -> list[Statement]:
    """Read the facts."""
    return [Statement(*columns) for columns in _read("facts")]


def read_questions() -> list[Question]:
    """Read the queries."""
    return [
        Question(group, query, frozenset(filter(None, ids.split(","))))
        for group, query, ids in _read("queries")
    ]


def read_everyday() -> list[tuple[str, str]]:
    """Read everyday memories, each with a question that has none of its words."""
    return [(memory, question) for memory, question in _read("everyday")]


def build_fillers(count: int) -> Iterator[Statement]:
    """Build facts that answer no query; they are the same each time."""
    rng = random.Random(1)  # noqa: S311 - no secret
    for number in range(count):
        subject = rng.choice(_SUBJECTS).format(6_000_000 + number * 97)
        predicate, what = rng.choice(_STATEMENTS).split(" | ")
        yield Statement(f"filler{number}", subject, predicate, what.format(rng.randrange(2, 90)))


def _read(name: str) -> Iterator[list[str]]:
    for line in (_CORPUS / f"{name}.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield [column.strip() for column in line.split("|")]


@dataclass(frozen=True, slots=True)
class Found:
    """The quality of the answers to a class of queries, each figure from 0 to 1."""

    first: float  # recall at 1, the share of queries with a right first answer
    few: float  # recall at 5
    reciprocal: float  # the mean of 1 / the rank of the first right answer, to rank 10


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of search in a corpus."""

    groups: dict[str, Found]  # by class of queries, and of `all`
    auc: float  # the probability that a right first answer scores above one to an unanswered query
    rejected: float  # the share of queries without an answer whose best score is below `threshold`
    threshold: float  # the score that 90 of 100 right first answers reach


def evaluate(rank: Callable[[str], Ranked], questions: Sequence[Question]) -> Quality:
    """Ask all queries, and compare the results with the right answers."""
    ranked = [(each, rank(each.query)) for each in questions]
    answered = [each for each in ranked if each[0].group != NO_ANSWER]
    groups = {
        group: _average([each for each in answered if each[0].group == group])
        for group in CLASSES
        if group != NO_ANSWER
    }
    best = sorted(found[0][1] for asked, found in answered if found[0][0] in asked.right)
    none = [found[0][1] for asked, found in ranked if asked.group == NO_ANSWER]
    threshold = best[int(len(best) * (1 - _SUREST))]
    return Quality(
        groups | {"all": _average(answered)},
        sum(one > other for one, other in product(best, none)) / (len(best) * len(none)),
        sum(each < threshold for each in none) / len(none),
        threshold,
    )


def _average(ranked: Sequence[tuple[Question, Ranked]]) -> Found:
    found = [_compare(asked, [id for id, _ in answers]) for asked, answers in ranked]
    firsts, fews, reciprocals = zip(*found, strict=True)
    return Found(*(sum(each) / len(found) for each in (firsts, fews, reciprocals)))


def _compare(asked: Question, ids: Sequence[str]) -> tuple[float, float, float]:
    is_right = [id in asked.right for id in ids[:_MANY]]
    few = sum(is_right[:_FEW]) / min(_FEW, len(asked.right))
    reciprocal = 1 / (is_right.index(True) + 1) if any(is_right) else 0.0
    return float(is_right[0]), few, reciprocal
