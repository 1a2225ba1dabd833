"""Each function may do exactly what it does: no call is denied, and nothing else is allowed.

What it does is noted while tests of the service run that reach every one of its calls.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.infra.template import FUNCTIONS, PARTITION, Template, as_list

_ROOT = Path(__file__).parents[2]
_REACH_EVERY_CALL = (
    "tests/infra/test_cloud_environment.py::test_an_end_that_was_cut_short_is_finished_by_the_schedule",
    "tests/infra/test_cloud_environment.py::test_an_ended_conversation_is_in_the_bucket_until_it_is_deleted",
    "tests/infra/test_cloud_environment.py::test_a_large_object_is_in_the_bucket_until_it_expires",
    "tests/infra/test_cloud_environment.py::test_a_deleted_tenant_has_no_files_in_the_bucket",
    "tests/infra/test_cloud_environment.py::test_an_uploaded_object_comes_and_goes_by_addresses_of_the_bucket",
    "tests/infra/test_cloud_environment.py::test_the_bus_takes_events",
    "tests/contract/test_task_archive.py::test_a_snapshot_may_be_larger_than_an_item",
    "tests/contract/test_deletion.py::test_a_deleted_agent_leaves_only_what_is_others",
    "tests/contract/test_facts.py::test_another_instance_recalls_what_was_learned_since_it_last_looked",
    "tests/contract/test_event_payloads.py::test_the_answer_to_each_payload",
    "tests/contract/test_event_payloads.py::test_the_answer_to_each_payload_that_only_reads",
    "tests/contract/test_task_events.py::test_the_payload_is_applied",
    "tests/contract/test_task_events.py::test_completing_a_task_archives_as_a_request_does",
    "tests/contract/test_task_events.py::test_a_rejected_event_changes_nothing_and_fails",
    "tests/contract/test_task_events.py::test_an_event_changes_a_task",
    "tests/contract/test_stream_events.py::test_expiry_by_dynamodb_is_logged_and_counted_once",
    "tests/contract/test_schedule_expiry.py::test_expired_entries_are_removed_and_others_stay",
    "tests/contract/test_reembedding.py::test_what_is_learned_without_a_model_is_embedded_once_there_is_one",
    "tests/contract/test_client_vectors.py::test_what_is_gone_is_never_found_and_its_vector_is_removed",
    "tests/contract/test_schedule_agents.py::test_a_lowered_capacity_is_reached_in_the_order_of_eviction",
    "tests/contract/test_consolidation.py::test_a_contradicted_fact_ends_when_the_later_one_was_stated",
    "tests/contract/test_openwop_storage.py::test_an_expired_entry_is_purged_with_its_rows",
    "tests/contract/test_run_lists.py::test_runs_are_listed_by_instance_status_and_type",
)
_ONE_ENGINE = "dynoxide or test_cloud_environment"
_Call = tuple[str, str]


@pytest.fixture(scope="session")
def noted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[_Call]]:
    """The actions that each function called, and the partitions that it called them on."""
    notes = tmp_path_factory.mktemp("calls") / "calls.txt"
    options = ["-q", "-p", "tests.infra.recording", "-p", "no:cacheprovider", "-k", _ONE_ENGINE]
    command = [sys.executable, "-m", "pytest", *options, *_REACH_EVERY_CALL]
    environment = {**os.environ, "CALLS_FILE": str(notes)}
    ran = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    found: dict[str, set[_Call]] = {function: set() for function in (*FUNCTIONS, "TaskEvents")}
    for line in notes.read_text("utf-8").splitlines():
        function, action, resource = line.split()
        found[_FUNCTION_IDS[function]].add((action, resource))
    return found


@pytest.fixture(scope="session")
def calls(noted: dict[str, set[_Call]]) -> dict[str, set[_Call]]:
    """The actions that each function called, with what it called them on."""
    return {
        function: {each for each in calls if not each[0].startswith(PARTITION)}
        for function, calls in noted.items()
    }


def granted(template: Template, function: str) -> Iterator[_Call]:
    """Yield what a function's role allows, in the words of the notes."""
    names = _names(template, function)
    for statement in template.statements(f"{function}Function"):
        assert statement["Effect"] == "Allow"
        through = statement.get("Condition", {}).get("StringEquals", {}).get("kms:ViaService")
        service = f" for {through['Fn::Join'][1][0].rstrip('.')}" if through else ""
        for resource in as_list(statement["Resource"]):
            for action in as_list(statement["Action"]):
                yield action, _name(resource, names) + service


