"""Preflight names what an account lacks, with a remedy, before a deployment runs into it.

moto plays the account. It knows nothing of quotas, rights and opt-ins: their answers are given.
"""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto import mock_aws

from functions.platform.schema import build_memory_table
from infra.config import Config
from operations.preflight import Finding, check_account, render_findings
from operations.switches import set_switches
from tests.contract.aws_sessions import open_session
from tests.contract.regions import FUNCTIONS, create_function, describe

_HERE = "eu-central-1"
_TOPIC = f"arn:aws:sns:{_HERE}:123456789012:on-call"
_GIVEN = (
    "lambda.GetAccountSettings",
    "iam.SimulatePrincipalPolicy",
    "backup.DescribeRegionSettings",
    "cloudformation.DescribeStacks",
    "cloudformation.DescribeType",
)
Answers = dict[str, tuple[int, dict[str, Any]]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """An account in which all is well; the answers to calls that moto doesn't know."""
    answers: Answers = {}
    monkeypatch.setenv("AWS_DEFAULT_REGION", _HERE)
    with mock_aws():
        session = open_session()
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)

        def answer(model: Any, **_: Any) -> tuple[AWSResponse, dict[str, Any]]:
            status, found = answers[model.name]
            return AWSResponse("", status, {}, None), found

        for call in _GIVEN:
            session.events.register(f"before-call.{call}", answer)
        answers |= {"GetAccountSettings": quota(1000), "SimulatePrincipalPolicy": rights()}
        absent = {"Code": "ValidationError", "Message": "Stack with id x does not exist"}
        answers["DescribeStacks"] = 400, {"Error": absent}
        boto3.client("ssm").put_parameter(
            Name="/cdk-bootstrap/hnb659fds/version", Value="21", Type="String"
        )
        yield answers


def quota(concurrent: int, used: int = 0) -> tuple[int, dict[str, Any]]:
    limit = {"ConcurrentExecutions": concurrent, "TotalCodeSize": 100}
    return 200, {"AccountLimit": limit, "AccountUsage": {"TotalCodeSize": used}}


def rights(denied: str = "") -> tuple[int, dict[str, Any]]:
    decisions = {"sts:AssumeRole": "allowed"} | ({denied: "implicitDeny"} if denied else {})
    results = [{"EvalActionName": name, "EvalDecision": each} for name, each in decisions.items()]
    return 200, {"EvaluationResults": results}


def check(**options: Any) -> dict[str, list[Finding]]:
    """All findings by their check; each that isn't fine has a remedy."""
    options = {"runtime": "python3.14", **options}
    found = check_account("e2e", Config(**options))
    assert all((each.level == "ok") != bool(each.remedy) for each in found)
    return {
        name: [each for each in found if each.check == name]
        for name in dict.fromkeys(each.check for each in found)
    }


def subscribe() -> str:
    sns = boto3.client("sns")
    sns.create_topic(Name="on-call")
    sns.subscribe(TopicArn=_TOPIC, Protocol="sms", Endpoint="+15550100")
    return _TOPIC


def test_an_account_with_all_that_is_needed_has_no_error(answers: Answers) -> None:
    assert answers
    found = check(alarm_topic_arn=subscribe())
    levels = {name: {each.level for each in findings} for name, findings in found.items()}
    levels.pop("python")  # of this machine
    assert set().union(*levels.values()) == {"ok"}, found
    assert levels.keys() >= {"services", "bootstrap", "deployer", "concurrency", "cost"}
    (cost,) = found["cost"]
    assert "11 USD" in cost.finding


@pytest.mark.parametrize(("limit", "level"), [(10, "warning"), (50, "warning"), (1000, "ok")])
def test_a_new_account_runs_too_few_functions_at_a_time(
    answers: Answers, limit: int, level: str
) -> None:
    answers["GetAccountSettings"] = quota(limit)
    (found,) = check()["concurrency"]
    assert (found.level, "L-B99A9384" in found.remedy) == (level, level != "ok")
    few = check(stream_parallelism=1, embedding_model="bedrock:titan")["concurrency"]
    assert ("8 of them" in few[0].finding) == (level != "ok")


