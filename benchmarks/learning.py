"""Measure what strategies learn from dialogues with gold facts, by the model of your choice.

The model is the one of `AGENT_MEMORY_MODEL_URL`, `AGENT_MEMORY_MODEL` and `AGENT_MEMORY_MODEL_KEY`.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.inprocess import Caller, function
from benchmarks.tables import text_table
from functions.container import Container
from functions.platform.settings import StreamSettings
from functions.vectors.words import read_words

_CORPUS = Path(__file__).with_name("dialogues.txt")
_ROLES = {"u": "user", "a": "assistant", "t": "tool"}
Json = dict[str, Any]


class Gold(NamedTuple):
    """A fact that a message says, or ends."""

    message: int
    subject: str
    predicate: str
    object: str
    replaces: str | None  # the object of the fact before it
    is_end: bool


class Dialogue(NamedTuple):
    """A conversation, and its gold facts."""

    name: str
    messages: list[Json]
    gold: list[Gold]


class Learned(NamedTuple):
    """The results of all dialogues."""

    expected: int  # gold facts that hold in the end
    found: int  # learned facts that hold in the end
    right: int  # those that are both
    with_evidence: int  # right ones that name a message that says them
    stale: int  # facts that still hold although a message has ended or replaced them
    requests: int  # to the model
    tokens: int  # to the model


def read_dialogues(path: Path = _CORPUS) -> list[Dialogue]:
    """Read the corpus."""
    found: list[Dialogue] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "==":
            found.append(Dialogue(text, [], []))
        elif mark in _ROLES:
            found[-1].messages.append({"role": _ROLES[mark], "content": text})
        elif mark in ("=", "-"):
            index, subject, predicate, named, *replaced = map(str.strip, text.split("|"))
            replaces = replaced[0] if replaced else None
            gold = Gold(int(index), subject, predicate, named, replaces, mark == "-")
            found[-1].gold.append(gold)
    return found


def measure() -> Learned | None:
    """Learn from all dialogues, each in another tenant; None without a model."""
    url, model, key = (os.environ.get(f"AGENT_MEMORY_MODEL{each}") for each in ("_URL", "", "_KEY"))
    if url is None:
        return None
    total = Learned(0, 0, 0, 0, 0, 0, 0)
    with function() as running:
        settings = StreamSettings(
            memory_table="memory",
            log_table="log",
            learning_model=f"openai:{model or 'default'}",
            learning_url=url,
            learning_key=key,
        )
        learner = Container(settings).learner
        for number, dialogue in enumerate(read_dialogues()):
            tenant = f"dialogue-{number}"
            admin = running.new_tenant(tenant)
            admin.send("PUT", "/api/v1/strategies/s", {"kind": "facts", "trigger": {"messages": 1}})
            body = {"user_id": "ada", "messages": dialogue.messages}
            admin.send("PUT", "/api/v1/conversations/c", body)
            learner.note(tenant, "c", {})
            learner.learn(tenant, "c", "s")
            added = _compare(admin, dialogue)
            total = Learned(*(one + other for one, other in zip(total, added, strict=True)))
    return total


def _compare(admin: Caller, dialogue: Dialogue) -> Learned:
    """Compare present facts with the gold facts, by the words of subject and object."""
    status = admin.send("GET", "/api/v1/strategies/s/status")
    facts = admin.send("GET", "/api/v1/facts")["facts"]
    gone = {(each.subject, each.object) for each in dialogue.gold if each.is_end}
    gone |= {(each.subject, each.replaces) for each in dialogue.gold if each.replaces}
    holds = [each for each in dialogue.gold if (each.subject, each.object) not in gone]
    right = evidence = 0
    for gold in holds:
        match = [each for each in facts if _is_same(each, gold.subject, gold.object)]
        right += bool(match)
        places = [p for each in match for p in each["metadata"]["learned_from"]]
        evidence += any(gold.message in place["messages"] for place in places)
    stale = sum(_is_same(each, *pair) for each in facts for pair in gone if pair[1])
    spent = (status["requests"], status["tokens"])
    return Learned(len(holds), len(facts), right, evidence, stale, *spent)


def _is_same(fact: Json, subject: str, named: str | None) -> bool:
    return _shares(fact["subject"], subject) and _shares(fact["object"], named or "")


def _shares(one: str, other: str) -> bool:
    """Tell whether a text has all words of another one, or the reverse."""
    first, second = (_list_words(each) for each in (one, other))
    return bool(first and second) and (first <= second or second <= first)


def _list_words(text: str) -> set[str]:
    words = read_words(text)
    return {*words.prefixes, *words.ids} or {text.casefold()}


def as_text(learned: Learned | None) -> str:
    """Render the figures, in per cent where they are shares."""
    if learned is None:
        return "learning: name a model by AGENT_MEMORY_MODEL_URL to measure what it learns"
    expected, found, right, with_evidence, *counts = learned
    shares = (right / expected, right / max(found, 1), with_evidence / max(right, 1))
    row = [*(f"{100 * each:.1f}" for each in shares), *map(str, counts)]
    return text_table(["recall", "precision", "evidence", "stale", "requests", "tokens"], [row])
