"""Progress where there is no terminal."""

from io import StringIO

import pytest
from agent_memory.cli import progress


def test_a_pipe_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0)
    stream = StringIO()
    with progress.Progress("import", stream) as shown:
        shown.reached(1_200, None)
        shown.reached(2_400, 0.5)
    assert stream.getvalue() == "import: 1,200 entries\nimport: 2,400 entries, 50%\n"


def test_short_work_says_nothing_in_a_pipe() -> None:
    stream = StringIO()
    with progress.Progress("import", stream) as shown:
        shown.reached(1_200, 1.0)
    assert stream.getvalue() == ""
