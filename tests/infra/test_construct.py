"""The construct in another team's app: its stage, keys, tables, bus, boundary, network and logs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.infra.template import Template
from tools.service_wheel import PACKAGE as SERVICE
from tools.service_wheel import stage_package

if TYPE_CHECKING:
    from infra.agent_memory_cdk import FunctionCode

_ROOT = Path(__file__).parents[2]
_ARN = "arn:aws:{}:eu-central-1:123456789012:{}"
_MEMORY = _ARN.format("dynamodb", "table/team-memory")
_STREAM = f"{_MEMORY}/stream/2026-11-01T00:00:00.000"
_KEYS = {name: _ARN.format("kms", f"key/{name}") for name in ("storage", "values")}
_BOUNDARY = "arn:aws:iam::123456789012:policy/team-boundary"
_LOGS = _ARN.format("logs", "log-group:team-logs:*")
_USE_OF_THE_WHEEL = """
import sys
from pathlib import Path
from aws_cdk import App, Stack
from agent_memory_cdk import AgentMemory, Settings
stack = Stack(App(outdir=sys.argv[1]), "Assistant")
AgentMemory(stack, "Memory", Settings(name="assistant"))
stack.node.root.synth()
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> "FunctionCode":
    from infra.agent_memory_cdk import FunctionCode

    folder = tmp_path_factory.mktemp("code")
    (folder / "main.py").write_text("# the functions")
    return FunctionCode(folder, "0" * 64, "python3.14", "arm64")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory, code: "FunctionCode") -> Template:
    """Two memories in one stack of a stage: one on the team's own resources, one on none."""
    from aws_cdk import App, Stack, Stage
    from aws_cdk import aws_dynamodb as dynamodb
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_events as events
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs
    from aws_cdk import aws_s3 as s3

    from infra.agent_memory_cdk import AgentMemory, Network, Settings, State

    app = App(outdir=str(tmp_path_factory.mktemp("foreign")))
    stack = Stack(Stage(app, "Prod"), "Assistants")
    given = Settings(name="team-a")
    state = State(
        stack,
        "GivenState",
        given,
        storage_key=kms.Key.from_key_arn(stack, "StorageKey", _KEYS["storage"]),
        values_key=kms.Key.from_key_arn(stack, "ValuesKey", _KEYS["values"]),
        memory_table=dynamodb.TableV2.from_table_attributes(
            stack, "MemoryTable", table_arn=_MEMORY, table_stream_arn=_STREAM
        ),
        log_table=dynamodb.TableV2.from_table_arn(stack, "LogTable", f"{_MEMORY}-log"),
        archive_bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "team-archive"),
    )
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-1", availability_zones=["a"], private_subnet_ids=["subnet-1"]
    )
    AgentMemory(
        stack,
        "Given",
        given,
        code=code,
        state=state,
        bus=events.EventBus.from_event_bus_name(stack, "TeamBus", "team-bus"),
        network=Network(
            vpc=vpc,
            security_groups=(ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),),
        ),
        log_groups={"Api": logs.LogGroup.from_log_group_arn(stack, "TeamLogs", _LOGS)},
        permissions_boundary=iam.ManagedPolicy.from_managed_policy_arn(
            stack, "Boundary", _BOUNDARY
        ),
        tags={"cost-center": "4711"},
    )
    AgentMemory(stack, "Own", Settings(name="team-b", retain=False), code=code)
    assembly = app.synth()
    (template,) = [each.template for each in assembly.stacks_recursively]
    return Template(template, {}, "TeamB")


def test_two_in_one_stack_have_a_description_each(foreign: Template) -> None:
    names = {each["Properties"]["Name"] for each in foreign.of_type("SSM::Parameter").values()}
    assert names == {"/agent-memory/team-a/deployment", "/agent-memory/team-b/deployment"}


def test_what_is_given_is_not_made_again(foreign: Template) -> None:
    """All that is kept belongs to the memory that was given nothing."""
    for kind in ("DynamoDB::GlobalTable", "KMS::Key", "S3::Bucket", "Events::EventBus"):
        assert {id for id in foreign.of_type(kind) if not id.startswith("TeamB")} == set()


