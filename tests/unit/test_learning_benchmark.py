"""The benchmark of learning, with recorded answers: the path of an answer loses nothing."""

import os
import subprocess
import sys

from benchmarks.learning import read_dialogues


def test_there_are_thirty_dialogues_with_gold_facts() -> None:
    dialogues = read_dialogues()
    assert len(dialogues) == 30
    assert all(each.messages for each in dialogues)
    assert sum(len(each.gold) for each in dialogues) > 45


def test_recorded_answers_are_learned_with_their_evidence() -> None:
    """The process has no other function, whose state it would share."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith("AGENT_MEMORY_MODEL")}
    command = [sys.executable, "-m", "benchmarks", "learning"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    row = ran.stdout.strip().splitlines()[-1].split()
    assert row == ["100.0", "100.0", "100.0", "0", "30", "3000"]
