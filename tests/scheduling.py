"""Which tests share a process when several run them, and which ones `make test` leaves out."""

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

# They start browsers, servers, or command lines, synthesize stacks, try each route, or crash at
# each write: two thirds of the time of all tests. `make test-long` runs them.
LONG = (
    "tests/console/",
    "tests/infra/",
    "tests/operations/",
    "tests/sdk/adapters/",
    "tests/sdk/cli/",
    "tests/sdk/mcp/",
    "tests/sdk/worker/",
    "tests/sdk/test_faults",
    "tests/sdk/test_key_addresses.py",
    "tests/sdk/test_package.py",
    "tests/sdk/test_pytest_plugin.py",
    "tests/sdk/test_service_package.py",
    "tests/sdk/test_types.py",
    "tests/sdk/test_typescript.py",
    "tests/sdk/test_wheel.py",
    "tests/unit/test_learning_benchmark.py",
    "tests/contract/test_adversary.py",
    "tests/contract/test_audit_walk.py",
    "tests/contract/test_authorization_matrix.py",
    "tests/contract/test_conversations_faults.py",
    "tests/contract/test_existence.py",
    "tests/contract/test_fuzz.py",
    "tests/contract/test_growth.py",
    "tests/contract/test_learning_attacks.py",
    "tests/contract/test_local_",
    "tests/contract/test_openintent_client.py",
    "tests/contract/test_readme.py",
    "tests/contract/test_region_switch.py",
    "tests/contract/test_runtime_client.py",
    "tests/contract/test_stateful",
)


def is_long(nodeid: str) -> bool:
    """Tell whether a test, or all tests of a path, are long ones."""
    return nodeid.startswith(LONG)


class Scheduling(LoadScopeScheduling):
    """Tests that share something slow to start stay together; each other test is free."""

    def _split_scope(self, nodeid: str) -> str:
        if "[deployed" in nodeid:
            return "e2e"
        return next((room for path, room in _SHARED.items() if nodeid.startswith(path)), nodeid)
