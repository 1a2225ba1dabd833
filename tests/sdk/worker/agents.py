"""Agent processes for tests: started, watched by their journal, and ended by force."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.contract.local_server import ROOT
from tests.sdk.crew import until


class Journal:
    """The items that agents processed, in order: lines of (task or word, item, pid)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    @property
    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.path.read_text().splitlines()]

    def items(self, task_id: str) -> list[str]:
        """The items of a task that were processed, in order."""
        return [item for word, item, _ in self.lines if word == task_id]

    def pids(self, task_id: str) -> list[int]:
        return [int(pid) for word, _, pid in self.lines if word == task_id]

    def await_hold(self) -> None:
        """Wait until an agent has stopped at the item that `hold` names."""
        until(lambda: any(word == "held" for word, _, _ in self.lines))


@contextmanager
def agent_process(
    address: str, api_key: str, journal: Journal, **options: Any
) -> Iterator["subprocess.Popen[str]"]:
    """`tests.sdk.worker.batch_agent` under a key; killed at the end if it still runs."""
    told = json.dumps({"journal": str(journal.path), **options})
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sdk.worker.batch_agent", told],
        cwd=ROOT,
        env=os.environ | {"AGENT_MEMORY_URL": address, "AGENT_MEMORY_API_KEY": api_key},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
