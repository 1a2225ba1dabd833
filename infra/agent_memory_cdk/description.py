"""Describe a deployment for its operators' commands."""

from aws_cdk import Stack
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from functions.platform.item_types import DATA_VERSION

from .bus import Bus
from .monitoring import Parts
from .settings import Settings

SCHEMA = "1"  # the version of the description that operators' commands read


def describe(
    scope: Construct, settings: Settings, parts: Parts, bus: Bus, url: str
) -> dict[str, str]:
    """Store the values for commands in a parameter of Systems Manager; return them by name."""
    state, functions = parts.state, parts.functions
    description = {
        "Schema": SCHEMA,
        "ApiUrl": url,
        "RootKeySecretId": state.root_key.secret.secret_arn,
        "MemoryTable": state.tables.memory_name,
        "LogTable": state.tables.log_name,
        "ArchiveBucket": state.archive.name,
        "EventBus": bus.name,
        "StreamDeadLetters": parts.stream.dead_letters.queue.queue_url,
        "ScheduleDeadLetters": parts.schedule.dead_letters.queue.queue_url,
        "Schedules": ",".join(parts.schedule.names),
        "Alias": functions.api.alias.alias_name,
        "Stacks": ",".join(dict.fromkeys(Stack.of(each).stack_name for each in (scope, state))),
        "DataVersion": str(DATA_VERSION),
        "Switches": functions.switches,
        "Retain": str(settings.retain).lower(),
    }
    for name, function in functions.by_name.items():
        description[f"{name}Function"] = function.function.function_name
        description[f"{name}Version"] = function.version.version
        description[f"{name}Log"] = function.log.log_group_name
    description |= _describe_options(parts)
    ssm.StringParameter(
        scope,
        "Description",
        parameter_name=f"/agent-memory/{settings.name}/deployment",
        description="agent-memory: the resources of this deployment, for operators' commands",
        string_value=Stack.of(scope).to_json_string(description),
    )
    return description


def _describe_options(parts: Parts) -> dict[str, str]:
    """Describe the optional parts of the deployment."""
    description: dict[str, str] = {}
    if parts.embedding_stream is not None:
        letters = parts.embedding_stream.dead_letters.queue
        description["EmbeddingDeadLetters"] = letters.queue_url
    if parts.learning_stream is not None:
        letters = parts.learning_stream.dead_letters.queue
        description["LearningDeadLetters"] = letters.queue_url
    if parts.http_api.log is not None:
        description["AccessLog"] = parts.http_api.log.log_group_name
    if parts.token_api is not None:
        description["TokenApiUrl"] = parts.token_api.api.api_endpoint
    if parts.task_events is not None:
        letters = parts.task_events.dead_letters.queue
        description["TaskEventDeadLetters"] = letters.queue_url
    return description
