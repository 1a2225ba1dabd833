"""The pages whose code runs in the frameworks' environment alone."""

from tests.contract.local_server import ROOT

_NAMES = ("use-strands.md", "use-claudes-memory-tool.md", "use-google-adk.md")
PAGES = [ROOT / "docs" / "how-to" / name for name in _NAMES]
