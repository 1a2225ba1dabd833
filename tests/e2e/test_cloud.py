"""The emulated AWS leaves nothing behind."""

from pathlib import Path

from tests.contract.local_server import await_end
from tests.e2e import cloud
from tests.e2e.fixtures import E2E

pytestmark = E2E


def test_a_cloud_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    with cloud.running(tmp_path) as there:
        started = [there.process.pid, *there.children()]
    for process in started:
        await_end(process)