def test_functions_use_what_is_given(foreign: Template) -> None:
    variables = foreign.named("Lambda::Function", "GivenApi")["Environment"]["Variables"]
    assert variables["MEMORY_TABLE"] == "team-memory"
    assert variables["ENCRYPTION_KEY_ID"] == _KEYS["values"]
    assert variables["ARCHIVE_BUCKET"] == "team-archive"
    stream = foreign.named("Lambda::Function", "GivenStream")
    assert stream["Environment"]["Variables"]["EVENT_BUS"] == "team-bus"
    assert stream["VpcConfig"] == {"SecurityGroupIds": ["sg-1"], "SubnetIds": ["subnet-1"]}
    assert foreign.named("Lambda::EventSourceMapping", "Given")["EventSourceArn"] == _STREAM
    assert foreign.named("Lambda::Function", "GivenApi")["LoggingConfig"]["LogGroup"] == "team-logs"
    assert not [id for id in foreign.of_type("Logs::LogGroup") if id.startswith("GivenApi")]


def test_boundary_and_tags_reach_all_that_one_memory_has_and_no_other(foreign: Template) -> None:
    for id, role in foreign.of_type("IAM::Role").items():
        given = id.startswith("Given")
        assert (role["Properties"].get("PermissionsBoundary") == _BOUNDARY) == given
    for id, function in foreign.of_type("Lambda::Function").items():
        tags = {each["Key"]: each["Value"] for each in function["Properties"].get("Tags", ())}
        if id.startswith("Given"):
            assert tags == {"cost-center": "4711", "memory": "team-a", "service": "agent-memory"}


def test_a_table_without_its_stream_is_refused() -> None:
    from aws_cdk import App, Stack
    from aws_cdk import aws_dynamodb as dynamodb

    from infra.agent_memory_cdk import Settings, State, WrongChoice

    stack = Stack(App(), "Assistants")
    table = dynamodb.TableV2.from_table_arn(stack, "Table", _MEMORY)
    with pytest.raises(WrongChoice, match="table_stream_arn"):
        State(stack, "State", Settings(name="team-a"), memory_table=table)


def test_where_a_memory_is_does_not_change_what_it_keeps(
    foreign: Template, synthesize: Any
) -> None:
    """The logical ids of what is kept depend on the name alone."""
    kinds = ("DynamoDB::GlobalTable", "KMS::Key", "S3::Bucket", "SecretsManager::Secret")
    at_home = synthesize(stage="prod")
    for kind in kinds:
        kept = {id.removeprefix("Prod") for id in at_home.of_type(kind)}
        assert {id.removeprefix("TeamB") for id in foreign.of_type(kind) if "TeamB" in id} == kept


@pytest.mark.parametrize("name", ["Team", "team-1", "-team", "team--a", "a" * 21, ""])
def test_a_name_is_words_each_of_which_begins_with_a_letter(name: str) -> None:
    from infra.agent_memory_cdk import Settings, WrongChoice

    with pytest.raises(WrongChoice, match="name"):
        Settings(name=name)


def test_the_package_is_built_apart_and_carries_the_code(
    tmp_path: Path, code: "FunctionCode"
) -> None:
    """Another team's app needs this wheel and the service's, and nothing of this repository."""
    from infra.asset.build import Asset
    from infra.asset.target import Target
    from infra.package import build_wheel

    installed, out = tmp_path / "installed", tmp_path / "out"
    asset = Asset(code.path, code.digest, compiled=True)
    build_wheel(asset, Target("python3.14", "arm64"), tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(wheel, installed, "zip")
    stage_package(_ROOT, installed / SERVICE)
    ran = subprocess.run(
        [sys.executable, "-c", _USE_OF_THE_WHEEL, str(out)],
        cwd=tmp_path,
        # what the constructs make is validated in this process; to load the rules takes seconds
        env={**os.environ, "PYTHONPATH": str(installed), "CDK_VALIDATION": "false"},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    template = json.loads((out / "Assistant.template.json").read_text())
    assert "AssistantMemoryTable" in template["Resources"]
