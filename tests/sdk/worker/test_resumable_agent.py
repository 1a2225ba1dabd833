"""Run the tutorial's agent: it crashes in the middle of a batch, and its successor resumes."""

import os
import signal
import subprocess
import sys

from tests.contract.local_server import PATIENCE, ROOT
from tests.sdk.crew import Agent, Crew

EXAMPLE = ROOT / "sdk" / "examples" / "resumable_agent.py"
INVOICES = [f"inv_{number}" for number in range(1, 7)]


def run(crew: Crew, agent: Agent, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {"AGENT_MEMORY_URL": crew.address, "AGENT_MEMORY_API_KEY": agent.api_key}
    return subprocess.run(
        [sys.executable, EXAMPLE, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_successor_processes_what_is_left_and_nothing_else(crew: Crew) -> None:
    first, second = crew.agent(), crew.agent()
    task = crew.task(first, input={"invoices": INVOICES}, capabilities_required=["billing"])
    crashed = run(crew, first, "--crash-after", "4")
    assert crashed.returncode == -signal.SIGKILL
    assert crew.status(task) == "running"
    crew.hand_over(task, second)
    resumed = run(crew, second)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert crashed.stdout.splitlines() == [
        f"{first.id}: 0 of 6 are done",
        *(f"{first.id}: processes {invoice}" for invoice in INVOICES[:4]),
    ]
    assert resumed.stdout.splitlines() == [
        f"{second.id}: 4 of 6 are done",
        *(f"{second.id}: processes {invoice}" for invoice in INVOICES[4:]),
    ]
    assert (crew.status(task), crew.get(task).output["completed"]) == ("completed", 6)
    assert {each["value"]["completed"] for each in crew.archived(task, 2)} == {4, 6}


def test_it_has_thirty_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 30
