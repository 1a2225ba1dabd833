"""The pages whose code runs in the frameworks' environment alone."""

from tests.contract.local_server import ROOT

PAGES = [ROOT / "docs" / "how-to" / name for name in ("use-strands.md",)]
