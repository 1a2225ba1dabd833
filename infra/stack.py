"""The stack: what is put together with what. It makes no resources itself."""

from aws_cdk import Annotations, CfnOutput, Duration, Stack, Tags
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from functions.stream.consumers import ALL_CONSUMERS
from infra import grants
from infra.asset.build import Asset
from infra.config import Config
from infra.constructs.alarms import Alarms
from infra.constructs.archive import Archive
from infra.constructs.bus import Bus
from infra.constructs.dashboard import Dashboard
from infra.constructs.domain import DomainName
from infra.constructs.encryption import Encryption
from infra.constructs.http_api import HttpApi
from infra.constructs.lambda_function import LambdaFunction
from infra.constructs.root_key import RootKey
from infra.constructs.schedule import Schedule
from infra.constructs.stream import Stream
from infra.constructs.tables import Tables
from infra.constructs.task_events import TaskEvents
from infra.constructs.vector_index import NAME as VECTOR_INDEX
from infra.constructs.vector_index import grant_embed, grant_search

_EMBEDDING_CONSUMERS = ("vectors",)  # where a model of Bedrock's embeds
_HAS_DEAD_LETTERS = "the stream's mapping has the queue; nothing else invokes it"
_TASK_ENDS = {"LOG_WAIT_SECONDS": "3"}  # the stream brings what happened within a second


