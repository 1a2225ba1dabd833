"""Tables that take each other's place, what is taken over by reference, and daily backups."""

import json
from typing import Any

import pytest

from infra.config import Config, ConfigError
from tests.infra.conftest import Synthesize
from tests.infra.template import Template

_ACCOUNT = "eu-central-1:123456789012"
_TABLE = f"arn:aws:dynamodb:{_ACCOUNT}:table/agent-memory-prod-"
_STREAM = "/stream/2026-11-22T12:00:00.000"
_VAULT = "arn:aws:backup:eu-central-1:210987654321:backup-vault:copies"


def _refer(suffix: str, prefix: str = "") -> dict[str, str]:
    return {
        f"{prefix}memory_stream_arn": f"{_TABLE}memory{suffix}{_STREAM}",
        f"{prefix}log_table_arn": f"{_TABLE}log{suffix}",
    }


@pytest.fixture(scope="module")
def before(synthesize: Synthesize) -> Template:
    """The deployment whose functions may use restored tables, too."""
    backups = {"backup_days": "35", "backup_copy_vault_arn": _VAULT}
    return synthesize(stage="prod", **_refer("-restored", "also_"), **backups)


@pytest.fixture(scope="module")
def after(synthesize: Synthesize) -> Template:
    """The one whose functions use these, and may still use the former ones."""
    return synthesize(stage="prod", **_refer("-restored"), **_refer("", "also_"))


def _mappings(template: Template) -> dict[str, Any]:
    found = template.of_type("Lambda::EventSourceMapping")
    return {id: each["Properties"]["EventSourceArn"] for id, each in found.items()}


def test_functions_may_use_both_pairs_before_and_after_the_switch(
    before: Template, after: Template
) -> None:
    for template, other in ((before, "-restored"), (after, "")):
        for function in ("Api", "Stream", "Schedule"):
            statements = json.dumps(list(template.statements(f"{function}Function")))
            assert f'{_TABLE}memory{other}"' in statements
            assert f'{_TABLE}log{other}"' in statements


def test_both_streams_are_read_by_mappings_that_the_switch_does_not_replace(
    before: Template, after: Template
) -> None:
    assert _mappings(before).keys() == _mappings(after).keys()
    restored = f"{_TABLE}memory-restored{_STREAM}"
    (id,) = [id for id, arn in _mappings(before).items() if arn == restored]
    assert _mappings(after)[id] == restored


def test_a_functions_version_changes_with_its_tables(before: Template, after: Template) -> None:
    for template, suffix in ((before, ""), (after, "-restored")):
        variables = template.function("Api")["Environment"]["Variables"]
        assert variables["MEMORY_TABLE"] == f"agent-memory-prod-memory{suffix}"
        assert variables["LOG_TABLE"] == f"agent-memory-prod-log{suffix}"
    versions = [set(template.of_type("Lambda::Version")) for template in (before, after)]
    assert not versions[0] & versions[1]


def test_tables_that_are_out_of_use_are_left_to_themselves(after: Template) -> None:
    """A deployment that forgot the tables in use would make new ones, which AWS refuses."""
    assert not after.of_type("DynamoDB::GlobalTable")


def test_tables_and_archive_are_backed_up_each_day_and_copied_to_another_account(
    before: Template, after: Template
) -> None:
    (rule,) = before.one("Backup::BackupPlan")["BackupPlan"]["BackupPlanRule"]
    assert rule["ScheduleExpression"] == "cron(0 3 * * ? *)"
    assert rule["Lifecycle"] == {"DeleteAfterDays": 35}
    copy = {"DestinationBackupVaultArn": _VAULT, "Lifecycle": {"DeleteAfterDays": 35}}
    assert rule["CopyActions"] == [copy]
    tables = before.one("Backup::BackupSelection")["BackupSelection"]["Resources"]
    ids = [before.id_of("DynamoDB::GlobalTable", f"{name}Table") for name in ("Memory", "Log")]
    ids.append(before.id_of("S3::Bucket", "ArchiveBucket"))
    assert tables == [{"Fn::GetAtt": [id, "Arn"]} for id in ids]
    policies = str(before.named("IAM::Role", "BackupsRole")["ManagedPolicyArns"])
    assert "AWSBackupServiceRolePolicyForBackup" in policies
    assert "AWSBackupServiceRolePolicyForS3Backup" in policies
    assert not after.of_type("Backup::BackupPlan")


def test_the_archive_has_versions_only_where_backups_need_them(
    before: Template, after: Template
) -> None:
    bucket = before.one("S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule, _) = bucket["LifecycleConfiguration"]["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 35}
    assert "VersioningConfiguration" not in after.one("S3::Bucket")


def test_a_deployment_may_keep_nothing_of_its_own(synthesize: Synthesize) -> None:
    key = f"arn:aws:kms:{_ACCOUNT}:key/1111111{{}}-1111-1111-1111-111111111111"
    secret = f"arn:aws:secretsmanager:{_ACCOUNT}:secret:RootKey-AbCdEf"
    template = synthesize(
        stage="prod",
        **_refer("-restored"),
        storage_key_arn=key.format(1),
        values_key_arn=key.format(2),
        archive_bucket="agent-memory-prod-archive",
        root_key_arn=secret,
    )
    for kind in ("DynamoDB::GlobalTable", "KMS::Key", "S3::Bucket", "SecretsManager::Secret"):
        assert not template.of_type(kind)
    variables = template.function("Api")["Environment"]["Variables"]
    assert variables["ENCRYPTION_KEY_ID"] == key.format(2)
    assert variables["ROOT_KEY_SECRET_ID"] == secret
    assert variables["ARCHIVE_BUCKET"] == "agent-memory-prod-archive"


@pytest.mark.parametrize(
    "context",
    [
        {"memory_stream_arn": f"{_TABLE}memory{_STREAM}"},
        {"memory_stream_arn": f"{_TABLE}memory", "log_table_arn": f"{_TABLE}log"},
        {"also_log_table_arn": f"{_TABLE}log"},
    ],
)
def test_half_a_reference_is_refused(context: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        Config.from_context(context)
