"""Fixtures for tests of workers."""

from pathlib import Path

import pytest

from tests.sdk.worker.agents import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """The file in which agent processes note their work."""
    return Journal(tmp_path / "journal")
