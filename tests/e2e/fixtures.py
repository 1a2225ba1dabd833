"""The deployment of a test session: made when the first test asks, for all that follow."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.local_server import await_end
from tests.e2e import cloud
from tests.e2e.deployment import Deployment
from tests.e2e.leftovers import list_keys, list_leftovers
from tests.e2e.queues import taken
from tests.e2e.toolkit import Toolkit

E2E = pytest.mark.e2e
DEPLOYED = pytest.param("deployed", marks=[E2E, pytest.mark.deployed])


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolkit]:
    """The CDK's command line, with this stack."""
    with ThreadPoolExecutor(1) as side:
        yield Toolkit(tmp_path_factory.mktemp("toolkit"), side)


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory, toolkit: Toolkit) -> Iterator[Deployment]:
    """The stack, deployed with one command and destroyed with one, on a separate cloud.

    At the end, the dead-letter queues of the stream and the schedule must be empty, and nothing
    that costs money or holds data may be left of the destroyed stack, but its two keys.
    """
    with cloud.running(tmp_path_factory.mktemp("cloud")) as running:
        before = list_leftovers(running)
        toolkit.bootstrap(running)
        toolkit.deploy(running)
        deployed = Deployment(running)
        yield deployed
        sqs = running.client("sqs")
        for queue in ("StreamDeadLetters", "ScheduleDeadLetters"):
            assert taken(sqs, deployed.outputs[queue]) == []
        functions = running.children()
        toolkit.destroy(running)
        left = list_leftovers(running)
        assert {kind: each for kind, each in left.items() if each != before[kind]} == {}, left
        assert len(list_keys(running)) == 2  # they wait for their deletion
    for function in functions:
        await_end(function)
