"""The pages whose code runs in the frameworks' environments alone."""

import re

from tests.contract.local_server import ROOT

_HOW_TO = ROOT / "docs" / "how-to"
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CREWAI_PAGE = _HOW_TO / "use-crewai.md"
FRAMEWORKS_PAGES = [
    _HOW_TO / name
    for name in (
        "use-strands.md",
        "use-claudes-memory-tool.md",
        "use-google-adk.md",
        "use-pydantic-ai.md",
    )
]
