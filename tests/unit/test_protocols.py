"""The page of protocols is short, and names packages and decisions that exist."""

import re
from pathlib import Path

import pytest

from tools.docs.tables import Protocol, parse_protocols

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/explanation/protocols.md"
PROTOCOLS = parse_protocols(PAGE.read_text(encoding="utf-8"))


def test_there_are_twenty_protocols_or_fewer() -> None:
    assert 0 < len(PROTOCOLS) <= 20
    assert [each.number for each in PROTOCOLS] == list(range(1, len(PROTOCOLS) + 1))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_each_invariant_is_one_sentence(protocol: Protocol) -> None:
    assert re.fullmatch(r"[^.]+\.", protocol.invariant)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_each_package_exists(protocol: Protocol) -> None:
    missing = [each for each in protocol.packages if not (ROOT / "functions" / each).is_dir()]
    assert protocol.packages
    assert missing == []


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_each_decision_holds(protocol: Protocol) -> None:
    decision = (PAGE.parent / protocol.decision).read_text(encoding="utf-8")
    assert re.search(r"^- Status: accepted\b", decision, re.MULTILINE)
    assert decision.startswith(f"# {int(Path(protocol.decision).name[:4])}. ")


_MARKS = {
    "due index": r"build_due_attributes|DueIndex|get_due_shard|find_due_type",
    "staging of parts": r"[Ss]taging\b|STAGED_LIFETIME",
    "order of eviction": r"build_eviction_order",
    "sum of secrets": r"secrets_sum",
}
"""Names in code that only one protocol uses."""


@pytest.mark.parametrize("name", _MARKS)
def test_the_page_names_the_packages_that_have_a_protocol(name: str) -> None:
    modules = [each for each in (ROOT / "functions").rglob("*.py") if each.parents[1] != ROOT]
    marked = {
        each.relative_to(ROOT / "functions").parts[0]
        for each in modules
        if re.search(_MARKS[name], each.read_text(encoding="utf-8"))
    }
    (protocol,) = (each for each in PROTOCOLS if each.name == name)
    assert set(protocol.packages) == marked
