"""Alarms, the dashboard, and the deployments that alarms roll back."""

from dataclasses import dataclass

from aws_cdk import aws_codedeploy as codedeploy
from aws_cdk import aws_sns as sns
from constructs import Construct

from .alarms import Alarms
from .dashboard import Dashboard
from .dead_letters import DeadLetters
from .deployments import Deployments
from .foreign_writes import ForeignWrites
from .functions import Functions
from .http_api import HttpApi
from .logs import Logs
from .pre_traffic_check import PreTrafficCheck
from .safeguards import Safeguards
from .schedule import Schedule
from .settings import Settings
from .state import State
from .stream import Stream
from .task_events import TaskEvents


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The watched parts of a memory; None for a missing part."""

    state: State
    functions: Functions
    http_api: HttpApi
    token_api: HttpApi | None
    stream: Stream
    embedding_stream: Stream | None
    learning_stream: Stream | None
    schedule: Schedule
    task_events: TaskEvents | None
    foreign_writes: ForeignWrites | None

    @property
    def apis(self) -> list[HttpApi]:
        """The existing HTTP APIs."""
        return [each for each in (self.http_api, self.token_api) if each is not None]

    @property
    def dead_letters(self) -> list[DeadLetters]:
        """The dead-letter queues."""
        streams = (self.stream, self.embedding_stream, self.learning_stream)
        sources = (*streams, self.schedule, self.task_events)
        return [each.dead_letters for each in sources if each is not None]


def add_monitoring(
    scope: Construct, settings: Settings, parts: Parts, logs: Logs, topic: sns.ITopic | None
) -> None:
    """Add alarms, deployments that they can roll back, and the dashboard."""
    alarms = Alarms(scope, "Alarms", topic)
    _watch_requests(alarms, parts)
    alarms.watch_concurrency()
    safeguards = Safeguards(scope, "Safeguards", parts.state)
    alarms.watch_safeguards(safeguards)
    _watch_background(alarms, parts, settings)
    groups = _add_deployments(scope, settings, parts.functions, alarms)
    PreTrafficCheck(scope, "PreTrafficCheck", parts.functions.api, logs, groups["Api"])
    _add_dashboard(scope, settings, parts, alarms, safeguards)


def _watch_requests(alarms: Alarms, parts: Parts) -> None:
    alarms.watch_api("Answers", parts.http_api)
    if parts.token_api is not None:
        alarms.watch_api("AnswersToTokens", parts.token_api)
    alarms.watch_refusals(parts.apis, parts.functions.api)
    for name, function in parts.functions.by_name.items():
        alarms.watch_function(name, function)
    alarms.watch_tables(parts.state.tables)
    if parts.foreign_writes is not None:
        alarms.watch_writers(parts.foreign_writes.metric)


def _watch_background(alarms: Alarms, parts: Parts, settings: Settings) -> None:
    functions = parts.functions
    if settings.standby is not None:
        alarms.watch_replication(parts.state.tables, settings.standby.name)
    alarms.watch_stream("Events", parts.stream, functions.stream)
    if parts.embedding_stream is not None and functions.embedding is not None:
        alarms.watch_stream("Vectors", parts.embedding_stream, functions.embedding)
    if parts.learning_stream is not None and functions.learning is not None:
        alarms.watch_stream("Lessons", parts.learning_stream, functions.learning)
        alarms.watch_model(functions.learning)
    alarms.watch_quotas(functions.stream, functions.api)
    is_writing = settings.active_region is None
    alarms.watch_schedule(parts.schedule, functions.schedule, is_enabled=is_writing)
    if parts.task_events is not None:
        alarms.watch_task_events(parts.task_events)


def _add_deployments(
    scope: Construct,
    settings: Settings,
    functions: Functions,
    alarms: Alarms,
) -> dict[str, codedeploy.LambdaDeploymentGroup]:
    """Shift requests to a new version in steps; move other functions at once.

    Batches of one shard would alternate between two versions, and one call a minute is no sample.
    Only alarms of the new version stop a deployment: other alarms may have the cause that the
    deployment fixes.
    """
    deployments, groups = Deployments(scope, "Deployments"), {}
    for name, function in functions.by_name.items():
        is_api = function is functions.api
        how = settings.traffic_shift if is_api else "all-at-once"
        watching = [alarms.watch_new_version(name, function)]
        if is_api:
            watching.append(alarms.watch_new_answers(name, function))
        groups[name] = deployments.shift(name, function, how, watching)
    return groups


def _add_dashboard(
    scope: Construct, settings: Settings, parts: Parts, alarms: Alarms, safeguards: Safeguards
) -> None:
    functions, tables = parts.functions, parts.state.tables
    board = Dashboard(scope, "Dashboard", alarms)
    board.show_api(*parts.apis)
    board.show_causes(functions.api)
    board.show_throttles(tables, functions.by_name)
    board.show_background(
        functions.of_streams, functions.schedule, functions.learning, parts.dead_letters
    )
    foreign = parts.foreign_writes
    board.show_safeguards([safeguards.metric, *([foreign.metric] if foreign else [])])
    if settings.standby is not None:
        board.show_replication(tables, settings.standby.name)
    board.show_quotas(functions.stream, functions.api)
    board.show_functions(functions.by_name)
    board.show_tables(tables)
