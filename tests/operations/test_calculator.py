"""The calculator of the documentation adds up as `python -m operations estimate` does."""

import json
import re
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from operations.estimate import Usage, estimate

_DOCS = Path(__file__).parents[2] / "docs"
_SCRIPT = _DOCS / "assets/calculator.js"
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="it needs a Node")
_PROFILES = [
    Usage(),
    Usage(agents=100, turns=1000),
    Usage(gets=5_000_000, puts=5_000_000),
    Usage(agents=10_000, turns=1000, edge=True, standby=True, backup_days=35),
    Usage(agents=50, turns=300, model_in=0.25, model_out=2.0),
]


def to_javascript(usage: Usage) -> dict[str, float]:
    """Name the fields of a usage as the page does."""
    return {
        re.sub(r"_(.)", lambda found: found[1].upper(), name): value
        for name, value in asdict(usage).items()
    }


def run(expression: str) -> Any:
    """Run an expression of JavaScript on what the script exports."""
    script = json.dumps(str(_SCRIPT))
    program = f"const page = require({script}); console.log(JSON.stringify({expression}))"
    return json.loads(subprocess.check_output(["node", "-e", program]))


def test_the_page_and_the_command_have_the_same_figures() -> None:
    profiles = json.dumps(list(map(to_javascript, _PROFILES)))
    for usage, shown in zip(_PROFILES, run(f"{profiles}.map(page.estimate)"), strict=True):
        found = estimate(usage)
        assert shown["requests"] == found["requests"]
        assert shown["fixed"] == pytest.approx(sum(found["fixed"].values()), abs=0.01)
        assert shown["first"] == pytest.approx(found["first_month"], abs=0.01)
        assert shown["afterAYear"] == pytest.approx(found["month_after_a_year"], abs=0.01)


def test_the_page_has_a_field_for_each_part_of_a_usage() -> None:
    assert {name for name, *_ in run("page.FIELDS")} == to_javascript(Usage()).keys()
