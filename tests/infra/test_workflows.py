"""The workflows of GitHub Actions are whole, and do what is done on a laptop."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

_ROOT = Path(__file__).parents[2]
_WORKFLOWS = sorted((_ROOT / ".github/workflows").glob("*.yml"))


def load(name: str) -> Any:
    return yaml.safe_load((_ROOT / ".github/workflows" / name).read_text("utf-8"))


def commands(workflow: Any) -> list[str]:
    found = []
    for job in workflow["jobs"].values():
        each_of = job.get("strategy", {}).get("matrix", {}).get("tests", [""])
        runs = [step["run"] for step in job["steps"] if "run" in step]
        found += [run.replace("${{ matrix.tests }}", one) for run in runs for one in each_of]
    return found


@pytest.mark.parametrize("path", _WORKFLOWS, ids=lambda path: path.name)
def test_each_step_runs_or_uses_something_and_no_job_has_rights_by_default(path: Path) -> None:
    workflow = load(path.name)
    assert {"name", "permissions", "jobs", True} <= workflow.keys()  # YAML 1.1 reads `on` as true
    assert workflow["permissions"]["contents"] == "read"
    for job in workflow["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= job.keys()
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "uses" not in step or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])


def test_a_change_is_checked_by_the_same_command_as_on_a_laptop() -> None:
    assert {".ci/run", "make e2e", "make e2e-contract"} <= set(commands(load("ci.yml")))


def test_commands_are_targets_of_the_makefile() -> None:
    makefile = (_ROOT / "Makefile").read_text("utf-8")
    for path in _WORKFLOWS:
        for command in commands(load(path.name)):
            program, *arguments = command.split()
            assert program == ".ci/run" or f"\n{arguments[0]}:" in makefile


def test_production_waits_for_the_trial_and_both_are_compared_with_the_last_release() -> None:
    workflow = load("deploy.yml")
    production = workflow["jobs"]["production"]
    assert (production["needs"], production["environment"]) == ("staging", "prod")
    for job in workflow["jobs"].values():
        runs = [step["run"].split()[1] for step in job["steps"] if "run" in step]
        assert runs == ["upgrade-check", "deploy"]
