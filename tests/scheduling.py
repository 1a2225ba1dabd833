"""Which tests share a process when several run them."""

from xdist.scheduler import LoadScopeScheduling

_SHARED = {
    "tests/e2e/": "e2e",
    "tests/console/": "console",
    "tests/infra/": "infra",
    "tests/sdk/mcp/": "mcp",
    "tests/contract/test_readme.py": "pages",  # what a page does is there for its next block
    "tests/contract/test_growth.py": "growth",
    "tests/unit/search/test_quality.py": "quality",
}


class Scheduling(LoadScopeScheduling):
    """Tests that share something slow to start stay together; each other test is free."""

    def _split_scope(self, nodeid: str) -> str:
        if "[deployed" in nodeid:
            return "e2e"
        return next((room for path, room in _SHARED.items() if nodeid.startswith(path)), nodeid)
