"""The pytest plugin: a fixture with the whole service in the test's process.

pytest loads this module in every run, so it imports only cheap modules until the fixture is used.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agent_memory.testing import MemoryService, Process


@pytest.fixture(scope="session")
def _memory_process() -> Iterator["Process"]:
    """Yield the started service: a start takes about a second, emptying it a hundredth of that."""
    from agent_memory.testing import ServiceNotInstalledError, process  # noqa: PLC0415

    try:
        with process() as started:
            yield started
    except ServiceNotInstalledError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def memory_service(_memory_process: "Process") -> Iterator["MemoryService"]:
    """Yield a fresh memory service, as a `Client` of a user with all permissions.

    It has a `clock` that the test moves, `as_agent`, `as_coordinator` and `as_async` for other
    clients, and `settle` to finish background work. See `agent_memory.testing.MemoryService`.
    """
    from agent_memory.testing import MemoryService  # noqa: PLC0415

    with MemoryService(_memory_process) as service:
        yield service
