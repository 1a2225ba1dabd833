"""Each function gets what its settings ask for, and nothing else."""

import ast
from pathlib import Path
from typing import Any

import pytest

from functions.platform.settings import ApiSettings, ScheduleSettings, Settings, StreamSettings
from tests.infra.template import FUNCTIONS, Template
from tests.infra.variables import LEFT_OUT, SEARCH_CHOICES

_ROOT = Path(__file__).parents[2]
_SETTINGS: dict[str, type[Settings]] = {
    "Api": ApiSettings,
    "Stream": StreamSettings,
    "Schedule": ScheduleSettings,
}
_NUMBERS = {
    "LOG_RETENTION_DAYS": "365",
    "LOG_WAIT_SECONDS": "3",
    "REQUEST_LOG_SAMPLE": "0.05",
    "PRINCIPAL_REQUESTS_PER_MINUTE": "60000",
    "TENANT_REQUESTS_PER_MINUTE": "180000",
}


@pytest.fixture(params=FUNCTIONS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_each_entry_point_has_a_function(dev: Template) -> None:
    handlers = {each["Properties"]["Handler"] for each in dev.of_type("Lambda::Function").values()}
    packages = ("api", "schedule", "stream")
    assert {f"functions.{package}.main.handler" for package in packages} <= handlers


def test_a_functions_handler_is_there(dev: Template, name: str) -> None:
    """Importing the module would build the function, so it is only read."""
    module, _, attribute = dev.function(name)["Handler"].rpartition(".")
    tree = ast.parse((_ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    assert attribute in stored


def test_a_functions_environment_is_what_its_settings_take(dev: Template, name: str) -> None:
    given: dict[str, Any] = dev.function(name)["Environment"]["Variables"]
    known = {name.upper() for name in _SETTINGS[name].USED}
    assert set(given) == known - LEFT_OUT[name] - SEARCH_CHOICES
    assert _SETTINGS[name].from_env(
        _NUMBERS | {name: name.lower() for name in given.keys() - _NUMBERS}
    )


def test_a_functions_environment_names_what_the_stack_makes(dev: Template) -> None:
    given = dev.function("Api")["Environment"]["Variables"]
    for part in ("Memory", "Log"):  # literals: a version doesn't see what a reference means
        table = dev.named("DynamoDB::GlobalTable", f"{part}Table")
        assert (
            given[f"{part.upper()}_TABLE"]
            == table["TableName"]
            == f"agent-memory-dev-{part.lower()}"
        )
    assert given["ARCHIVE_BUCKET"] == dev.named("S3::Bucket", "ArchiveBucket")["BucketName"]
    assert given["ROOT_KEY_SECRET_ID"] == {"Ref": dev.id_of("SecretsManager::Secret", "RootKey")}
    values = dev.id_of("KMS::Key", "ValuesKey")
    assert given["ENCRYPTION_KEY_ID"] == {"Fn::GetAtt": [values, "Arn"]}
    bus = dev.function("Stream")["Environment"]["Variables"]["EVENT_BUS"]
    assert bus == dev.named("Events::EventBus", "EventBus")["Name"] == "agent-memory-dev"


def test_a_function_logs_as_json_into_its_own_log(dev: Template, name: str) -> None:
    function = dev.function(name)
    own = dev.id_of("Logs::LogGroup", f"{name}Function")
    logging = function["LoggingConfig"]
    assert (logging["LogFormat"], logging["LogGroup"]) == ("JSON", {"Ref": own})
    assert "TracingConfig" not in function
    assert function["Role"] == {"Fn::GetAtt": [dev.id_of("IAM::Role", f"{name}Function"), "Arn"]}


def test_logs_are_kept_for_as_long_as_the_deployment_says(dev: Template, chosen: Template) -> None:
    for template, days in ((dev, 30), (chosen, 365)):
        logs = template.of_type("Logs::LogGroup").values()
        assert {each["Properties"]["RetentionInDays"] for each in logs} == {days}


def test_logs_are_encrypted_by_the_storage_key_that_lets_them(dev: Template) -> None:
    key = dev.id_of("KMS::Key", "StorageKey")
    for log in dev.of_type("Logs::LogGroup").values():
        assert log["Properties"]["KmsKeyId"] == {"Fn::GetAtt": [key, "Arn"]}
    policy = dev.named("KMS::Key", "StorageKey")["KeyPolicy"]["Statement"]
    (of_logs,) = [each for each in policy if "logs." in str(each["Principal"])]
    assert "kms:EncryptionContext:aws:logs:arn" in of_logs["Condition"]["ArnLike"]
    assert set(of_logs["Action"]) == {
        "kms:Decrypt",
        "kms:DescribeKey",
        "kms:Encrypt",
        "kms:GenerateDataKey*",
    }


def test_all_functions_run_one_asset_on_one_platform(dev: Template) -> None:
    functions = [dev.function(name) for name in FUNCTIONS]
    assert len({function["Code"]["S3Key"] for function in functions}) == 1
    platforms = {(function["Runtime"], *function["Architectures"]) for function in functions}
    assert platforms == {("python3.14", "arm64")}


def test_the_api_function_ends_before_its_gateway_gives_up(dev: Template) -> None:
    waits = dev.one("ApiGatewayV2::Integration")["TimeoutInMillis"] / 1000
    assert dev.function("Api")["Timeout"] <= waits <= 30


def test_a_snapshot_is_started_only_where_the_deployment_asks_for_it(
    dev: Template, chosen: Template
) -> None:
    assert "SnapStart" not in dev.function("Api")
    assert chosen.function("Api")["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert "SnapStart" not in chosen.function("Schedule")
