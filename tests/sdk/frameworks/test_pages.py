"""The code of the frameworks' pages runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sdk.pages import FRAMEWORKS_PAGES

pytest.importorskip("strands", reason="`make frameworks` runs these with the frameworks")


@pytest.mark.parametrize("page", FRAMEWORKS_PAGES, ids=lambda page: page.name)
def test_the_code_of_the_page_runs(page: Path, run_page: Callable[[Path], None]) -> None:
    run_page(page)
