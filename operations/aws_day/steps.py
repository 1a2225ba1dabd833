"""The steps of the day, in order. The first line of each docstring describes the step."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.platform.item_types import AGENT
from infra.config import Config
from operations import dead_letters
from operations.aws_day.calling import MEMORY, Caller, UnexpectedAnswer, measure, send, writing
from operations.aws_day.cleanup import delete_stacks
from operations.aws_day.day import (
    Day,
    Facts,
    NotApplicable,
    Step,
    StepFailed,
    await_true,
    expect,
)
from operations.aws_day.elsewhere import edge, standby_and_back
from operations.deploying import DeploymentFailed
from operations.deployment import Deployment, client
from operations.preflight import check_account
from operations.protection import protect
from operations.reattachment import StateNotFound, reattach
from operations.root_key import rotate_root_key
from operations.switches import get_switches, set_read_only, set_switches
from operations.table_switch import restore_into_service
from operations.versions import list_functions

_COLD_CALLS = 20
_LARGE = 6_000_000  # bytes; more than a request carries
_LETTERS = 20
_YOUNG = 60  # seconds: Lambda's minimum for the maximum age of a record
_DENIAL = "aws-day-denial"


def preflight(day: Day) -> Facts:
    """Check the account."""
    findings = check_account(day.name, Config.from_context({"stage": day.name, **day.context}))
    named = [f"{each.check}: {each.finding}" for each in findings if each.level != "ok"]
    return {"checks": len(findings), "findings": named}


def failing_first_create(day: Day) -> Facts:
    """Fail a first deployment at its last resource, and repeat it by the same command."""
    name = day.names[1]
    try:
        day.deploy(name, fault="create")
    except DeploymentFailed:
        repeated = day.deploy(name)
    else:
        raise StepFailed("the deployment with a fault succeeded")
    outputs = day.find(name).outputs
    delete_stacks(name)
    return {"repeated_in_seconds": repeated, "has_api": bool(outputs["ApiUrl"])}


def deploy(day: Day) -> Facts:
    """Deploy with kept data, and protect it."""
    seconds = day.deploy()
    return {"seconds": seconds, **protect(day.deployment)}


def cold_starts(day: Day) -> Facts:
    """Send the first requests at the same time, so that each starts an instance."""
    caller = Caller(day.deployment.outputs["ApiUrl"], "none")
    limit = client("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"]
    count = min(_COLD_CALLS, limit // 2)  # so that none is refused
    calls = [lambda: caller.call("GET", "/health?deep=true")] * count
    found = {"first": measure(count, calls), "again": measure(count, calls)}
    await_true(lambda: calls[0]().status == HTTPStatus.OK, "an answer", 120)
    return found


def load(day: Day) -> Facts:
    """Write and read entries, and wait until the log has an event of each write."""
    agent = day.agent("load")
    body = {"namespace": "day", "memory_type": "episodic", "value": {"text": "x" * 1000}}
    writes = [
        lambda n=number: agent.call("POST", MEMORY, body | {"key": f"load-{n}"})
        for number in range(day.calls)
    ]
    written = measure(day.threads, writes)
    first = agent.create("read-me")["id"]
    read = measure(day.threads, [lambda: agent.call("GET", f"{MEMORY}/{first}")] * day.calls)
    expected = 1 + day.calls - sum(written["failed"].values())
    late = await_true(lambda: count_events(agent, "load") >= expected, "the events of all writes")
    return {"writes": written, "reads": read, "last_event_after_seconds": late}


def count_events(caller: Caller, agent: str) -> int:
    """Count the events in an agent's log."""
    count, after = 0, ""
    while True:
        page = caller.expect(200, "GET", f"/api/v1/agents/{agent}/events?limit=1000{after}")
        count += len(page["events"])
        following = f"&after={page['next']}"
        if not page["next"] or following == after:
            return count
        after = following