def test_a_reservation_that_lambda_refuses_is_an_error(answers: Answers) -> None:
    assert [each.level for each in check(stream_concurrency=900)["concurrency"]] == ["ok"]
    found = check(stream_concurrency=901)["concurrency"]
    assert [each.level for each in found] == ["error", "ok"]
    answers["GetAccountSettings"] = quota(10)
    found = check(stream_concurrency=5)["concurrency"]
    assert [each.level for each in found] == ["error", "warning"]


def test_snap_start_is_refused_where_aws_has_none(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answers
    assert "snap start" not in check(snap_start=True)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "cn-north-1")
    (found,) = check(snap_start=True)["snap start"]
    assert (found.level, "snap_start" in found.remedy) == ("error", True)


def test_a_budget_is_refused_where_cloudformation_makes_none(answers: Answers) -> None:
    assert "budget" not in check()
    budget = {"monthly_budget_usd": 100, "budget_email": "ops@example.com"}
    answers["DescribeType"] = 200, {"TypeName": "AWS::Budgets::Budget"}
    assert [each.level for each in check(**budget)["budget"]] == ["ok"]
    answers["DescribeType"] = 404, {"Error": {"Code": "TypeNotFoundException"}}
    (found,) = check(**budget)["budget"]
    assert (found.level, "monthly_budget_usd" in found.remedy) == ("error", True)


def test_old_versions_that_fill_the_code_storage_are_named(answers: Answers) -> None:
    answers["GetAccountSettings"] = quota(1000, used=90)
    (found,) = check()["code storage"]
    assert (found.level, "delete-old-versions" in found.remedy) == ("warning", True)


def test_a_region_that_is_not_bootstrapped_is_an_error_and_the_edges_too(answers: Answers) -> None:
    assert answers
    edge = {
        "domain_name": "memory.example.com",
        "certificate_arn": f"arn:aws:acm:{_HERE}:123456789012:certificate/1",
        "hosted_zone_id": "Z",
        "hosted_zone_name": "example.com",
        "trust_store": "s3://bucket/key",
        "edge_domain_name": "edge.example.com",
        "edge_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/2",
        "edge_client_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/3",
    }
    here, there = check(**edge)["bootstrap"]
    assert (here.level, there.level) == ("ok", "error")
    assert "AWS_REGION=us-east-1 make bootstrap" in there.remedy
    boto3.client("ssm").delete_parameter(Name="/cdk-bootstrap/hnb659fds/version")
    (here,) = check()["bootstrap"]
    assert here.level == "error"


def test_alarms_that_reach_nobody_are_named(answers: Answers) -> None:
    assert answers
    (found,) = check()["alarm topic"]
    assert (found.level, "alarm_topic_arn" in found.remedy) == ("warning", True)
    (found,) = check(alarm_topic_arn=_TOPIC)["alarm topic"]
    assert found.level == "error"
    boto3.client("sns").create_topic(Name="on-call")
    (found,) = check(alarm_topic_arn=_TOPIC)["alarm topic"]
    assert found.level == "warning"
    subscribe()
    (found,) = check(alarm_topic_arn=_TOPIC)["alarm topic"]
    assert found.level == "ok"
    elsewhere = _TOPIC.replace(_HERE, "us-east-1")
    (found,) = check(alarm_topic_arn=elsewhere)["alarm topic"]
    assert found.level == "error"


def test_a_certificate_of_another_region_or_not_issued_is_an_error(answers: Answers) -> None:
    assert answers
    own = {
        "domain_name": "memory.example.com",
        "hosted_zone_id": "Z",
        "hosted_zone_name": "example.com",
    }
    elsewhere = "arn:aws:acm:us-east-1:123456789012:certificate/1"
    (found,) = check(**own, certificate_arn=elsewhere)["certificates"]
    assert (found.level, _HERE in found.remedy) == ("error", True)
    pending = boto3.client("acm").request_certificate(DomainName="memory.example.com")
    (found,) = check(**own, certificate_arn=pending["CertificateArn"])["certificates"]
    assert (found.level, "PENDING" in found.finding) == ("error", True)


