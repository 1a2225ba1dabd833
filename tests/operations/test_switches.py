"""Switches change what running functions do; no version is published, and no alias moves."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto import mock_aws

from functions.platform.aws import create_client
from functions.platform.limits import SWITCH_SECONDS
from functions.platform.settings import ScheduleSettings
from functions.platform.switches import SwitchedHandler
from operations.deployment import Deployment
from operations.root_key import rotate_root_key
from operations.switches import get_switches, set_read_only, set_switches
from tests.contract.aws_sessions import open_session
from tests.contract.regions import FUNCTIONS, SWITCHES, create_function, describe
from tests.contract.transport import MovableClock

_DEPLOYED = ScheduleSettings(
    memory_table="memory", log_table="log", encryption_key_id="key", switches_parameter=SWITCHES
)


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment with functions and a root key, and no switch."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", open_session())
        for name, timeout in FUNCTIONS.items():
            create_function(name, timeout, {})
        boto3.client("secretsmanager").create_secret(Name="root", SecretString="former")
        yield describe(RootKeySecretId="root")


class Function:
    """A running function that answers with the settings that it follows."""

    def __init__(self, deployed: ScheduleSettings = _DEPLOYED) -> None:
        self.clock = MovableClock(datetime(2030, 1, 1, tzinfo=UTC))
        self.builds = 0
        self.handler = SwitchedHandler(self._build, deployed, self.clock)

    def _build(self, settings: ScheduleSettings) -> Any:
        self.builds += 1
        return lambda _event, _context: {"settings": settings}

    def settings(self, *, later: float = SWITCH_SECONDS) -> ScheduleSettings:
        self.clock.advance(seconds=later)
        found: ScheduleSettings = self.handler({})["settings"]
        return found


def test_a_function_follows_a_switch_within_30_seconds_and_is_as_deployed_without(
    deployment: Deployment,
) -> None:
    function = Function()
    assert not function.settings().is_read_only
    set_read_only(deployment, is_read_only=True, wait=lambda _: None)
    assert not function.settings(later=SWITCH_SECONDS - 1).is_read_only
    assert function.settings(later=1).is_read_only
    assert get_switches(deployment) == {"read_only": True}
    set_read_only(deployment, is_read_only=False)
    assert not function.settings().is_read_only
    assert get_switches(deployment) == {}
    assert function.builds == 3


def test_tables_and_the_active_region_are_switched_and_one_switch_keeps_the_others(
    deployment: Deployment,
) -> None:
    function = Function(replace(_DEPLOYED, aws_region="eu-west-1"))
    set_switches(deployment, memory_table="memory-restored", log_table="log-restored")
    set_switches(deployment, active_region="eu-central-1")
    found = function.settings()
    assert (found.memory_table, found.log_table) == ("memory-restored", "log-restored")
    assert found.is_read_only
    set_switches(deployment, memory_table=None, log_table=None)
    assert function.settings().memory_table == "memory"
    assert get_switches(deployment) == {"active_region": "eu-central-1"}


def test_read_only_waits_for_the_last_write(deployment: Deployment) -> None:
    waited: list[float] = []
    set_read_only(deployment, is_read_only=True, wait=waited.append)
    assert waited == [SWITCH_SECONDS + max(FUNCTIONS["Api"], FUNCTIONS["Schedule"])]


def test_a_rotated_root_key_is_read_again_and_no_version_is_published(
    deployment: Deployment,
) -> None:
    function = Function()
    version = rotate_root_key(deployment)
    function.settings()
    assert function.builds == 2
    secret = boto3.client("secretsmanager").get_secret_value(SecretId="root")
    assert (secret["VersionId"], secret["SecretString"] != "former") == (version, True)
    functions = boto3.client("lambda")
    for name in FUNCTIONS:
        assert functions.get_alias(FunctionName=name, Name="live")["FunctionVersion"] == "1"
        listed = functions.list_versions_by_function(FunctionName=name)["Versions"]
        assert [each["Version"] for each in listed] == ["$LATEST", "1"]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list of one flag: while it is True, Parameter Store refuses a function's calls."""
    is_refused = [False]

    def refuse(request: Any, **_: Any) -> AWSResponse | None:
        if not is_refused[0]:
            return None

        class Body:
            def stream(self, **_: Any) -> Iterator[bytes]:
                yield b'{"__type": "AccessDeniedException"}'

        return AWSResponse(request.url, 400, {}, Body())

    def create(service: str) -> Any:
        client = create_client(service)
        client.meta.events.register_first("before-send.ssm.GetParameter", refuse)
        return client

    monkeypatch.setattr("functions.platform.switches.create_client", create)
    return is_refused


def test_switches_that_can_not_be_read_stay_and_unknown_ones_stop_writes(
    deployment: Deployment, refused: list[bool]
) -> None:
    set_switches(deployment, memory_table="memory-restored")
    started = Function()
    refused[0] = True
    new = Function()
    assert new.settings().is_read_only
    assert started.settings().memory_table == "memory-restored"
    assert not started.settings().is_read_only
    refused[0] = False
    found = new.settings(later=1)
    assert (found.memory_table, found.is_read_only) == ("memory-restored", False)


def test_a_damaged_parameter_changes_nothing(deployment: Deployment) -> None:
    set_switches(deployment, memory_table="memory-restored")
    function = Function()
    for text in ("[]", "{"):
        boto3.client("ssm").put_parameter(Name=SWITCHES, Value=text, Type="String", Overwrite=True)
        assert function.settings().memory_table == "memory-restored"


def test_a_function_without_the_parameter_reads_nothing() -> None:
    function = Function(replace(_DEPLOYED, switches_parameter=None))
    assert not function.settings().is_read_only
    assert function.builds == 1
