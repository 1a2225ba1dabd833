"""The code of CrewAI's page runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sdk.pages import CREWAI_PAGE

pytest.importorskip("crewai", reason="`make crewai` runs this with CrewAI")


def test_the_code_of_the_page_runs(run_page: Callable[[Path], None]) -> None:
    run_page(CREWAI_PAGE)
