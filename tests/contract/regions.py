"""Two Regions for tests: each has an engine, and the functions of a deployment in moto's Lambda."""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import boto3
import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.settings import ApiSettings, ScheduleSettings
from functions.platform.switches import SwitchedHandler
from functions.schedule.handler import build_handler
from operations.deployment import SCHEMA, Deployment
from operations.versions import get_variables
from tests.contract.aws_sessions import open_session
from tests.contract.engines import Engine
from tests.contract.service import Service
from tests.contract.streaming import Json
from tests.contract.transport import HandlerTransport, LambdaContext, open_client, turns

FIRST, SECOND = "eu-central-1", "eu-west-1"
FUNCTIONS = {"Api": 29, "Stream": 60, "Schedule": 60}  # the timeout of each, in seconds
STACK = "agent-memory-e2e"
SWITCHES = "/agent-memory/e2e/switches"
_ROLE = "arn:aws:iam::123456789012:role/functions"


class Replicator:
    """Copies the items of one Region's memory table to another's, when a test asks for it.

    It does so item by item, as global tables do: a transaction may arrive in part.
    """

    def __init__(self, source: Engine, target: Engine) -> None:
        self._source, self._target = source, target
        for item in source.items():
            target.client.put_item(TableName=target.memory, Item=item)

    def replicate(self, records: list[Json], but: list[Json] | None = None) -> None:
        """Copy what these records of the stream have changed, as it is now.

        Args:
            records: of the source.
            but: records of the target: what changed there since wins.
        """
        later = [each["dynamodb"]["Keys"] for each in but or ()]
        for key in (each["dynamodb"]["Keys"] for each in records):
            if key in later:
                continue
            found = self._source.client.get_item(TableName=self._source.memory, Key=key)
            if "Item" in found:
                self._target.client.put_item(TableName=self._target.memory, Item=found["Item"])
            else:
                self._target.client.delete_item(TableName=self._target.memory, Key=key)


class Region:
    """A deployment in one Region, and what its operator does there."""

    def __init__(self, name: str, service: Service, active: str | None = None) -> None:
        self.name, self._service = name, service
        with self.entered():
            for function, timeout in FUNCTIONS.items():
                create_function(function, timeout, self._build_variables(active))
            _create_mapping("Stream")
            _create_schedule("sweep")
            _create_alarm(f"{STACK}-AlarmsSweepIsLate1A")

    def _build_variables(self, active: str | None) -> dict[str, str]:
        own = {"KEY_CACHE_SECONDS": "60", "SWITCHES_PARAMETER": SWITCHES}
        variables = self._service.environment() | own
        return variables | ({"ACTIVE_REGION": active} if active else {})

    @cached_property
    def deployment(self) -> Deployment:
        """The deployment, as it describes itself."""
        engine = self._service.engine
        tables = {"MemoryTable": engine.memory, "LogTable": engine.log}
        return describe(**tables, Schedules="sweep", Stacks=STACK)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Use the credentials, region and endpoints of this Region in the context."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_DEFAULT_REGION", self.name)
            for name, value in self._service.engine.environment.items():
                patch.setenv(name, value)
            patch.setattr(boto3, "DEFAULT_SESSION", open_session())
            yield

    def operate(self, command: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call an operator's command in this Region."""
        with self.entered():
            return command(self.deployment, *arguments, **options)

    def _get_variables(self, function: str) -> Mapping[str, str]:
        """Return the variables of the version at a function's alias; Lambda adds the Region."""
        return get_variables(self.deployment, function) | {"AWS_REGION": self.name}

    def client(self, key: str) -> httpx.Client:
        """A client of this Region's API, as the alias has it now."""
        with self.entered():
            settings = ApiSettings.from_env(self._get_variables("Api"))
            handler = SwitchedHandler(
                lambda each: App(Container(each, self._service.clock)), settings
            )
        client = open_client(HandlerTransport(handler, turns(parallel=True)), key)
        client.event_hooks = {}  # they let no answer of the 500s pass
        return client

    def sweep(self) -> Json:
        with self.entered():
            settings = ScheduleSettings.from_env(self._get_variables("Schedule"))
            handler = SwitchedHandler(
                lambda each: build_handler(Container(each, self._service.clock)), settings
            )
            found: Json = handler({}, LambdaContext())
        return found

    @property
    def background(self) -> set[str]:
        """The states of the stream's mapping and of the schedule."""
        with self.entered():
            functions, scheduler = boto3.client("lambda"), boto3.client("scheduler")
            (mapping,) = functions.list_event_source_mappings()["EventSourceMappings"]
            states = mapping["State"], scheduler.get_schedule(Name="sweep")["State"]
        return {each.upper() for each in states}

    @property
    def is_paged(self) -> bool:
        """Return whether the alarm for missing sweeps notifies its topic."""
        with self.entered():
            (alarm,) = boto3.client("cloudwatch").describe_alarms()["MetricAlarms"]
        return bool(alarm["ActionsEnabled"])


_OUTPUTS = {"Schema": SCHEMA, "Alias": "live", "Switches": SWITCHES}


def describe(**outputs: str) -> Deployment:
    """A deployment whose functions are named like their parts."""
    functions = {f"{name}Function": name for name in FUNCTIONS}
    versions = {f"{name}Version": "1" for name in FUNCTIONS}
    return Deployment("e2e", _OUTPUTS | functions | versions | outputs)


def create_function(name: str, timeout: int, variables: Mapping[str, str]) -> None:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("main.py", "handler = print")
    functions = boto3.client("lambda")
    if not boto3.client("iam").list_roles()["Roles"]:
        boto3.client("iam").create_role(RoleName="functions", AssumeRolePolicyDocument="{}")
    functions.create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=_ROLE,
        Handler="main.handler",
        Timeout=timeout,
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": variables},
        Publish=True,
    )
    functions.create_alias(FunctionName=name, Name="live", FunctionVersion="1")


def _create_mapping(function: str) -> None:
    """Map the stream of a table of moto's to a function: the engine's own is read by tests."""
    region = boto3.client("lambda").meta.region_name
    dynamodb = boto3.client("dynamodb", endpoint_url=f"https://dynamodb.{region}.amazonaws.com")
    table = dynamodb.create_table(
        TableName="memory",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )["TableDescription"]
    boto3.client("lambda").create_event_source_mapping(
        FunctionName=f"{function}:live",
        EventSourceArn=table["LatestStreamArn"],
        StartingPosition="TRIM_HORIZON",
        Enabled=True,
    )


def _create_schedule(name: str) -> None:
    boto3.client("scheduler").create_schedule(
        Name=name,
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": "arn:aws:lambda:eu-central-1:123456789012:function:f", "RoleArn": _ROLE},
        State="ENABLED",
    )


def _create_alarm(name: str) -> None:
    boto3.client("cloudwatch").put_metric_alarm(
        AlarmName=name,
        Namespace="agent-memory",
        MetricName="SweepLag",
        Statistic="Maximum",
        Period=300,
        EvaluationPeriods=3,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
    )