def large_objects(day: Day) -> Facts:
    """Store an object of 6 MB by a signed address, and read it by another."""
    agent, content = day.agent("objects"), os.urandom(_LARGE)
    space = "/api/v1/agents/objects/objects/day"
    upload = agent.expect(201, "POST", f"{space}/uploads", {"size": _LARGE})
    sent = send(upload["method"], upload["url"], content, upload["headers"])
    expect(sent.status == 200, f"the upload answers {sent.status} {sent.body[:300]!r}")
    again = send(upload["method"], upload["url"], content, upload["headers"])
    completed = {"X-Object-Upload": upload["upload_id"]}
    agent.expect(201, "PUT", f"{space}/app.log", b"", **completed)
    answer = agent.call("GET", f"{space}/app.log")
    expect(answer.status == 307, f"the download answers {answer.status}")
    read = send("GET", answer.headers["location"], None, {})
    expect(read.body == content, "the downloaded bytes differ")
    seconds = {"upload_seconds": sent.seconds, "download_seconds": read.seconds}
    return {"repeated_upload": again.status} | {
        name: round(each, 2) for name, each in seconds.items()
    }


def index(day: Day) -> Facts:
    """Wait until the vector index is active, and search with it."""
    if day.context.get("vector_index") != "true":
        raise NotApplicable("deploy with -c vector_index=true")
    dynamodb, table = client("dynamodb"), day.deployment.outputs["MemoryTable"]

    def is_active() -> bool:
        found = dynamodb.describe_table(TableName=table)["Table"].get("VectorIndexes", ())
        return bool(found) and all(each["IndexStatus"] == "ACTIVE" for each in found)

    seconds = await_true(is_active, "the vector index", 3600)
    agent, query = day.agent("index"), {"query": "a hot drink", "namespace": "day"}
    agent.create("tea", {"text": "likes a cup of green tea"})

    def is_found() -> bool:
        answer = agent.call("POST", f"{MEMORY}/search", query)
        return answer.status == 200 and "tea" in answer.body.decode()

    return {"active_after_seconds": seconds, "found_after_seconds": await_true(is_found, "tea")}


def rotate(day: Day) -> Facts:
    """Rotate the root key: the new key works, then the former one no longer does."""
    deployment = day.deployment
    read = client("secretsmanager").get_secret_value
    address, secret = deployment.outputs["ApiUrl"], deployment.outputs["RootKeySecretId"]
    former = Caller(address, read(SecretId=secret)["SecretString"])
    rotate_root_key(deployment)
    new = Caller(address, read(SecretId=secret)["SecretString"])
    body = {"id": "after-rotation"}
    created = (201, 409)
    seconds = await_true(
        lambda: new.call("POST", "/api/v1/tenants", body).status in created, "the new key", 120
    )
    refused = await_true(
        lambda: former.call("POST", "/api/v1/tenants", body).status == 401,
        "the end of the former key",
        120,
    )
    return {
        "new_key_after_seconds": seconds,
        "former_key_until_seconds": round(seconds + refused, 1),
    }


def release(day: Day) -> Facts:
    """Release a new version after a rotation, under load, while an alarm of the service rings."""
    before = find_versions(day.deployment)
    with ringing(day, "AnswersFail"), writing(day.agent("release"), "release") as writer:
        seconds = day.deploy(**change_release(day))
    after = find_versions(day.deployment)
    expect(before["Api"] != after["Api"], "the alias still has the former version")
    return {"seconds": seconds, **writer.report, "version": after["Api"]}


def change_release(day: Day) -> dict[str, str]:
    """Set a limit to another value, so that a new version is published."""
    number = int(day.state["context"].get("principal_requests_per_minute", 6000)) + 1
    context = {"principal_requests_per_minute": str(number)}
    day.save(context=day.state["context"] | context)
    return context


def find_versions(deployment: Deployment) -> dict[str, str]:
    """Find the version that each alias selects."""
    functions, alias = client("lambda"), deployment.outputs["Alias"]
    return {
        name: functions.get_alias(FunctionName=deployment.function(name), Name=alias)[
            "FunctionVersion"
        ]
        for name in list_functions(deployment)
    }


