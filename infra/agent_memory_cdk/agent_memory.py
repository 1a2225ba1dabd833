"""The whole service as one construct, for any app, stage or stack."""

from collections.abc import Mapping

from aws_cdk import Annotations, Duration, Stack, Tags, aws_logs
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from functions.stream.consumers import ALL_CONSUMERS

from . import grants
from .alarms import Alarms
from .bus import Bus
from .code import FunctionCode, find_bundled_code
from .dashboard import Dashboard
from .dead_letters import DeadLetters
from .deployments import Deployments
from .domain import DomainName
from .http_api import HttpApi
from .lambda_function import LambdaFunction, Network
from .logs import Logs
from .schedule import Schedule
from .settings import Settings
from .state import State
from .stream import Stream
from .task_events import TaskEvents
from .vector_index import NAME as VECTOR_INDEX
from .vector_index import grant_embed, grant_search

SCHEMA = "1"  # of the description that operators' commands read
_EMBEDDING_CONSUMERS = ("vectors",)  # where a model of Bedrock's embeds
_HAS_DEAD_LETTERS = "the stream's mapping has the queue; nothing else invokes it"
_TASK_ENDS = {"LOG_WAIT_SECONDS": "3"}  # the stream brings what happened within a second


class AgentMemory(Construct):
    """A memory service: HTTP API, functions, schedule, bus and alarms on a state.

    Several fit into one stack, each with a name of its own. Operators' commands find each by the
    parameter `/agent-memory/NAME/deployment`.

    Args:
        code: the functions' code; what this package carries unless given.
        state: made elsewhere, as in a stack of its own; made here unless given.
        bus: gets the memory's events; one of its own unless given.
        network: the VPC that the functions run in; none unless given.
        alarm_topic: alarms are sent to it.
        log_groups: log groups of yours, by the part whose log they take: `Api`, `Stream`,
            `Schedule`, `Embedding`, `TaskEvents`, `Access`, `TokenAccess`.
        log_destination: gets every line of the other log groups.
        permissions_boundary: set on each role that is made here.
        tags: set on all that is made here.

    Attributes:
        url: where the API answers.

    Raises:
        NoCode: no code is given, and this copy of the package carries none.
        WrongChoice: a memory table was given without its stream.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        *,
        code: FunctionCode | None = None,
        state: State | None = None,
        bus: events.IEventBus | None = None,
        network: Network | None = None,
        alarm_topic: sns.ITopic | None = None,
        log_groups: Mapping[str, aws_logs.ILogGroup] | None = None,
        log_destination: aws_logs.ILogSubscriptionDestination | None = None,
        permissions_boundary: iam.IManagedPolicy | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._settings = settings
        self._code = code or find_bundled_code()
        self._network = network
        self._logs = Logs(settings, log_groups or {}, log_destination)
        self._warn_without_bytecode()
        self.state = state or State(self, "State", settings)
        self.bus = Bus(self, "Bus", settings, bus)
        self.api_function = self._make_api_function()
        self.stream_function = self._make_stream_function()
        self.embedding_function = self._make_embedding_function()
        self.schedule_function = self._make_schedule_function()
        self.task_events_function = self._make_task_events_function()
        self.http_api = HttpApi(self, "HttpApi", settings, self.api_function, self._logs)
        self.token_api = self._make_token_api()
        if settings.domain is not None:
            DomainName(self, "Domain", settings.domain, self.http_api)
        self.stream = self._make_stream("Stream", self.stream_function)
        self.embedding_stream = (
            self._make_stream("EmbeddingStream", self.embedding_function)
            if self.embedding_function
            else None
        )
        self.schedule = Schedule(
            self,
            "Schedule",
            self.schedule_function,
            self.state.encryption,
            settings.sweep_parts,
            is_enabled=settings.active_region is None,
        )
        self.task_events = self._make_task_events()
        self._add_monitoring(alarm_topic)
        self.url = self._find_url()
        self.description = self._describe()
        self._mark(permissions_boundary, tags or {})

    def _warn_without_bytecode(self) -> None:
        if not self._code.compiled:
            Annotations.of(self).add_warning_v2(
                "agent-memory:bytecode", _SLOW.format(self._code.runtime)
            )

    def _mark(
        self, permissions_boundary: iam.IManagedPolicy | None, tags: Mapping[str, str]
    ) -> None:
        if permissions_boundary is not None:
            iam.PermissionsBoundary.of(self).apply(permissions_boundary)
        own = {"service": "agent-memory", "memory": self._settings.name}
        for name, value in {**own, **tags}.items():
            Tags.of(self).add(name, value)

    def _make_function(
        self,
        part: str,
        *,
        handler: str,
        purpose: str,
        memory_mb: int,
        timeout: Duration,
        environment: dict[str, str],
        no_dead_letters_reason: str,
        snap_start: bool = False,
    ) -> LambdaFunction:
        """Make a function of the memory, which knows its tables and is in its network."""
        return LambdaFunction(
            self,
            f"{part}Function",
            self._settings,
            self._code,
            self._logs,
            part=part,
            handler=handler,
            purpose=purpose,
            memory_mb=memory_mb,
            timeout=timeout,
            environment=self._table_names() | environment,
            no_dead_letters_reason=no_dead_letters_reason,
            network=self._network,
            snap_start=snap_start,
        )

    def _make_api_function(self) -> LambdaFunction:
        state = self.state
        function = self._make_function(
            "Api",
            handler="functions.api.main.handler",
            purpose="answers requests",
            memory_mb=1024,
            timeout=Duration.seconds(29),
            environment=_TASK_ENDS
            | self._read_only_variables()
            | self._search_variables()
            | self._token_variables()
            | {
                "ARCHIVE_BUCKET": state.archive.name,
                "ROOT_KEY_SECRET_ID": state.root_key.secret.secret_arn,
                "ENCRYPTION_KEY_ID": state.encryption.values.key_arn,
                "PRINCIPAL_REQUESTS_PER_MINUTE": str(self._settings.principal_requests_per_minute),
                "TENANT_REQUESTS_PER_MINUTE": str(self._settings.tenant_requests_per_minute),
                "REQUEST_LOG_SAMPLE": str(self._settings.request_log_sample),
            },
            no_dead_letters_reason="the gateway waits for the answer; a failure is the caller's",
            snap_start=self._settings.snap_start,
        )
        state.tables.grant(function.role, grants.API_ON_MEMORY, grants.API_ON_LOG)
        if self._settings.vector_index:
            grant_search(function.role, state.tables.memory_arns)
        self._grant_embed(function)
        state.root_key.grant_read(function.role, state.encryption)
        state.encryption.grant_wrap_values(function.role)
        state.archive.grant(function.role, "DeleteObject", "GetObject", "PutObject")
        state.archive.grant_list(function.role)
        return function

    def _make_token_api(self) -> HttpApi | None:
        tokens = self._settings.tokens
        if tokens is None:
            return None
        return HttpApi(self, "TokenApi", self._settings, self.api_function, self._logs, tokens)

    def _make_stream_function(self) -> LambdaFunction:
        function = self._make_function(
            "Stream",
            handler="functions.stream.main.handler",
            purpose="processes the change stream",
            memory_mb=1769,  # one core, which is what it spends
            timeout=Duration.seconds(60),
            environment=self._search_variables()
            | {
                "EVENT_BUS": self.bus.name,
                "EVENT_BUS_TYPES": self._settings.event_bus_types,
                "STREAM_CONSUMERS": ",".join(self._stream_consumers),
            },
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
        )
        self.state.tables.grant(function.role, grants.STREAM_ON_MEMORY, grants.STREAM_ON_LOG)
        self.bus.grant_publish(function.role)
        return function

    @property
    def _stream_consumers(self) -> list[str]:
        """The consumers in the stream function: not the one that calls another service's model."""
        apart = _EMBEDDING_CONSUMERS if self._settings.embedding_model else ()
        return [name for name in ALL_CONSUMERS if name not in apart]

    def _make_embedding_function(self) -> LambdaFunction | None:
        """Make the function that embeds by Bedrock: what it waits for holds up no event."""
        if self._settings.embedding_model is None:
            return None
        function = self._make_function(
            "Embedding",
            handler="functions.stream.main.handler",
            purpose="embeds what the change stream brings",
            memory_mb=512,
            timeout=Duration.seconds(60),
            environment=self._search_variables()
            | {"STREAM_CONSUMERS": ",".join(_EMBEDDING_CONSUMERS)},
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
        )
        self.state.tables.grant(function.role, grants.EMBEDDING_ON_MEMORY)
        self._grant_embed(function)
        return function

    def _make_stream(self, id: str, function: LambdaFunction) -> Stream:
        consumers = self._stream_consumers
        if function is self.embedding_function:
            consumers = list(_EMBEDDING_CONSUMERS)
        return Stream(
            self,
            id,
            self.state.tables,
            function,
            consumers,
            self.state.encryption,
            is_enabled=self._settings.active_region is None,
        )

    def _make_schedule_function(self) -> LambdaFunction:
        function = self._make_function(
            "Schedule",
            handler="functions.schedule.main.handler",
            purpose="works off what is due",
            memory_mb=1024,
            timeout=Duration.seconds(60),
            environment=_TASK_ENDS
            | self._read_only_variables()
            | self._search_variables()
            | {"ARCHIVE_BUCKET": self.state.archive.name},
            no_dead_letters_reason="the next sweep does what a failed one left; an alarm watches",
        )
        self.state.tables.grant(function.role, grants.SCHEDULE_ON_MEMORY, grants.SCHEDULE_ON_LOG)
        self._grant_embed(function)
        self.state.archive.grant(function.role, "DeleteObject", "PutObject")
        self.state.archive.grant_list(function.role)
        return function

    def _make_task_events_function(self) -> LambdaFunction | None:
        source = self._settings.task_events
        if source is None:
            return None
        function = self._make_function(
            "TaskEvents",
            handler="functions.task_events.main.handler",
            purpose="applies task events of other systems",
            memory_mb=512,
            timeout=Duration.seconds(60),
            environment=_TASK_ENDS
            | self._read_only_variables()
            | {"TASK_EVENTS_TENANT": source.tenant, "TASK_EVENTS_PRINCIPAL": source.principal},
            no_dead_letters_reason="its failures go to the queue of refused task events",
        )
        self.state.tables.grant(
            function.role, grants.TASK_EVENTS_ON_MEMORY, grants.TASK_EVENTS_ON_LOG
        )
        return function

    def _make_task_events(self) -> TaskEvents | None:
        source = self._settings.task_events
        if source is None or self.task_events_function is None:
            return None
        return TaskEvents(self, "TaskEvents", source, self.task_events_function)

    def _functions(self) -> dict[str, LambdaFunction]:
        functions = {
            "Api": self.api_function,
            "Stream": self.stream_function,
            "Schedule": self.schedule_function,
        }
        if self.embedding_function is not None:
            functions["Embedding"] = self.embedding_function
        if self.task_events_function is not None:
            functions["TaskEvents"] = self.task_events_function
        return functions

    def _add_monitoring(self, topic: sns.ITopic | None) -> None:
        alarms = Alarms(self, "Alarms", topic)
        answers = alarms.watch_api("Answers", self.http_api)
        if self.token_api is not None:
            answers += alarms.watch_api("AnswersToTokens", self.token_api)
        for name, function in self._functions().items():
            alarms.watch_function(name, function)
        alarms.watch_tables(self.state.tables)
        if self._settings.standby is not None:
            alarms.watch_replication(self.state.tables, self._settings.standby.name)
        alarms.watch_stream("Events", self.stream, self.stream_function)
        if self.embedding_stream is not None and self.embedding_function is not None:
            alarms.watch_stream("Vectors", self.embedding_stream, self.embedding_function)
        alarms.watch_quotas(self.stream_function, self.api_function)
        alarms.watch_schedule(self.schedule, self.schedule_function)
        if self.task_events is not None:
            alarms.watch_task_events(self.task_events)
        self._add_deployments(alarms, answers)
        board = Dashboard(self, "Dashboard", alarms)
        board.show_api(*(api for api in (self.http_api, self.token_api) if api is not None))
        board.show_causes(self.api_function)
        board.show_throttles(self.state.tables, self._functions())
        board.show_background(
            self.stream_function, self.schedule_function, self._list_dead_letters()
        )
        board.show_quotas(self.stream_function, self.api_function)
        board.show_functions(self._functions())
        board.show_tables(self.state.tables)

    def _list_dead_letters(self) -> list[DeadLetters]:
        sources = (self.stream, self.embedding_stream, self.schedule, self.task_events)
        return [each.dead_letters for each in sources if each is not None]

    def _add_deployments(self, alarms: Alarms, answers: list[cloudwatch.Alarm]) -> None:
        """Shift requests to a new version bit by bit; move what isn't requested at once.

        Batches of one shard would alternate between two versions, and one call each minute is no
        sample.
        """
        deployments = Deployments(self, "Deployments")
        for name, function in self._functions().items():
            is_api = function is self.api_function
            how = self._settings.traffic_shift if is_api else "all-at-once"
            watching = [alarms.watch_new_version(name, function)]
            if is_api:
                watching += [alarms.watch_new_answers(name, function), *answers]
            deployments.shift(name, function, how, watching)

    def _table_names(self) -> dict[str, str]:
        return {
            "MEMORY_TABLE": self.state.tables.memory_name,
            "LOG_TABLE": self.state.tables.log_name,
            "LOG_RETENTION_DAYS": str(self._settings.event_retention_days),
        }

    def _read_only_variables(self) -> dict[str, str]:
        active = self._settings.active_region
        held = {"READ_ONLY": "1"} if self._settings.read_only else {}
        return held | ({"ACTIVE_REGION": active} if active else {})

    def _search_variables(self) -> dict[str, str]:
        model = self._settings.embedding_model
        return ({"VECTOR_INDEX": VECTOR_INDEX} if self._settings.vector_index else {}) | (
            {"EMBEDDING_MODEL": model} if model else {}
        )

    def _token_variables(self) -> dict[str, str]:
        tokens = self._settings.tokens
        if tokens is None:
            return {}
        return {
            "JWT_TENANT_CLAIM": tokens.tenant_claim,
            "JWT_PRINCIPAL_CLAIM": tokens.principal_claim,
        }

    def _grant_embed(self, function: LambdaFunction) -> None:
        model = self._settings.embedding_model
        if model is not None:
            grant_embed(function.role, model.removeprefix("bedrock:"))

    def _find_url(self) -> str:
        domain, edge = self._settings.domain, self._settings.edge
        if edge is not None:
            return f"https://{edge.name}"
        return self.http_api.api.api_endpoint if domain is None else f"https://{domain.name}"

    def _describe(self) -> dict[str, str]:
        """Say in a parameter what operators' commands need to know of the deployment."""
        state = self.state
        description = {
            "Schema": SCHEMA,
            "ApiUrl": self.url,
            "RootKeySecretId": state.root_key.secret.secret_arn,
            "MemoryTable": state.tables.memory_name,
            "LogTable": state.tables.log_name,
            "ArchiveBucket": state.archive.name,
            "EventBus": self.bus.name,
            "StreamDeadLetters": self.stream.dead_letters.queue.queue_url,
            "ScheduleDeadLetters": self.schedule.dead_letters.queue.queue_url,
            "Schedules": ",".join(self.schedule.names),
            "Alias": self.api_function.alias.alias_name,
        }
        for name, function in self._functions().items():
            description[f"{name}Function"] = function.function.function_name
            description[f"{name}Log"] = function.log.log_group_name
        if self.embedding_stream is not None:
            letters = self.embedding_stream.dead_letters.queue
            description["EmbeddingDeadLetters"] = letters.queue_url
        if self.http_api.log is not None:
            description["AccessLog"] = self.http_api.log.log_group_name
        if self.token_api is not None:
            description["TokenApiUrl"] = self.token_api.api.api_endpoint
        if self.task_events is not None:
            letters = self.task_events.dead_letters.queue
            description["TaskEventDeadLetters"] = letters.queue_url
        ssm.StringParameter(
            self,
            "Description",
            parameter_name=f"/agent-memory/{self._settings.name}/deployment",
            description="agent-memory: what its operators need to know of this deployment",
            string_value=Stack.of(self).to_json_string(description),
        )
        return description


_SLOW = (
    "no {0} was found to compile the asset with, so each cold start compiles all modules anew: put"
    " a {0} on the PATH, or choose -c runtime=… for a Python that is there"
)