class MemoryStack(Stack):
    """The whole service, in one account and region: wherever the CDK is pointed at."""

    def __init__(self, scope: Construct, config: Config, asset: Asset) -> None:
        super().__init__(
            scope,
            f"agent-memory-{config.stage}",
            description="Memory for AI agents (OpenIntent RFC-0015)",
            termination_protection=config.retains,
        )
        Tags.of(self).add("service", "agent-memory")
        Tags.of(self).add("stage", config.stage)
        self._config = config
        self._code = lambda_.Code.from_asset(str(asset.folder), asset_hash=asset.digest)
        if not asset.compiled:
            Annotations.of(self).add_warning_v2(
                "agent-memory:bytecode", _SLOW.format(config.runtime)
            )
        self.encryption = Encryption(self, "Encryption", config)
        self.tables = Tables(self, "Tables", config, self.encryption)
        self.root_key = RootKey(self, "RootKey", config, self.encryption)
        self.archive = Archive(self, "Archive", config, self.encryption)
        self.bus = Bus(self, "Bus", config)
        self.api_function = self._make_api_function()
        self.stream_function = self._make_stream_function()
        self.embedding_function = self._make_embedding_function()
        self.schedule_function = self._make_schedule_function()
        self.task_events_function = self._make_task_events_function()
        self.http_api = HttpApi(self, "HttpApi", config, self.api_function)
        self.token_api = self._token_api()
        if config.domain is not None:
            DomainName(self, "Domain", config.domain, self.http_api)
        self.stream = self._make_stream("Stream", self.stream_function)
        self.embedding_stream = (
            self._make_stream("EmbeddingStream", self.embedding_function)
            if self.embedding_function
            else None
        )
        self.schedule = Schedule(
            self, "Schedule", self.schedule_function, self.encryption, config.sweep_parts
        )
        self.task_events = self._task_events()
        self._add_monitoring()
        self._describe()

    def _make_api_function(self) -> LambdaFunction:
        function = LambdaFunction(
            self,
            "ApiFunction",
            self._config,
            self._code,
            handler="functions.api.main.handler",
            purpose="answers requests",
            memory_mb=1024,
            timeout=Duration.seconds(29),
            environment=self._table_names()
            | _TASK_ENDS
            | self._search_variables()
            | {
                "ARCHIVE_BUCKET": self.archive.bucket.bucket_name,
                "ROOT_KEY_SECRET_ID": self.root_key.secret.secret_arn,
                "ENCRYPTION_KEY_ID": self.encryption.values.key_arn,
                "PRINCIPAL_REQUESTS_PER_MINUTE": str(self._config.principal_requests_per_minute),
                "TENANT_REQUESTS_PER_MINUTE": str(self._config.tenant_requests_per_minute),
                "REQUEST_LOG_SAMPLE": str(self._config.request_log_sample),
            },
            no_dead_letters_reason="the gateway waits for the answer; a failure is the caller's",
            snap_start=self._config.snap_start,
        )
        self.tables.grant(function.role, grants.API_ON_MEMORY, grants.API_ON_LOG)
        if self._config.vector_index:
            grant_search(function.role, self.tables.memory)
        self._grant_embed(function)
        self.root_key.grant_read(function.role, self.encryption)
        self.encryption.grant_wrap_values(function.role)
        self.archive.grant(function.role, "DeleteObject", "GetObject", "PutObject")
        self.archive.grant_list(function.role)
        return function

    def _token_api(self) -> HttpApi | None:
        tokens = self._config.tokens
        if tokens is None:
            return None
        variables = {
            "JWT_TENANT_CLAIM": tokens.tenant_claim,
            "JWT_PRINCIPAL_CLAIM": tokens.principal_claim,
        }
        for name, claim in variables.items():
            self.api_function.function.add_environment(name, claim)
        return HttpApi(self, "TokenApi", self._config, self.api_function, tokens)

    def _make_stream_function(self) -> LambdaFunction:
        function = LambdaFunction(
            self,
            "StreamFunction",
            self._config,
            self._code,
            handler="functions.stream.main.handler",
            purpose="processes the change stream",
            memory_mb=1769,  # one core, which is what it spends
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | self._search_variables()
            | {
                "EVENT_BUS": self.bus.bus.event_bus_name,
                "EVENT_BUS_TYPES": self._config.event_bus_types,
                "STREAM_CONSUMERS": ",".join(self._stream_consumers),
            },
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
        )
        self.tables.grant(function.role, grants.STREAM_ON_MEMORY, grants.STREAM_ON_LOG)
        self.bus.grant_publish(function.role)
        return function

    @property
    def _stream_consumers(self) -> list[str]:
        """The consumers in the stream function: not the one that calls another service's model."""
        apart = _EMBEDDING_CONSUMERS if self._config.embedding_model else ()
        return [name for name in ALL_CONSUMERS if name not in apart]

    def _make_embedding_function(self) -> LambdaFunction | None:
        """Make the function that embeds by Bedrock: what it waits for holds up no event."""
        if self._config.embedding_model is None:
            return None
        function = LambdaFunction(
            self,
            "EmbeddingFunction",
            self._config,
            self._code,
            handler="functions.stream.main.handler",
            purpose="embeds what the change stream brings",
            memory_mb=512,
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | self._search_variables()
            | {"STREAM_CONSUMERS": ",".join(_EMBEDDING_CONSUMERS)},
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
        )
        self.tables.grant(function.role, grants.EMBEDDING_ON_MEMORY)
        self._grant_embed(function)
        return function

    def _make_stream(self, id: str, function: LambdaFunction) -> Stream:
        consumers = self._stream_consumers
        if function is self.embedding_function:
            consumers = list(_EMBEDDING_CONSUMERS)
        return Stream(self, id, self.tables, function, consumers, self.encryption)

    def _make_schedule_function(self) -> LambdaFunction:
        function = LambdaFunction(
            self,
            "ScheduleFunction",
            self._config,
            self._code,
            handler="functions.schedule.main.handler",
            purpose="works off what is due",
            memory_mb=1024,
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | _TASK_ENDS
            | self._search_variables()
            | {"ARCHIVE_BUCKET": self.archive.bucket.bucket_name},
            no_dead_letters_reason="the next sweep does what a failed one left; an alarm watches",
        )
        self.tables.grant(function.role, grants.SCHEDULE_ON_MEMORY, grants.SCHEDULE_ON_LOG)
        self._grant_embed(function)
        self.archive.grant(function.role, "DeleteObject", "PutObject")
        self.archive.grant_list(function.role)
        return function

    def _make_task_events_function(self) -> LambdaFunction | None:
        source = self._config.task_events
        if source is None:
            return None
        function = LambdaFunction(
            self,
            "TaskEventsFunction",
            self._config,
            self._code,
            handler="functions.task_events.main.handler",
            purpose="applies task events of other systems",
            memory_mb=512,
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | _TASK_ENDS
            | {"TASK_EVENTS_TENANT": source.tenant, "TASK_EVENTS_PRINCIPAL": source.principal},
            no_dead_letters_reason="its failures go to the queue of refused task events",
        )
        self.tables.grant(function.role, grants.TASK_EVENTS_ON_MEMORY, grants.TASK_EVENTS_ON_LOG)
        return function

    def _task_events(self) -> TaskEvents | None:
        source = self._config.task_events
        if source is None or self.task_events_function is None:
            return None
        return TaskEvents(self, "TaskEvents", source, self.task_events_function, self.encryption)

    def _doors(self) -> dict[str, LambdaFunction]:
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

    def _add_monitoring(self) -> None:
        alarms = Alarms(self, "Alarms", self._config)
        alarms.watch_api("Answers", self.http_api)
        if self.token_api is not None:
            alarms.watch_api("AnswersToTokens", self.token_api)
        for name, function in self._doors().items():
            alarms.watch_function(name, function)
        alarms.watch_tables(self.tables)
        alarms.watch_stream("Events", self.stream, self.stream_function)
        if self.embedding_stream is not None and self.embedding_function is not None:
            alarms.watch_stream("Vectors", self.embedding_stream, self.embedding_function)
        alarms.watch_quotas(self.stream_function)
        alarms.watch_schedule(self.schedule, self.schedule_function)
        if self.task_events is not None:
            alarms.watch_task_events(self.task_events)
        board = Dashboard(self, "Dashboard", alarms)
        board.show_api(self.http_api)
        board.show_functions(self._doors())
        board.show_tables(self.tables)
        board.show_background(self.stream_function, self.schedule_function)

    def _table_names(self) -> dict[str, str]:
        return {
            "MEMORY_TABLE": self.tables.memory.table_name,
            "LOG_TABLE": self.tables.log.table_name,
            "LOG_RETENTION_DAYS": str(self._config.event_retention_days),
        }

    def _search_variables(self) -> dict[str, str]:
        model = self._config.embedding_model
        return ({"VECTOR_INDEX": VECTOR_INDEX} if self._config.vector_index else {}) | (
            {"EMBEDDING_MODEL": model} if model else {}
        )

    def _grant_embed(self, function: LambdaFunction) -> None:
        if self._config.embedding_model is not None:
            grant_embed(function.role, self._config.embedding_model.removeprefix("bedrock:"))

    def _url(self) -> str:
        domain = self._config.domain
        return self.http_api.api.api_endpoint if domain is None else f"https://{domain.name}"

    def _describe(self) -> None:
        """Say in a parameter what operators' commands need to know of the deployment."""
        description = {
            "Schema": "1",
            "ApiUrl": self._url(),
            "RootKeySecretId": self.root_key.secret.secret_arn,
            "MemoryTable": self.tables.memory.table_name,
            "LogTable": self.tables.log.table_name,
            "ArchiveBucket": self.archive.bucket.bucket_name,
            "EventBus": self.bus.bus.event_bus_name,
            "StreamDeadLetters": self.stream.dead_letters.queue.queue_url,
            "ScheduleDeadLetters": self.schedule.dead_letters.queue.queue_url,
        }
        for name, function in self._doors().items():
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
        parameter = ssm.StringParameter(
            self,
            "Description",
            parameter_name=f"/agent-memory/{self._config.stage}/deployment",
            description="agent-memory: what its operators need to know of this deployment",
            string_value=self.to_json_string(description),
        )
        outputs = ("ApiUrl", "RootKeySecretId", "TokenApiUrl")
        for name in outputs:
            if name in description:
                CfnOutput(self, name, value=description[name])
        CfnOutput(self, "DeploymentParameter", value=parameter.parameter_name)


_SLOW = (
    "no {0} was found to compile the asset with, so each cold start compiles all modules anew: put"
    " a {0} on the PATH, or choose -c runtime=… for a Python that is there"
)
