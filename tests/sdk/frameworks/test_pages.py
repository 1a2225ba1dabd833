"""The code of the frameworks' pages runs."""

import re
import runpy
from pathlib import Path

import pytest
from agent_memory import Client

from tests.sdk.frameworks.pages import PAGES

pytest.importorskip("strands", reason="`make frameworks` runs these with the frameworks")
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_the_page_runs(
    page: Path, admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "example.py"
    script.write_text("\n".join(_BLOCK.findall(page.read_text(encoding="utf-8"))), "utf-8")
    monkeypatch.setenv("AGENT_MEMORY_URL", admin.settings.server_url)
    monkeypatch.setenv("AGENT_MEMORY_API_KEY", admin.settings.api_key)
    runpy.run_path(str(script), run_name="__main__")
