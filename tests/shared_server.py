"""The local server that tests share which only talk to it; where no conftest is, a plugin."""

from collections.abc import Iterator

import pytest

from tests.contract.local_server import ROOT_KEY, LocalServer, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """The local server, as a user starts it, for all tests that only talk to it."""
    with running(tmp_path_factory.mktemp("shared"), AGENT_MEMORY_ROOT_KEY=ROOT_KEY) as started:
        yield started
