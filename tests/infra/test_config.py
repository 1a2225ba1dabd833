"""Test a deployment's settings; a wrong one is refused before anything is built."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.config import Config, ConfigError

_ROOT = Path(__file__).parents[2]
_DOMAIN = {
    "domain_name": "memory.example.com",
    "certificate_arn": "arn:aws:acm:eu-central-1:123456789012:certificate/abc",
    "hosted_zone_id": "Z123",
    "hosted_zone_name": "example.com",
}


def test_nothing_needs_to_be_chosen() -> None:
    config = Config.from_context({})
    assert (config.stage, config.runtime, config.architecture) == ("dev", "python3.14", "arm64")
    assert config.boto3 == "bundled"
    assert not config.snap_start
    assert config.domain_name is None


def test_what_others_put_into_the_context_is_left_alone() -> None:
    theirs = {
        "@aws-cdk/core:checkSecretUsage": True,
        "aws:cdk:x": [],
        "acknowledged-issue-numbers": [34892],
        "cli-telemetry": False,
        "company-cost-center": "4711",
        "vpc-id": "vpc-1",
    }
    assert Config.from_context(theirs) == Config()


@pytest.mark.parametrize(
    ("context", "retains"),
    [
        ({}, False),
        ({"stage": "prod"}, True),
        ({"stage": "staging"}, False),
        ({"stage": "staging", "retain": "true"}, True),
        ({"stage": "prod", "retain": "false"}, False),
    ],
)
def test_production_keeps_its_data_unless_configured_otherwise(
    context: dict[str, str], retains: bool
) -> None:
    assert Config.from_context(context).retains is retains


def test_the_command_line_gives_text() -> None:
    given = {"throttle_rate": "50", "snap_start": "true", "tenant_requests_per_minute": "7"}
    config = Config.from_context(given)
    assert (config.throttle_rate, config.snap_start) == (50, True)
    assert config.tenant_requests_per_minute == 7


def test_a_domain_is_whole() -> None:
    zone = ("Z123", "example.com")
    expected = ("memory.example.com", _DOMAIN["certificate_arn"], *zone)
    domain = Config.from_context(_DOMAIN).to_settings().domain
    assert domain is not None
    found = (domain.name, domain.certificate_arn, domain.zone_id, domain.zone_name)
    assert found == expected


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"stagee": "prod"}, "stagee"),
        ({"throttle-rate": "5"}, "throttle-rate"),
        ({"stage": "Prod!"}, "stage"),
        ({"stage": "team-1"}, "stage"),
        ({"runtime": "python3.9"}, "runtime"),
        ({"architecture": "sparc"}, "architecture"),
        ({"boto3": "none"}, "boto3"),
        ({"throttle_rate": "0"}, "throttle_rate"),
        ({"log_retention_days": "8"}, "log_retention_days"),
        ({"alarm_topic_arn": "on-call"}, "alarm_topic_arn"),
        ({"domain_name": "memory.example.com"}, "hosted_zone_id"),
        ({"hosted_zone_id": "Z123"}, "domain_name"),
        ({"jwt_issuer": "https://id.example.com"}, "jwt_audience"),
        ({"jwt_issuer": "http://id.example.com", "jwt_audience": "a"}, "jwt_issuer"),
        ({"cors_origins": "*"}, "cors_origins"),
        ({"trust_store": "s3://certificates/ca.pem"}, "domain_name"),
        ({"edge_domain_name": "api.example.com"}, "edge_certificate_arn"),
        ({"runtime": "python3.11"}, "python3.12"),
        ({"stream_parallelism": "11"}, "stream_parallelism"),
        ({"monthly_budget_usd": "100"}, "budget_email"),
        (
            {
                "standby_region": "eu-west-1",
                "standby_storage_key_arn": "arn:aws:kms:eu-west-1:123456789012:key/k",
                "memory_stream_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/m/stream/1",
                "log_table_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/l",
            },
            "restored tables are in one Region",
        ),
    ],
)
def test_a_wrong_choice_is_named(context: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Config.from_context(context)


def test_the_command_line_says_what_is_wrong_and_builds_nothing(tmp_path: Path) -> None:
    environment = {
        "CDK_CONTEXT_JSON": '{"stage": "Prod!"}',
        "CDK_OUTDIR": str(tmp_path),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }
    command = [sys.executable, "-m", "infra.app"]
    ran = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "agent-memory: -c stage:" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert list(tmp_path.iterdir()) == []
