"""Measure the goals of recall over HTTP, beside BM25 and the embedding model alone.

A local server in another process stores and answers. BM25 and the model rank the same texts here.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice, pairwise
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import httpx
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from benchmarks import corpus
from benchmarks.baselines import RESULTS, Rank, rank_by_both
from benchmarks.capacity import Call
from benchmarks.dialogue import Figures, Sample, ask, average, read_samples
from benchmarks.inprocess import function
from benchmarks.server import PATIENCE, new_agent, serve
from benchmarks.tables import text_table

_FIRST = {"a": 100, "c": 97, "d": 95, "e": 88, "all": 65}
"""Goals of recall at 1 by class, in per cent. The model's limits are paraphrases and languages."""
_REJECTED = 80  # per cent of the queries without an answer score below what right answers reach
_MANY, _UNRELATED = 10_000, 20_000  # facts and entries of the corpora; entries of the load
_BATCH, _WRITERS = 50, 2
_ASKED, _EACH = 50, 5  # queries of the latency; one in five questions among many entries
_TUNED = 5  # dialogues by which the formula was chosen; the others are reported
_NOTES, _ALL = "agents/agent/notes", "agents/agent/all"  # the agent's own namespaces
Json = dict[str, Any]


class Goal(NamedTuple):
    """A goal, and what was measured."""

    subject: str
    measure: str
    reached: float
    least: float | None = None  # the goal; None if there is none
    most: float | None = None  # the goal of what should be small
    words: float | None = None  # the figure of BM25
    model: float | None = None  # the figure of the model alone

    @property
    def is_met(self) -> bool:
        """Tell whether the goal is reached, as far as the figures are printed."""
        shown = round(self.reached, 1)
        return (self.least is None or shown >= self.least) and (
            self.most is None or shown <= self.most
        )


def measure(locomo: Path | None) -> list[Goal]:
    """Measure all goals; those of LoCoMo if its file is given."""
    goals = list(_measure_price())
    with serve() as address:
        goals += _measure_everyday(address)
        for further in (0, _MANY):
            goals += _measure_corpus(address, further)
        samples = [] if locomo is None else read_samples(locomo)
        goals += _measure_load(new_agent(address, "load"), samples)
        if samples:
            goals += _measure_dialogues(new_agent(address, "dialogue"), samples)
    return goals


def _send(client: httpx.Client, path: str, body: Json) -> Any:
    answer = client.post(f"/api/v1/{path}", json=body)
    answer.raise_for_status()
    return answer.json()


def _store_all(client: httpx.Client, path: str, name: str, bodies: Sequence[Json]) -> None:
    """Store bodies in batches of fifty, two at a time."""
    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(lambda each: _send(client, f"{path}/batch", {name: each}), _split(bodies)))


def _split(bodies: Sequence[Any]) -> Iterator[list[Any]]:
    rest = iter(bodies)
    return iter(lambda: list(islice(rest, _BATCH)), [])


def _to_entry(namespace: str, key: str, value: Json) -> Json:
    return {"memory_type": "semantic", "namespace": namespace, "key": key, "value": value}


def _measure_price() -> Iterator[Goal]:
    """Compare the write units of a message that searches find with those of another."""
    with function() as running:
        agent = running.new_agent(running.new_tenant("price"), "agent")
        units = [_append(agent.send, agent.calls, searchable) for searchable in (True, False)]
    yield Goal("a message that is found", "write units more", units[0] - units[1], most=1)


def _append(
    send: Callable[..., Any], calls: Callable[..., list[Call]], is_searchable: bool
) -> float:
    path = f"/api/v1/conversations/{is_searchable}"
    send("PUT", path, {"user_id": "ada", "searchable": is_searchable})
    said = calls("POST", f"{path}/messages", {"role": "user", "content": "green tea " * 20})
    return sum(each.write + each.index_write for each in said)


def _measure_everyday(address: str) -> Iterator[Goal]:
    """Ask everyday questions without the memories' words, by HTTP and by MCP's defaults."""
    agent, pairs = new_agent(address, "everyday"), corpus.read_everyday()
    for memory, _ in pairs:
        _send(agent, "remember", {"text": memory})
    _send(agent, "recall", {"query": _ALL, "wait": "indexed"})
    answers = [
        [each["text"] for each in _send(agent, "recall", {"query": query})["items"]]
        for _, query in pairs
    ]
    through = asyncio.run(_ask_tool(address, str(agent.headers["X-API-Key"]), pairs))
    memories = [memory for memory, _ in pairs]
    others = [
        100 * _share_found(pairs, [[memories[place] for place, _ in rank(q)] for _, q in pairs])
        for rank in rank_by_both(memories)
    ]
    for name, found in (("recall", answers), ("recall by MCP", through)):
        share = 100 * _share_found(pairs, found)
        yield Goal(f"everyday, {name}", "r@5", share, 80, None, *others)
        yield Goal(f"everyday, {name}", "empty answers", found.count([]), most=0)


