"""CrewAI's persistence, in an environment of its own: CrewAI needs an older pydantic than ours.

`make crewai` builds that environment, and runs these tests.
"""

import os
import subprocess
from pathlib import Path

import pytest
from agent_memory import Client

from tests.contract.local_server import ROOT

PYTHON = Path(os.environ.get("CREWAI_PYTHON", ROOT / ".venv-crewai" / "bin" / "python"))
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="`make crewai` installs CrewAI first")


def run(client: Client, program: str) -> list[str]:
    """Runs a program under CrewAI's interpreter and the client's key; the lines that it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "PYTHONPATH": str(ROOT / "sdk"),
        "AGENT_MEMORY_URL": client.settings.server_url,
        "AGENT_MEMORY_API_KEY": client.settings.api_key,
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
    }
    done = subprocess.run(
        [str(PYTHON), str(ROOT / program)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_states_and_feedback_come_back(alice: Client) -> None:
    run(alice, "tests/sdk/adapters/crewai_checks.py")


def test_a_flow_goes_on_with_the_state_of_its_last_run(alice: Client) -> None:
    assert run(alice, "sdk/examples/crewai_flow.py")[-1] == "draft 1"
    assert run(alice, "sdk/examples/crewai_flow.py")[-1] == "draft 2"