@contextmanager
def ringing(day: Day, name: str) -> Iterator[None]:
    """Raise an alarm of the deployment during the block."""
    cloudwatch = client("cloudwatch")
    pages = cloudwatch.get_paginator("describe_alarms").paginate(
        AlarmNamePrefix=f"agent-memory-{day.name}-"
    )
    own = [each["AlarmName"] for page in pages for each in page["MetricAlarms"]]
    (alarm,) = [each for each in own if f"-Alarms{name}" in each]
    for state in ("ALARM", "OK"):
        cloudwatch.set_alarm_state(AlarmName=alarm, StateValue=state, StateReason="a day on AWS")
        if state == "ALARM":
            try:
                yield
            except BaseException:
                cloudwatch.set_alarm_state(
                    AlarmName=alarm, StateValue="OK", StateReason="a day on AWS"
                )
                raise


def failing_release(day: Day) -> Facts:
    """Release a version that can't read its table; the former version keeps responding."""
    before = find_versions(day.deployment)
    with writing(day.agent("failing"), "failing") as writer:
        try:
            day.deploy(fault="release")
        except DeploymentFailed:
            pass
        else:
            raise StepFailed("the deployment with a fault succeeded")
    expect(find_versions(day.deployment) == before, "an alias has another version than before")
    expect(not writer.refused, f"writes were refused: {writer.refused}")
    return writer.report


def read_only(day: Day) -> Facts:
    """Refuse writes, release a version, and accept writes again."""
    agent = day.agent("read-only")
    kept = agent.create("before")["id"]
    set_read_only(day.deployment, is_read_only=True)
    try:
        refused = agent.call("POST", MEMORY, {"namespace": "day", "key": "k", "value": 1})
        expect(refused.status == 503, f"a write answers {refused.status}")
        expect("retry-after" in refused.headers, "the refusal has no Retry-After")
        agent.expect(200, "GET", f"{MEMORY}/{kept}")
        seconds = day.deploy(**change_release(day))
    finally:
        set_read_only(day.deployment, is_read_only=False)

    def accepts() -> bool:
        with suppress(UnexpectedAnswer):
            return bool(agent.create("after"))
        return False

    return {"release_seconds": seconds, "accepts_after_seconds": await_true(accepts, "a write")}


def poison_and_replay(day: Day) -> Facts:
    """Store a record without an event; then make records fail, and redeliver them."""
    deployment, agent = day.deployment, day.agent("replay")
    agent.create("first")
    await_true(lambda: count_events(agent, "replay") == 1, "the first event")
    _put_poison(deployment, agent)
    agent.create("behind-poison")
    skipped = await_true(lambda: count_events(agent, "replay") == 2, "the event behind it")
    with _impatient(deployment), _denying_events(deployment):
        for number in range(_LETTERS):
            agent.create(f"lost-{number}")
        await_true(lambda: _count_letters(deployment) > 0, "a dead letter", 1800)
    reports = [dead_letters.replay(deployment)["StreamDeadLetters"]]
    expected = _LETTERS + 2

    def is_complete() -> bool:
        if count_events(agent, "replay") < expected and _count_letters(deployment):
            reports.append(dead_letters.replay(deployment)["StreamDeadLetters"])
        return count_events(agent, "replay") == expected

    seconds = await_true(is_complete, "the events of all writes")
    replayed = sum(each["replayed"] for each in reports)
    return {
        "behind_poison_seconds": skipped,
        "letters": replayed,
        "left": reports[-1]["left"],
        "complete_after_seconds": seconds,
    }


def _put_poison(deployment: Deployment, agent: Caller) -> None:
    """Put an item with only the key of an entry of this agent."""
    me = agent.expect(200, "GET", "/api/v1/me")
    partition = AGENT.build_partition(me["tenant"], agent=me["id"])
    client("dynamodb").put_item(
        TableName=deployment.outputs["MemoryTable"],
        Item={"pk": {"S": partition}, "sk": {"S": "e#poison#poison"}},
    )


def _count_letters(deployment: Deployment) -> int:
    name = "ApproximateNumberOfMessages"
    found = client("sqs").get_queue_attributes(
        QueueUrl=deployment.outputs["StreamDeadLetters"], AttributeNames=[name]
    )
    return int(found["Attributes"][name])


