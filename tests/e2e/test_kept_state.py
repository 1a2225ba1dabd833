"""Test that a deployment's kept resources survive a restore into the running service.

tests/e2e/test_aws_day.py destroys a deployment and deploys again on what it kept.
"""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.contract.bodies import MEMORY, create, entry, read
from tests.contract.expect import ok
from tests.contract.streaming import log
from tests.e2e import cloud
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.test_operations import attempt, operate
from tests.e2e.toolkit import Toolkit
from tests.e2e.waiting import awaited

pytestmark = E2E
_LONGEST_REFUSAL = 120.0  # seconds: 30 until all know the switch, 60 until the last run has ended


@pytest.fixture(autouse=True)
def nothing_is_denied() -> None:
    """These tests have a cloud of their own."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployment, Toolkit]]:
    """A deployment that keeps its data."""
    with (
        ThreadPoolExecutor(1) as side,
        cloud.running(tmp_path_factory.mktemp("kept")) as there,
    ):
        toolkit = Toolkit(tmp_path_factory.mktemp("keeping"), side, {"retain": "true"})
        toolkit.bootstrap(there)
        toolkit.deploy(there)
        deployed = Deployment(there)
        operate(deployed, "protect")
        yield deployed, toolkit


class Writer:
    """Writes entries without a pause, and knows which were taken and for how long none was."""

    def __init__(self, client: httpx.Client) -> None:
        self._client, self._stop = client, threading.Event()
        client.event_hooks = {}  # they let no answer of the 500s pass
        self.taken: dict[str, str] = {}
        self.refusals: list[str] = []
        self.longest = 0.0

    def write(self) -> None:
        """Write until it is stopped."""
        last = time.monotonic()
        while not self._stop.wait(0.1):
            key = f"w{len(self.taken) + len(self.refusals)}"
            answer = self._client.post(MEMORY, json=entry(key=key))
            if answer.status_code == 201:
                self.taken[key] = answer.json()["id"]
                self.longest, last = max(self.longest, time.monotonic() - last), time.monotonic()
            else:
                self.refusals.append(f"{answer.status_code} {answer.text}")

    def stop(self) -> None:
        self._stop.set()


def await_events(client: httpx.Client, number: int) -> None:
    """Wait until the log of the agent ada has this number of events."""
    awaited(lambda: len(log(client, "agents/ada")) >= number, f"event {number}")


@contextmanager
def writing(client: httpx.Client) -> Iterator[Writer]:
    """Write during the context, and then until three more writes were accepted."""
    writer = Writer(client)
    with ThreadPoolExecutor(1) as side:
        written = side.submit(writer.write)
        try:
            yield writer
            enough = len(writer.taken) + 3
            awaited(lambda: len(writer.taken) > enough, "writes after the switch")
        finally:
            writer.stop()
        written.result()


def test_a_restore_into_service_that_is_cut_off_twice_loses_nothing_without_a_word(
    kept: tuple[Deployment, Toolkit], tmp_path: Path
) -> None:
    deployed, toolkit = kept
    tenant, line = deployed.service.tenant(), toolkit.render_deployment()
    ada = tenant.agent("ada")
    secret = create(ada, entry(key="kept-secret", sensitivity="confidential"))
    await_events(ada, 1)
    left_behind, flag = tmp_path / "left-behind.jsonl", tmp_path / "deployed-once"
    command = ("restore-into-service", "latest", "restored", str(left_behind), "--deploy")
    once = f"test ! -e {flag} && touch {flag} && {line}"
    with writing(tenant.agent("bob")) as writer:
        for cut_off in ("false", once):  # before anything has changed, and after the switch
            assert "repeat this command" in attempt(deployed, *command, cut_off).stderr
        report = json.loads(operate(deployed, *command, line))
    switched = Deployment(deployed.cloud)
    assert switched.outputs["MemoryTable"] == f"{deployed.outputs['MemoryTable']}-restored"
    assert all(each.startswith(("502", "503")) for each in writer.refusals), writer.refusals
    assert writer.longest < _LONGEST_REFUSAL
    left = [json.loads(each)["item"] for each in left_behind.read_text().splitlines()]
    stored = str(switched.items("MemoryTable", f"{tenant.id}#") + left)
    assert [key for key in writer.taken if f"'{key}'" not in stored] == []
    assert report["differences"]["MemoryTable"]["only_in_old"] > 0
    assert ok(read(ada, secret["id"]))["value"] == secret["value"]
    create(ada, entry(key="written-after"))
    await_events(ada, 2)
    assert deployed.cloud.new_denials() == []