def test_rights_that_the_deployer_lacks_are_named(answers: Answers) -> None:
    answers["SimulatePrincipalPolicy"] = rights("iam:CreateServiceLinkedRole")
    (found,) = check()["deployer"]
    assert (found.level, "iam:CreateServiceLinkedRole" in found.finding) == ("warning", True)


def test_a_check_that_is_denied_is_a_warning_and_the_others_go_on(answers: Answers) -> None:
    answers["GetAccountSettings"] = 403, {"Error": {"Code": "AccessDeniedException"}}
    found = check()
    assert [each.level for each in found["concurrency"]] == ["warning"]
    assert "GetAccountSettings" in found["concurrency"][0].remedy
    assert "bootstrap" in found


@pytest.mark.parametrize(
    ("status", "level"),
    [
        ("UPDATE_COMPLETE", "ok"),
        ("ROLLBACK_COMPLETE", "warning"),
        ("UPDATE_IN_PROGRESS", "error"),
    ],
)
def test_a_stack_that_is_being_deployed_or_failed_is_named(
    answers: Answers, status: str, level: str
) -> None:
    assert "stacks" not in check()
    answers["DescribeStacks"] = 200, {"Stacks": [{"StackStatus": status}]}
    state, compute = check()["stacks"]
    assert (state.level, compute.level) == (level, level)


@pytest.mark.parametrize(("opted", "level"), [({"DynamoDB": True}, "error"), (None, "ok")])
def test_backups_need_their_services_to_be_enabled(
    answers: Answers, opted: dict[str, bool] | None, level: str
) -> None:
    enabled = {"DynamoDB": True, "S3": True} if opted is None else opted
    answers["DescribeRegionSettings"] = 200, {"ResourceTypeOptInPreference": enabled}
    (found,) = check(backup_days=35)["backups"]
    assert found.level == level


@pytest.fixture
def deployed(answers: Answers) -> None:
    """A deployment that is there already."""
    assert answers
    boto3.client("dynamodb").create_table(**build_memory_table("memory"))
    for name, timeout in FUNCTIONS.items():
        create_function(name, timeout, {})
    outputs = describe(MemoryTable="memory", DataVersion="2").outputs
    boto3.client("ssm").put_parameter(
        Name="/agent-memory/e2e/deployment", Value=json.dumps(outputs), Type="String"
    )


@pytest.mark.usefixtures("deployed")
def test_an_alias_that_was_moved_is_an_error_whose_remedy_moves_it_back() -> None:
    functions = boto3.client("lambda")
    functions.update_function_configuration(FunctionName="Api", Description="other")
    functions.publish_version(FunctionName="Api")
    functions.update_alias(FunctionName="Api", Name="live", FunctionVersion="2")
    levels = {each.finding.split()[0]: each for each in check()["aliases"]}
    assert (levels["Stream"].level, levels["live"].level) == ("ok", "error")
    assert levels["live"].remedy.endswith("--function-name Api --name live --function-version 1")


@pytest.mark.usefixtures("deployed")
def test_switches_and_a_later_version_of_the_data_are_named() -> None:
    set_switches(describe(), read_only=True)
    found = check()
    assert "'read_only': True" in found["switches"][0].finding
    assert "raise-data-version" in found["data version"][0].remedy


def test_findings_are_lines_with_their_remedies_below() -> None:
    found = [
        Finding("bootstrap", "error", "it is not bootstrapped", "make bootstrap"),
        Finding("cost", "ok", "11 USD"),
    ]
    assert render_findings(found).splitlines() == [
        "error    bootstrap: it is not bootstrapped",
        "         -> make bootstrap",
        "ok       cost: 11 USD",
    ]
