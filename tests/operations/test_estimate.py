"""The estimate adds up to the figures of the documentation and of the review's arithmetic."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from operations.estimate import A_GET, A_PUT, A_RECALL, A_TURN, FIXED, Usage, estimate

_COST = Path(__file__).parents[2] / "docs/explanation/cost.md"


@pytest.mark.parametrize(
    ("operation", "price"),
    [
        ("append a turn of two messages", A_TURN),
        ("recall about a user, ten items", A_RECALL),
        ("PUT or PATCH a working value", A_PUT),
        ("get working", A_GET),
    ],
)
def test_prices_are_those_of_the_documentation(operation: str, price: float) -> None:
    (row,) = re.findall(
        rf"(?m)^\| {operation} (.*)$", _COST.read_text("utf-8").split("| units |\n")[0]
    )
    assert float(row.split("|")[5]) == price


def test_the_documentation_has_the_estimates_of_its_profiles() -> None:
    rows = re.findall(
        r"(?m)^\| (idle|`--.*`) \| ([\d.]+) \| ([\d.]+) \|$", _COST.read_text("utf-8")
    )
    assert len(rows) == 4
    for profile, *documented in rows:
        options = [] if profile == "idle" else profile.strip("`").split()
        command = [sys.executable, "-m", "operations", "estimate", *options]
        found = json.loads(subprocess.check_output(command, cwd=_COST.parents[2]))
        prices = found["first_month"], found["month_after_a_year"]
        assert [f"{each:.2f}" for each in prices] == documented


def test_an_idle_deployment_costs_its_fixed_part() -> None:
    found = estimate(Usage())
    assert found["first_month"] == found["month_after_a_year"] == round(sum(FIXED.values()), 2)
    assert 10.5 < found["first_month"] < 11.5


def test_ten_million_requests_cost_35_at_first_and_48_after_a_year() -> None:
    found = estimate(Usage(gets=5_000_000, puts=5_000_000))
    assert found["requests"] == 10_000_000
    assert round(found["first_month"] - found["storage_first_month"]) == 35
    assert round(found["month_after_a_year"]) == 48


def test_turns_of_agents_are_four_requests_each() -> None:
    found = estimate(Usage(agents=100, turns=1000))
    assert found["requests"] == 400_000
    assert found["by_use"]["turns"] == pytest.approx(1.21, abs=0.01)
    assert found["by_use"]["writes of entries"] == pytest.approx(0.28, abs=0.01)


def test_an_edge_costs_27_more_for_ten_million_requests() -> None:
    usage: dict[str, Any] = {"gets": 5_000_000, "puts": 5_000_000}
    more = (
        estimate(Usage(**usage, edge=True))["first_month"] - estimate(Usage(**usage))["first_month"]
    )
    assert round(more) == 27


def test_a_standby_doubles_the_fixed_part_and_the_storage() -> None:
    alone, followed = (estimate(Usage(puts=1_000_000, standby=each)) for each in (False, True))
    assert sum(followed["fixed"].values()) == pytest.approx(2 * sum(alone["fixed"].values()))
    assert followed["storage_after_a_year"] == pytest.approx(
        2 * alone["storage_after_a_year"], abs=0.02
    )
    assert followed["by_use"]["replication"] == 1.25


def test_daily_backups_are_billed_for_each_day_that_they_are_kept() -> None:
    kept = estimate(Usage(puts=10_000_000, backup_days=35))
    alone = estimate(Usage(puts=10_000_000))
    more = kept["storage_first_month"] - alone["storage_first_month"]
    assert more == pytest.approx(35 * 0.10 * 4.8, abs=0.02)


def test_a_model_that_learns_is_billed_by_its_tokens() -> None:
    used: dict[str, Any] = {"agents": 100, "turns": 1000}
    found = estimate(Usage(**used, model_in=0.25, model_out=2.0))
    assert found["by_use"]["model that learns"] == 100_000 * (1200 * 0.25 + 150 * 2.0) / 1e6
    assert "model that learns" not in estimate(Usage(**used))["by_use"]


def test_bytes_without_a_price_are_a_quantity() -> None:
    assert estimate(Usage(puts=1_000_000))["vector_gb_written"] == pytest.approx(1.54, abs=0.01)
