"""Measure what strategies learn from dialogues with gold facts, by the model of your choice.

The model is the one of `AGENT_MEMORY_MODEL_URL`, `AGENT_MEMORY_MODEL` and `AGENT_MEMORY_MODEL_KEY`.
Without, recorded answers stand for it: these measure the path of an answer, not a model.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
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
    """A fact that a message says, or ends.

    Attributes:
        replaces: the object of the fact before it.
    """

    message: int
    subject: str
    predicate: str
    object: str
    replaces: str | None
    is_end: bool


class Dialogue(NamedTuple):
    """A conversation, and its gold facts."""

    name: str
    messages: list[Json]
    gold: list[Gold]


class Learned(NamedTuple):
    """The results of all dialogues.

    Attributes:
        expected, found, right: facts that hold in the end: gold, learned, and both.
        with_evidence: right ones that name a message that says them.
        stale: facts that hold though a message has ended or replaced them.
        requests, tokens: to the model.
    """

    expected: int
    found: int
    right: int
    with_evidence: int
    stale: int
    requests: int
    tokens: int


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


def measure() -> Learned:
    """Learn from all dialogues, each in another tenant."""
    dialogues = read_dialogues()
    url = os.environ.get("AGENT_MEMORY_MODEL_URL")
    if url is not None:
        name, key = (os.environ.get(f"AGENT_MEMORY_MODEL{each}") for each in ("", "_KEY"))
        return _measure(dialogues, url, name or "default", key)
    with _serve(_record(dialogues)) as recorded:
        return _measure(dialogues, recorded, "recorded", None)


def _measure(dialogues: Sequence[Dialogue], url: str, model: str, key: str | None) -> Learned:
    total = Learned(0, 0, 0, 0, 0, 0, 0)
    with function() as running:
        settings = StreamSettings(
            memory_table="memory",
            log_table="log",
            learning_model=f"openai:{model}",
            learning_url=url,
            learning_key=key,
        )
        learner = Container(settings).learner
        for number, dialogue in enumerate(dialogues):
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
    """Compare what holds with the gold facts: the words of subject and object tell."""
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
    found = len(facts)
    requests, tokens = status["requests"], status["tokens"]
    return Learned(len(holds), found, right, evidence, stale, requests, tokens)


def _is_same(fact: Json, subject: str, named: str | None) -> bool:
    return _shares(fact["subject"], subject) and _shares(fact["object"], named or "")


def _shares(one: str, other: str) -> bool:
    """Tell whether a text has all words of another one, or the reverse."""
    first, second = (_list_words(each) for each in (one, other))
    return bool(first and second) and (first <= second or second <= first)


def _list_words(text: str) -> set[str]:
    words = read_words(text)
    return {*words.prefixes, *words.ids} or {text.casefold()}


def as_text(learned: Learned) -> str:
    """Render the figures, in per cent where they are shares."""
    recall = learned.right / learned.expected
    precision = learned.right / max(learned.found, 1)
    row = [
        f"{recall * 100:.1f}",
        f"{precision * 100:.1f}",
        f"{learned.with_evidence / max(learned.right, 1) * 100:.1f}",
        *(str(each) for each in (learned.stale, learned.requests, learned.tokens)),
    ]
    return text_table(["recall", "precision", "evidence", "stale", "requests", "tokens"], [row])


def _record(dialogues: Sequence[Dialogue]) -> Callable[[Json], Json]:
    """Build what answers requests with the gold facts, as a faultless model would."""
    by_message = {
        message["content"]: [each for each in dialogue.gold if each.message == index]
        for dialogue in dialogues
        for index, message in enumerate(dialogue.messages)
    }

    def answer(body: Json) -> Json:
        data = json.loads(body["messages"][1]["content"])
        pairs = [(m["index"], g) for m in data["messages"] for g in by_message[m["content"]]]
        gone = {(g.subject, g.replaces or g.object) for _, g in pairs if g.replaces or g.is_end}
        facts = [
            {
                "action": "add",
                "known": None,
                "messages": [index],
                "subject": gold.subject,
                "predicate": gold.predicate,
                "object": gold.object,
                "confidence": 0.9,
            }
            for index, gold in pairs
            if (gold.subject, gold.object) not in gone
        ]
        return {"facts": facts}

    return answer


@contextmanager
def _serve(answer: Callable[[Json], Json]) -> Iterator[str]:
    """Serve answers as an OpenAI-compatible endpoint of this machine."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": json.dumps(answer(body))}
            document = {"choices": [{"message": message}], "usage": {"total_tokens": 100}}
            encoded = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
