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