@contextmanager
def _impatient(deployment: Deployment) -> Iterator[None]:
    """Limit the age of records to a minute instead of four hours."""
    functions = client("lambda")
    listed = functions.list_event_source_mappings(FunctionName=deployment.alias_of("Stream"))
    found = listed["EventSourceMappings"]
    for each in found:
        functions.update_event_source_mapping(UUID=each["UUID"], MaximumRecordAgeInSeconds=_YOUNG)
    try:
        yield
    finally:
        for each in found:
            functions.update_event_source_mapping(
                UUID=each["UUID"], MaximumRecordAgeInSeconds=each["MaximumRecordAgeInSeconds"]
            )


@contextmanager
def _denying_events(deployment: Deployment) -> Iterator[None]:
    """Deny the stream function to write events."""
    iam, function = client("iam"), deployment.function("Stream")
    found = client("lambda").get_function_configuration(FunctionName=function)
    role = found["Role"].rpartition("/")[2]
    table = client("dynamodb").describe_table(TableName=deployment.outputs["LogTable"])["Table"]
    actions = ["dynamodb:PutItem", "dynamodb:BatchWriteItem", "dynamodb:UpdateItem"]
    statement = {"Effect": "Deny", "Action": actions, "Resource": table["TableArn"]}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(RoleName=role, PolicyName=_DENIAL, PolicyDocument=document)
    try:
        yield
    finally:
        iam.delete_role_policy(RoleName=role, PolicyName=_DENIAL)


def restore_under_load(day: Day) -> Facts:
    """Restore both tables, and switch the service to them while an agent writes."""
    agent = day.agent("restore")
    kept = agent.create("kept", {"text": "secret"}, sensitivity="confidential")
    line = f"{day.line().replace('{context}', _render(day) + ' {context}')}"
    with TemporaryDirectory() as folder, writing(agent, "restore") as writer:
        left = Path(folder) / "left-behind.jsonl"
        report = restore_into_service(day.deployment, "latest", "restored", line, left)
        found = agent.expect(200, "GET", f"{MEMORY}/{kept['id']}")
    expect(found["value"] == kept["value"], "a confidential value differs after the restore")
    options = dict(each.split("=", 1) for each in report["context"].replace("-c ", "").split())
    day.save(context=day.state["context"] | options)
    agent.create("afterwards")
    return {
        **writer.report,
        "refused_seconds": report["refused_seconds"],
        "differences": report["differences"],
    }


def _render(day: Day) -> str:
    given = {"retain": "true", **day.context, **day.state["context"]}
    return " ".join(f"-c {name}={value}" for name, value in given.items())


def destroy_and_reattach(day: Day) -> Facts:
    """Destroy the stacks, and deploy again on the kept resources."""
    agent, outputs = day.agent("reattach"), day.deployment.outputs
    kept = agent.create("kept", {"text": "secret"}, sensitivity="confidential")
    tables = {"memory_table": outputs["MemoryTable"], "log_table": outputs["LogTable"]}
    set_switches(day.deployment, **tables)  # as after an interrupted restore
    delete_stacks(day.name)
    line = day.line().replace("{context}", _render(day) + " {context}")
    if "memory_stream_arn" in day.state["context"]:  # so there are two pairs of tables
        with suppress(StateNotFound):
            reattach(day.name, line)
            raise StepFailed("one of two pairs of tables was taken without a question")
    found = reattach(day.name, line, *tables.values())
    expect(not get_switches(day.deployment).keys() & tables, "a switch of tables is left")
    options = dict(each.split("=", 1) for each in found["context"].replace("-c ", "").split())
    day.save(context=day.state["context"] | options)
    again = day.agent("reattach")
    value = again.expect(200, "GET", f"{MEMORY}/{kept['id']}")["value"]
    expect(value == kept["value"], "a confidential value differs afterwards")
    again.create("written-afterwards")
    return {"kept": True}


STEPS: list[Step] = [
    preflight,
    failing_first_create,
    deploy,
    cold_starts,
    load,
    large_objects,
    index,
    rotate,
    release,
    failing_release,
    read_only,
    poison_and_replay,
    standby_and_back,
    edge,
    restore_under_load,
    destroy_and_reattach,
]


def describe_steps() -> dict[str, Any]:
    """Describe the steps, by their names."""
    return {
        each.__name__.replace("_", " "): (each.__doc__ or "").partition("\n")[0] for each in STEPS
    }
