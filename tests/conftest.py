"""Give all tests an AWS environment without an account, hypothesis, and a server."""

import gc
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.e2e.fixtures import deployment, toolkit
from tests.scheduling import Scheduling, is_long
from tests.shared_server import server

if TYPE_CHECKING:
    from xdist.remote import Producer

__all__ = ["deployment", "server", "toolkit"]

gc.disable()  # all that is imported and collected stays, so that looking for garbage finds none
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_REGION="eu-central-1",
    AWS_DEFAULT_REGION="eu-central-1",
    AWS_EC2_METADATA_DISABLED="true",
)
if threading.current_thread() is threading.main_thread():
    # a background job of a shell ignores Ctrl-C, and so would every process that tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)
for variable in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_PROFILE"):
    os.environ.pop(variable, None)

settings.register_profile(
    "contract",
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "40")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("contract")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of long tests where none of them runs: half of what collecting takes."""
    if "not long" not in config.option.markexpr:
        return None
    return is_long(f"{collection_path.relative_to(config.rootpath).as_posix()}/") or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests."""
    for each in items:
        if is_long(each.nodeid):
            each.add_marker("long")


def pytest_collection_finish() -> None:
    """Have each later search for garbage look only at what the tests themselves make."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> Scheduling:
    """Gives what is slow to start, a deployment or a synthesis, to one of the processes."""
    return Scheduling(config, log)