def _names(template: Template, function: str) -> dict[str, str]:
    """Return the notes' names for the resources of a template, by their logical ids."""
    ids = {
        "memory": ("DynamoDB::GlobalTable", "MemoryTable"),
        "log": ("DynamoDB::GlobalTable", "LogTable"),
        "kms": ("KMS::Key", "ValuesKey"),
        "storage key": ("KMS::Key", "StorageKey"),
        "secretsmanager": ("SecretsManager::Secret", "RootKey"),
        "s3": ("S3::Bucket", "ArchiveBucket"),
        "events": ("Events::EventBus", "EventBus"),
        "own log": ("Logs::LogGroup", f"{function}Function"),
        "dead letters": ("SQS::Queue", "StreamDeadLetters"),
    }
    if function == "TaskEvents":
        ids["refused events"] = ("SQS::Queue", "TaskEventsDeadLetters")
    return {template.id_of(*where): name for name, where in ids.items()}


def _name(resource: Any, names: dict[str, str]) -> str:
    if resource == "*":
        return "all"
    if "Ref" in resource:
        return names[resource["Ref"]]
    if "Fn::GetAtt" in resource:
        id, attribute = resource["Fn::GetAtt"]
        return names[id] if attribute == "Arn" else f"{names[id]} {attribute}"
    *base, path = resource["Fn::Join"][1]
    if path == ":parameter/agent-memory/dev/switches":
        return "switches"
    if len(base) > 1:  # an ARN by its name
        table = re.search(r":table/agent-memory-dev-(\w+)(/.*)", str(path))
        return f"{table[1]}{table[2]}" if table else "s3"
    name = names[base[0]["Fn::GetAtt"][0]]
    kind, _, index = str(path).strip("/").partition("/")
    return {"index": index, "*": name}.get(kind, f"{name}{path}")