def _share_found(pairs: Sequence[tuple[str, str]], found: Sequence[Sequence[str]]) -> float:
    right = sum(memory in each[:5] for (memory, _), each in zip(pairs, found, strict=True))
    return right / len(pairs)


async def _ask_tool(address: str, key: str, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    given = {"AGENT_MEMORY_URL": address, "AGENT_MEMORY_API_KEY": key}
    arguments = ["-m", "agent_memory.mcp"]
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env={**os.environ, **given}
    )
    async with Client(stdio_client(server)) as client:
        answers = [await client.call_tool("recall", {"query": query}) for _, query in pairs]
    contents = (each.structured_content or {} for each in answers)
    return [[item["text"] for item in content["items"]] for content in contents]


def _measure_corpus(address: str, further: int) -> Iterator[Goal]:
    """Query a corpus of facts, and of entries with the same texts, alone and among others."""
    stored = [*corpus.read_facts(), *corpus.build_fillers(further)]
    texts = [each.text for each in stored]
    ids, asked = [each.id for each in stored], corpus.read_questions()
    others = [corpus.evaluate(partial(_name, ids, rank), asked) for rank in rank_by_both(texts)]
    facts = new_agent(address, f"facts-{further}")
    parts = attrgetter("id", "subject", "predicate", "object")
    names = ("fact_id", "subject", "predicate", "object")
    bodies = [dict(zip(names, parts(each), strict=True)) for each in stored]
    _store_all(facts, "facts", "facts", bodies)
    found = corpus.evaluate(partial(_recall, facts), asked)
    yield from _list_quality(f"{len(stored):,} facts", found, others)
    entries = new_agent(address, f"entries-{further}")
    _store_entries(entries, _NOTES, stored)
    found = corpus.evaluate(partial(_search, entries, _NOTES), asked)
    yield from _list_quality(f"{len(stored):,} entries", found, others)
    if further:
        yield _measure_latency(entries)


def _name(ids: Sequence[str], rank: Rank, query: str) -> list[tuple[str, float]]:
    return [(ids[place], score) for place, score in rank(query)]


def _recall(client: httpx.Client, query: str) -> list[tuple[str, float]]:
    found = _send(client, "facts/recall", {"query": query, "top_k": RESULTS})
    return [(each["fact_id"], each["score"]) for each in found["facts"]]


def _store_entries(
    client: httpx.Client, namespace: str, stored: Sequence[corpus.Statement]
) -> float:
    """Store statements as entries; return the seconds until a search finds the last one."""
    bodies = [_to_entry(namespace, each.id, {"text": each.text}) for each in stored]
    _store_all(client, "memory", "entries", bodies)
    return _await_found(client, namespace, stored[-1].text, stored[-1].id)


def _await_found(client: httpx.Client, namespace: str, query: str, key: str) -> float:
    """Wait until a search finds an entry; return how many seconds that took."""
    begun = time.monotonic()
    while (waited := time.monotonic() - begun) < PATIENCE:
        if any(name == key for name, _ in _search(client, namespace, query)):
            break
        time.sleep(0.1)
    return waited


def _search(client: httpx.Client, namespace: str, query: str) -> list[tuple[str, float]]:
    asked = {"query": query, "memory_type": "semantic", "namespace": namespace, "top_k": RESULTS}
    found = _send(client, "memory/search", asked)
    return [(each["entry"]["key"], each["score"]) for each in found["results"]]


def _list_quality(
    subject: str, found: corpus.Quality, others: Sequence[corpus.Quality]
) -> Iterator[Goal]:
    for group, goal in _FIRST.items():
        figures = [100 * each.groups[group].first for each in (found, *others)]
        name = corpus.CLASSES.get(group, "all with an answer")
        yield Goal(f"{subject}, {name}", "r@1", figures[0], goal, None, *figures[1:])
    for group in corpus.CLASSES.keys() - _FIRST.keys() - {corpus.NO_ANSWER}:
        figures = [100 * each.groups[group].few for each in (found, *others)]
        name = f"{subject}, {corpus.CLASSES[group]}"
        yield Goal(name, "r@5", figures[0], None, None, *figures[1:])
    figures = [100 * each.rejected for each in (found, *others)]
    yield Goal(f"{subject}, nothing stored", "rejected", figures[0], _REJECTED, None, *figures[1:])


def _measure_latency(client: httpx.Client) -> Goal:
    times = [time.perf_counter()]
    for question in corpus.read_questions()[:_ASKED]:
        _send(client, "recall", {"query": question.query})
        times.append(time.perf_counter())
    milliseconds = 1_000 * median(after - before for before, after in pairwise(times))
    return Goal("recall among 10,000 memories", "median ms", milliseconds, most=60)


