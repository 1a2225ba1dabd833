"""Each set of options gives templates that CloudFormation accepts, in all Regions."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infra.conftest import CHOICES, EVERYTHING, Synthesize
from tests.infra.template import Template
from tests.infra.test_edge import EDGE
from tests.infra.test_regions import STANDBY

_REGIONS = (
    "ap-northeast-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ca-central-1",
    "cn-north-1",
    "eu-central-1",
    "eu-north-1",
    "eu-west-1",
    "sa-east-1",
    "us-east-1",
    "us-gov-west-1",
    "us-west-2",
)
_REST = EDGE | {
    "stage": "prod",
    "vector_index": "true",
    "backup_days": "35",
    "cors_origins": "https://app.example.com",
    "max_write_units": "1000",
    "max_read_units": "1000",
    "monthly_budget_usd": "100",
    "budget_email": "ops@example.com",
    "also_memory_stream_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/"
    "agent-memory-prod-memory-restored/stream/2026-11-22T12:00:00.000",
    "also_log_table_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/"
    "agent-memory-prod-log-restored",
}
_WITHOUT_BUDGETS = {"eu-north-1", "us-gov-west-1"}  # CloudFormation makes none there
_WITHOUT_SNAP_START = {"cn-north-1", "us-gov-west-1"}
_OPTIONS: dict[str, dict[str, str]] = {
    "trial": {},
    "production": {"stage": "prod"},
    "everything": EVERYTHING,
    "choices": CHOICES,
    "rest": _REST,
    "standby": STANDBY,
}
_ALREADY_IMPLIED = "W3005"  # the CDK adds dependencies that references imply
_TEMPLATE_BYTES, _RESOURCES = 1_000_000, 500
_POLICY_BYTES = 10_240  # of all inline policies of a role, without white space
_ENVIRONMENT_BYTES, _PARAMETER_BYTES = 4_096, 4_096


@pytest.fixture(scope="module", params=list(_OPTIONS))
def template(request: pytest.FixtureRequest, synthesize: Synthesize) -> Template:
    return synthesize(**_OPTIONS[request.param])


def test_cfn_lint_finds_nothing_in_any_region(template: Template) -> None:
    missing = _WITHOUT_SNAP_START if template.function("Api").get("SnapStart") else set()
    missing |= _WITHOUT_BUDGETS if template.of_type("Budgets::Budget") else set()
    elsewhere = [each for each in _REGIONS if each not in missing]
    for name, document in template.stacks.items():
        regions = ["us-east-1"] if name.endswith("-edge") else elsewhere
        settings = ManualArgs(regions=regions, ignore_checks=[_ALREADY_IMPLIED])
        found = lint(json.dumps(document), config=settings)
        assert [f"{name}: {each.rule.id} {each.message}" for each in found] == []


def test_templates_and_their_parts_are_far_from_the_limits(template: Template) -> None:
    for document in template.stacks.values():
        assert len(_compact(document)) < _TEMPLATE_BYTES / 2
        assert len(document["Resources"]) < _RESOURCES / 2
    for role, policies in _list_policies(template).items():
        assert sum(map(len, policies)) < 0.75 * _POLICY_BYTES, role
    for each in template.of_type("Lambda::Function").values():
        variables = each["Properties"].get("Environment", {}).get("Variables", {})
        assert len(_compact(variables)) < _ENVIRONMENT_BYTES / 2
    for each in template.of_type("SSM::Parameter").values():
        assert len(_compact(each["Properties"]["Value"])) < 0.9 * _PARAMETER_BYTES


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _list_policies(template: Template) -> dict[str, list[str]]:
    """List the inline policies of each role."""
    found: dict[str, list[str]] = {}
    for role, each in template.of_type("IAM::Role").items():
        own = each["Properties"].get("Policies", ())
        found[role] = [_compact(policy["PolicyDocument"]) for policy in own]
    for each in template.of_type("IAM::Policy").values():
        for role in each["Properties"]["Roles"]:
            found[role["Ref"]].append(_compact(each["Properties"]["PolicyDocument"]))
    return found


@pytest.mark.parametrize("name", ["trial", "production"])
def test_no_address_names_a_partition_or_a_region(synthesize: Synthesize, name: str) -> None:
    """The template is the same in China, in GovCloud, and anywhere else."""
    for text in _list_texts(synthesize(**_OPTIONS[name]).document["Resources"]):
        assert not re.search(r"arn:aws:|\b(us|eu|ap|cn)-[a-z]+-\d\b|\.com\.cn", text), text


def _list_texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for each in part.values():
            yield from _list_texts(each)
    elif isinstance(part, list):
        for each in part:
            yield from _list_texts(each)