_TABLES_KEY = {
    (f"kms:{action}", "storage key for dynamodb")
    for action in (
        "Decrypt",
        "DescribeKey",
        "Encrypt",
        "GenerateDataKey",
        "ReEncryptFrom",
        "ReEncryptTo",
    )
}
_ALWAYS = {  # what Lambda and DynamoDB themselves do in the function's name
    ("logs:CreateLogStream", "own log"),
    ("logs:PutLogEvents", "own log"),
    *_TABLES_KEY,
}
_BUCKETS_KEY = {
    (f"kms:{action}", "storage key for s3") for action in ("Decrypt", "GenerateDataKey")
}
_QUEUES_KEY = {
    (f"kms:{action}", "storage key for sqs") for action in ("Decrypt", "GenerateDataKey")
}
_FUNCTION_IDS = {
    "api": "Api",
    "schedule": "Schedule",
    "stream": "Stream",
    "task_events": "TaskEvents",
}
_SWITCHES = ("ssm:GetParameter", "switches")  # read before there is a container
_BESIDES = {
    "Api": {
        _SWITCHES,
        ("kms:Decrypt", "storage key for secretsmanager"),
        *_BUCKETS_KEY,
    },
    "Stream": _QUEUES_KEY
    | {
        ("dynamodb:DescribeStream", "memory StreamArn"),
        ("dynamodb:GetRecords", "memory StreamArn"),
        ("dynamodb:GetShardIterator", "memory StreamArn"),
        ("dynamodb:ListStreams", "memory/stream/*"),
        ("sqs:SendMessage", "dead letters"),
    },
    "Schedule": _BUCKETS_KEY | {_SWITCHES},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_what_it_does_and_no_more(
    dev: Template, calls: dict[str, set[_Call]], function: str
) -> None:
    allowed = set(granted(dev, function)) - _ALWAYS - _BESIDES[function]
    assert calls[function] - allowed == set(), "would be denied"
    assert allowed - calls[function] == set(), "is never called"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_vector_index_takes_the_place_of_the_one_by_age(
    dev: Template, with_index: Template, function: str
) -> None:
    by_index, in_memory = (set(granted(each, function)) for each in (with_index, dev))
    is_api = function == "Api"
    assert by_index - in_memory == ({("dynamodb:SearchVectors", "by_meaning")} if is_api else set())
    assert in_memory - by_index == ({("dynamodb:Query", "by_age")} if is_api else set())


def test_the_task_events_function_may_do_what_it_does_and_no_more(
    taking: Template, calls: dict[str, set[_Call]]
) -> None:
    besides = {("sqs:SendMessage", "refused events"), ("kms:Decrypt", "kms"), _SWITCHES}
    assert set(granted(taking, "TaskEvents")) - _ALWAYS == calls["TaskEvents"] | besides


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_what_aws_does_in_its_name(dev: Template, function: str) -> None:
    assert _ALWAYS | _BESIDES[function] <= set(granted(dev, function))


@pytest.mark.parametrize("function", ["Stream", "Schedule", "TaskEvents"])
def test_a_background_function_reaches_no_credentials(
    noted: dict[str, set[_Call]], function: str
) -> None:
    from infra.agent_memory_cdk import grants

    grant = {
        "Stream": grants.STREAM_ON_MEMORY,
        "Schedule": grants.SCHEDULE_ON_MEMORY,
        "TaskEvents": grants.TASK_EVENTS_ON_MEMORY,
    }[function]
    assert grant.partitions is not None
    assert not {"*#p", "~key#*", "~deployment"} & set(grant.partitions)
    used = {each for each in noted[function] if each[0].startswith(PARTITION)}
    more = {(f"{PARTITION}{action}", each) for action, where in grant.more for each in where}
    assert used
    assert {pattern for _action, pattern in used - more} <= set(grant.partitions)
    assert not {action for action, _where in grant.more} & {"PutItem", "UpdateItem"}
    assert not {action for action, _where in grant.more} & {"BatchWriteItem"}


@pytest.mark.parametrize("function", ["Schedule", "TaskEvents"])
def test_a_background_function_opens_the_secret_and_no_value(
    taking: Template, function: str
) -> None:
    values = {"Fn::GetAtt": [taking.id_of("KMS::Key", "ValuesKey"), "Arn"]}
    (found,) = (
        each for each in taking.statements(f"{function}Function") if each["Resource"] == values
    )
    assert found["Action"] == "kms:Decrypt"
    named = {"kms:EncryptionContext:tenant": "~deployment"}
    assert found["Condition"] == {"StringEquals": named}


def test_the_schedule_may_invoke_its_function_and_bury_what_it_cannot(dev: Template) -> None:
    allowed = {
        (action, str(statement["Resource"]))
        for statement in dev.statements("ScheduleRole")
        for action in as_list(statement["Action"])
    }
    letters = {"Fn::GetAtt": [dev.id_of("SQS::Queue", "ScheduleDeadLetters"), "Arn"]}
    key = {"Fn::GetAtt": [dev.id_of("KMS::Key", "StorageKey"), "Arn"]}
    assert allowed == {
        ("lambda:InvokeFunction", str(dev.alias("Schedule"))),
        ("sqs:SendMessage", str(letters)),
        ("kms:Decrypt", str(key)),
        ("kms:GenerateDataKey", str(key)),
    }


def test_only_the_services_themselves_take_on_the_roles(dev: Template) -> None:
    for id, role in dev.of_type("IAM::Role").items():
        (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        kinds = {"ScheduleRole": "scheduler", "DeploymentsRole": "codedeploy"}
        service = next((kinds[each] for each in kinds if id.startswith(each)), "lambda")
        assert statement["Principal"] == {"Service": f"{service}.amazonaws.com"}
        own_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
        assert service == "lambda" or statement["Condition"] == own_account