def _measure_load(client: httpx.Client, samples: Sequence[Sample]) -> Iterator[Goal]:
    """Load many entries, wait for the last one, and ask for dialogues in the same namespace."""
    stored = list(corpus.build_fillers(_UNRELATED))
    waited = _store_entries(client, _ALL, stored)
    yield Goal(f"load of {_UNRELATED:,} entries", "s to find the last", waited, most=10)
    if samples:
        turns = [turn.line for sample in samples for turn in sample.turns]
        places = _store_turns(client, samples, [_ALL] * len(samples))
        found = [ask(samples, partial(_find_turns, client, [_ALL] * len(samples)), _EACH)]
        known = [*places, *(("", -1) for _ in stored)]
        others = rank_by_both([*turns, *(each.text for each in stored)])
        found += [ask(samples, partial(_find_ranked, known, each), _EACH) for each in others]
        figures = [100 * average(each).ten for each in found]
        yield Goal(f"LoCoMo among {_UNRELATED:,}", "r@10", figures[0], 52, None, *figures[1:])


def _store_turns(
    client: httpx.Client, samples: Sequence[Sample], namespaces: Sequence[str]
) -> list[tuple[str, int]]:
    """Store each turn as an entry; return the dialogue and the place of each."""
    places = []
    for number, (sample, namespace) in enumerate(zip(samples, namespaces, strict=True)):
        values = [{"speaker": e.speaker, "text": e.text, "date": e.day} for e in sample.turns]
        keys = [f"{number}-{place}" for place in range(len(values))]
        bodies = [_to_entry(namespace, *each) for each in zip(keys, values, strict=True)]
        _store_all(client, "memory", "entries", bodies)
        _await_found(client, namespace, sample.turns[-1].line, keys[-1])
        places += [(str(number), place) for place in range(len(values))]
    return places


def _find_turns(
    client: httpx.Client, namespaces: Sequence[str], number: int, query: str
) -> list[int]:
    found = (key.partition("-") for key, _ in _search(client, namespaces[number], query))
    return [int(place) if name == str(number) else -1 for name, _, place in found]


def _find_ranked(
    places: Sequence[tuple[str, int]], rank: Rank, number: int, query: str
) -> list[int]:
    found = (places[each] for each, _ in rank(query))
    return [place if name == str(number) else -1 for name, place in found]


def _measure_dialogues(client: httpx.Client, samples: Sequence[Sample]) -> Iterator[Goal]:
    """Ask the dialogues as conversations, and as entries."""
    for number, sample in enumerate(samples):
        _store_conversation(client, f"s{number}", sample)
    namespaces = [f"agents/agent/dialogue.{number}" for number in range(len(samples))]
    _store_turns(client, samples, namespaces)
    ranks = [rank_by_both([turn.line for turn in each.turns]) for each in samples]
    words, model = (ask(samples, partial(_find_places, each)) for each in zip(*ranks, strict=True))
    messages = ask(samples, partial(_find_messages, client))
    entries = ask(samples, partial(_find_turns, client, namespaces))
    halves = (("tuned by", slice(_TUNED)), ("reported", slice(_TUNED, None)), ("both", slice(None)))
    for name, half in halves:
        others = (average(words[half]), average(model[half]))
        goals = Figures(61, 70, 51)
        yield from _compare(f"LoCoMo messages, {name}", average(messages[half]), goals, *others)
        goals = Figures(0, 63.5, 49)
        yield from _compare(f"LoCoMo entries, {name}", average(entries[half]), goals, *others)


def _find_places(ranks: Sequence[Rank], number: int, query: str) -> list[int]:
    return [place for place, _ in ranks[number](query)]


def _store_conversation(client: httpx.Client, session: str, sample: Sample) -> None:
    messages = [
        {"role": "user", "content": each.text, "timestamp": each.time.isoformat()}
        | {"metadata": {"speaker": each.speaker}}
        for each in sample.turns
    ]
    path = f"/api/v1/conversations/{session}"
    client.put(path, json={"user_id": "reader"}).raise_for_status()
    for each in _split(messages):
        _send(client, f"conversations/{session}/messages", {"messages": each})


def _find_messages(client: httpx.Client, number: int, query: str) -> list[int]:
    asked = {"query": query, "session_id": f"s{number}", "top_k": RESULTS}
    return [each["index"] for each in _send(client, "conversations/search", asked)["items"]]


def _compare(
    subject: str, found: Figures, goals: Figures, words: Figures, model: Figures
) -> Iterator[Goal]:
    names = ("r@5", "r@10", "MRR")
    for name, reached, goal, *others in zip(names, found, goals, words, model, strict=True):
        figures = [100 * each for each in (reached, *others)]
        yield Goal(subject, name, figures[0], goal or None, None, *figures[1:])
    yield Goal(subject, "r@10 above BM25", 100 * (found.ten - words.ten), 3)


def as_text(goals: Sequence[Goal]) -> str:
    """Render a row for each goal."""
    heads = ["recall over HTTP", "measure", "goal", "measured", "BM25", "model alone", "met"]
    return text_table(heads, [_render(each) for each in goals])


def _render(goal: Goal) -> list[str]:
    bound = f">= {goal.least:g}" if goal.least is not None else ""
    bound = f"<= {goal.most:g}" if goal.most is not None else bound
    figures = [
        "" if each is None else f"{each:.1f}" for each in (goal.reached, goal.words, goal.model)
    ]
    met = ("yes" if goal.is_met else "no") if bound else ""
    return [goal.subject, goal.measure, bound, *figures, met]
