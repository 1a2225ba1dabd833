"""How long a recall takes among many facts: the first of a process, which reads all, and others."""

import random
import statistics
import time
from array import array
from collections.abc import Iterator
from math import hypot

from benchmarks.corpus import read_facts, read_questions
from benchmarks.inprocess import function
from benchmarks.tables import text_table
from functions.audit.service import AuditTrail
from functions.facts.model import Fact
from functions.facts.requests import Recall
from functions.facts.service import Facts
from functions.facts.store import FactStore, build_fact_key, encode_fact
from functions.identity.model import Principal
from functions.platform.clock import now_ms
from functions.platform.schema import VECTOR_DIMENSIONS
from functions.platform.table import Table
from functions.platform.writes import Write, put
from functions.vectors.factory import DEFAULT_EMBED
from functions.vectors.in_memory_vectors import InMemoryVectors, float16_format
from functions.vectors.model import Vector, VectorSearch
from functions.vectors.wordllama import MODEL, embed, weigh

SIZES = (100, 10_000, 100_000)
_AT_ONCE, _EACH = 500, 12  # writes at once; each so many queries of the corpus
_APART = 1_000  # ms; what was learned within a minute of the newest is looked at by each recall


def recall_times(most: int) -> str:
    """A table of the times at each size up to `most`. Needs the embedded engine."""
    heads = ("facts", "first recall, ms", "its CPU", "recall, median ms", "its CPU", "longest ms")
    with function() as running:
        table = Table(running.client, "memory")
        rows = [_row(table, size) for size in SIZES if size <= most]
    return text_table(heads, rows)


def _row(table: Table, size: int) -> list[str]:
    who = Principal(f"t{size}", "a", "user", frozenset())
    batch: list[Write] = []
    for write in _writes(who.tenant, size):
        batch.append(write)
        if len(batch) == _AT_ONCE:
            table.write_many(batch)
            batch = []
    table.write_many(batch)
    index = InMemoryVectors(table, now_ms, MODEL)
    search = VectorSearch(DEFAULT_EMBED, embed, weigh, float16_format(MODEL), index)
    store = FactStore(table, search.format, now_ms)
    facts = Facts(store, search, AuditTrail(now_ms, 0), now_ms)
    first = _timed(facts, who, "the first question")
    took = [_timed(facts, who, each.query) for each in read_questions()[::_EACH]]
    (times, cpu) = zip(*took, strict=True)
    figures = (*first, statistics.median(times), statistics.median(cpu), max(times))
    return [f"{size:,}", *(f"{ms:.1f}" for ms in figures)]


def _timed(facts: Facts, who: Principal, query: str) -> tuple[float, float]:
    """Recall, and give the time that it took and the CPU of this process, in ms."""
    began, began_cpu = time.perf_counter(), time.process_time()
    facts.recall(who, Recall(query=query))
    cpu = time.process_time() - began_cpu
    return (time.perf_counter() - began) * 1000, cpu * 1000


def _writes(tenant: str, size: int) -> Iterator[Write]:
    """Facts in the words of the corpus, each with a direction of its own."""
    rng, said, now = random.Random(1), read_facts(), now_ms()  # noqa: S311 - no secret
    form = float16_format(MODEL)
    for number in range(size):
        words = said[number % len(said)]
        fact = _FACT._replace(
            id=f"f{number}",
            subject=words.subject,
            predicate=words.predicate,
            object=words.object,
        )
        moment = now - (size - number) * _APART
        learned = fact._replace(created=moment, updated=moment)
        item = encode_fact(tenant, learned, _direction(rng), form) | form.build_stamp(moment)
        yield put(build_fact_key(tenant, learned.id), item)


def _direction(rng: random.Random) -> Vector:
    numbers = [rng.gauss(0, 1) for _ in range(VECTOR_DIMENSIONS)]
    length = hypot(*numbers)
    return array("f", [each / length for each in numbers])


_FACT = Fact(
    id="",
    subject="",
    predicate="",
    object="",
    confidence=0.8,
    agent_type="sdr",
    run=None,
    metadata=None,
    learner="a",
    version=1,
    created=0,
    updated=0,
)
