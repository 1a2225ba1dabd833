"""A limit is written once: texts that people read take it from `functions/platform/limits.py`."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from functions.platform import limits
from tools.docs import limits as rendering
from tools.docs.tables import render_item_types
from tools.openapi.document import PATH, render_document

ROOT = Path(__file__).parents[2]
NAMES = sorted(name for name in vars(limits) if name.isupper())
_UNIT = re.compile(r" (KB|MB|GB|bytes|days|hours?|minutes|seconds)$")
_UNSPECIFIC = {"1,000", "1 KB", "1 minute", "1,000,000"}  # these stand for much else
_MEASURED = {"performance.md", "cost.md", "comparison.md", "framework-backends.md", "trust.md"}
_OF_OTHERS: dict[tuple[str, str], str] = {
    ("an-agent-on-aws.md", "1 hour"): "how long the tutorial takes",
    ("choose-a-model.md", "3,072"): "the dimension of a model",
    ("choose-a-model.md", "10,000"): "a size that was measured",
    ("choose-a-model.md", "10,000 messages"): "a size that was measured",
    ("console.md", "100,000"): "a size that was measured",
    ("how-learning-works.md", "1 hour"): "the longest wait between two attempts",
    ("how-recall-works.md", "20,000"): "a size that was measured",
    ("operate.md", "1 hour"): "the visibility of a message in SQS",
    ("read-the-alarms.md", "1 hour"): "periods of alarms",
    ("read-the-alarms.md", "15 minutes"): "periods of alarms",
    ("entries.md", "1 hour"): "how often reads are recorded",
    ("regions.md", "5 minutes"): "point-in-time recovery",
    ("restore-a-table.md", "5 minutes"): "point-in-time recovery",
    ("texts.ts", "15 minutes"): "the console's own time without activity",
    ("search-by-your-own-vectors.md", "10,000"): "a size that suits the search in memory",
    ("store.py", "100 items"): "a limit of the adapter",
    ("use-a-second-region.md", "60 seconds"): "the TTL of a record in the DNS",
    ("use-langgraph.md", "30 days"): "the user's own setting",
    ("use-langgraph.md", "8,000"): "a limit of the adapter",
    ("use-openai-agents.md", "60,000"): "a limit of the adapter",
    ("use-the-console.md", "15 minutes"): "when the console forgets a key",
    ("write-a-worker.md", "1,000 characters"): "a limit of the worker",
    ("saver.py", "8,000"): "a limit of the adapter",
    ("sdk.md", "30 seconds"): "the deadline of an update by the client",
    ("session.py", "60,000"): "a limit of the adapter",
    ("arguments.py", "1 hour"): "the longest wait of a command",
    ("remembered.py", "10,000"): "what the client holds",
    ("user_memory.py", "30 seconds"): "the deadline of an update by the client",
    ("demo.py", "5,000"): "a sum in EUR",
    ("SignIn.tsx", "15 minutes"): "when the console forgets a key",
    ("session.ts", "15 minutes"): "when the console forgets a key",
    ("", "1 hour"): "the shortest time between two consolidations",
    ("agents", "1 hour"): "when expired memory is removed",
    ("usage", "30 days"): "the period of a report",
}
"""Texts that mean something else: page, text and what it is."""


def list_values() -> set[str]:
    """List how the limits are written, as far as a text with it can hardly mean something else."""
    texts = set(map(rendering.format_limit, NAMES))
    texts |= {f"{getattr(limits, name):,} bytes" for name in NAMES if name.endswith("_BYTES")}
    texts = {text for text in texts if _UNIT.search(text) or "," in text}
    return (texts | {name_value(name) for name in NAMES}) - _UNSPECIFIC


def name_value(name: str) -> str:
    """Write a limit with the last word of its name, which is often its noun: `50 tags`."""
    return f"{getattr(limits, name):,} {name.rpartition('_')[2].lower()}"


def find_values(text: str, values: set[str]) -> set[str]:
    """Find the values that a text has; `an hour` is `1 hour`."""
    text = re.sub(r"\s+", " ", text.replace("an hour", "1 hour"))
    return {each for each in values if _to_pattern(each).search(text)}


@cache
def _to_pattern(value: str) -> re.Pattern[str]:
    """Find a value also with an adjective: `100 open tasks`."""
    number, _, unit = value.partition(" ")
    words = rf"{number} (?:[a-z]+ )?{unit}" if unit else number
    return re.compile(rf"(?<![\w.,-]){words}(?![\w,]|\.\d)")


def list_texts() -> Iterator[tuple[str, str]]:
    """List what people read, without the places that take limits from the constants."""
    yield from list_prose()
    for module in sorted((ROOT / "sdk/agent_memory").rglob("*.py")):
        if not {"_sync", "model"} & set(module.parts):  # generated
            yield module.name, " | ".join(list_strings(module))
    for source in sorted((ROOT / "console/src").rglob("*.ts*")):
        if source.name != "schema.d.ts":
            yield source.name, source.read_text("utf-8")


def list_prose() -> Iterator[tuple[str, str]]:
    for page in rendering.list_pages():
        folder = page.parent.name
        if folder not in ("decisions", "contributing") and page.name not in _MEASURED:
            prose = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
            # a test compares this table with the capabilities
            prose = re.sub(r"^\| `[\w.]+` \| [\d,]+ \|.*$", "", prose, flags=re.MULTILINE)
            yield page.name, rendering.PLACEHOLDER.sub("", prose)


def list_strings(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def list_descriptions(document: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """List the summaries and descriptions of the API."""
    if isinstance(document, list):
        for each in document:
            yield from list_descriptions(each, name)
    elif isinstance(document, dict):
        for key, value in document.items():
            if key in ("summary", "description") and isinstance(value, str):
                yield name, value
            else:
                last = key.rpartition("/")[2]
                yield from list_descriptions(value, last if key.startswith("/") else name)


def test_no_text_has_the_value_of_a_limit() -> None:
    values = list_values()
    found = {(name, each) for name, text in list_texts() for each in find_values(text, values)}
    assert found - set(_OF_OTHERS) == set(), "write the limit as <!-- limit NAME -->…<!-- end -->"


def test_a_changed_limit_changes_all_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    values, present = list_values(), PATH.read_text("utf-8")
    assert "90 days" in present
    for name in NAMES:
        monkeypatch.setattr(limits, name, getattr(limits, name) * 7)
    changed = json.loads(render_document())
    changed["info"]["description"] = ""
    found = {
        (name, each)
        for name, text in list_descriptions(changed)
        for each in find_values(text, values)
    }
    assert found - set(_OF_OTHERS) == set(), "write the limit as {NAME}"
    assert "630 days" in json.dumps(changed)
    assert "630 days" in render_item_types()


def test_no_page_says_a_unit_twice() -> None:
    pages = "".join(page.read_text("utf-8") for page in rendering.list_pages())
    twice = re.compile(r"<!-- limit \w+ -->[\d,.]+ ([A-Za-z]+)<!-- end --> \1\b")
    assert [found[0] for found in twice.finditer(pages)] == []


def test_a_changed_limit_changes_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page.read_text("utf-8") for page in rendering.list_pages()]
    assert pages == list(map(rendering.render_limits, pages)), "run python -m tools.docs"
    old = {name: rendering.format_limit(name) for name in NAMES}
    for name in NAMES:
        monkeypatch.setattr(limits, name, getattr(limits, name) * 7)
    changed = "".join(map(rendering.render_limits, pages))
    stale = [name for name in NAMES if f"<!-- limit {name} -->{old[name]}<!-- end -->" in changed]
    assert stale == []
