"""The stack: what is put together with what. It makes no resources itself."""

from aws_cdk import Annotations, CfnOutput, Duration, Stack, Tags
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import grants
from infra.asset.build import Asset
from infra.config import Config
from infra.constructs.alarms import Alarms
from infra.constructs.archive import Archive
from infra.constructs.bus import Bus
from infra.constructs.dashboard import Dashboard
from infra.constructs.domain import DomainName
from infra.constructs.door import Door
from infra.constructs.encryption import Encryption
from infra.constructs.http_api import HttpApi
from infra.constructs.root_key import RootKey
from infra.constructs.schedule import Schedule
from infra.constructs.stream import Stream
from infra.constructs.tables import Tables
from infra.constructs.task_events import TaskEvents
from infra.constructs.vector_index import NAME as VECTOR_INDEX
from infra.constructs.vector_index import let_embed, let_search


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
        self.api = self._api()
        self.lifecycle = self._lifecycle()
        self.maintenance = self._maintenance()
        self.intake = self._intake()
        self.http_api = HttpApi(self, "HttpApi", config, self.api)
        self.token_api = self._token_api()
        if config.domain is not None:
            DomainName(self, "Domain", config.domain, self.http_api)
        self.stream = Stream(self, "Stream", self.tables, self.lifecycle, self.encryption)
        self.schedule = Schedule(self, "Schedule", self.maintenance, self.encryption)
        self.task_events = self._task_events()
        self._watch()
        self._tell()

    def _api(self) -> Door:
        door = Door(
            self,
            "ApiFunction",
            self._config,
            self._code,
            handler="functions.api.main.handler",
            purpose="answers requests",
            memory_mb=1024,
            timeout=Duration.seconds(29),
            environment=self._table_names()
            | self._meanings()
            | {
                "ARCHIVE_BUCKET": self.archive.bucket.bucket_name,
                "ROOT_KEY_SECRET_ID": self.root_key.secret.secret_arn,
                "ENCRYPTION_KEY_ID": self.encryption.values.key_arn,
            },
            without_queue="the gateway waits for its answer, so a failure is the caller's answer",
            snap_start=self._config.snap_start,
        )
        self.tables.let(door.role, grants.API_ON_MEMORY, grants.API_ON_LOG)
        if self._config.vector_index:
            let_search(door.role, self.tables.memory)
        self._let_embed(door)
        self.root_key.let_read(door.role, self.encryption)
        self.encryption.let_wrap_values(door.role)
        self.archive.let(door.role, "DeleteObject", "GetObject")
        return door

    def _token_api(self) -> HttpApi | None:
        tokens = self._config.tokens
        if tokens is None:
            return None
        variables = {
            "JWT_TENANT_CLAIM": tokens.tenant_claim,
            "JWT_PRINCIPAL_CLAIM": tokens.principal_claim,
        }
        for name, claim in variables.items():
            self.api.function.add_environment(name, claim)
        return HttpApi(self, "TokenApi", self._config, self.api, tokens)

    def _lifecycle(self) -> Door:
        door = Door(
            self,
            "LifecycleFunction",
            self._config,
            self._code,
            handler="functions.stream.main.handler",
            purpose="tells what happened to memories",
            memory_mb=512,
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | self._meanings()
            | {"EVENT_BUS": self.bus.bus.event_bus_name},
            without_queue="the stream's mapping has the queue; nothing else invokes it",
        )
        self.tables.let(door.role, grants.LIFECYCLE_ON_MEMORY, grants.LIFECYCLE_ON_LOG)
        self.bus.let_publish(door.role)
        self._let_embed(door)
        return door

    def _maintenance(self) -> Door:
        door = Door(
            self,
            "MaintenanceFunction",
            self._config,
            self._code,
            handler="functions.schedule.main.handler",
            purpose="looks after what is due",
            memory_mb=1024,
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | self._meanings()
            | {"ARCHIVE_BUCKET": self.archive.bucket.bucket_name},
            without_queue="the next minute's sweep does what a failed one left; an alarm tells",
        )
        self.tables.let(door.role, grants.MAINTENANCE_ON_MEMORY, grants.MAINTENANCE_ON_LOG)
        self._let_embed(door)
        self.archive.let(door.role, "PutObject")
        return door

    def _intake(self) -> Door | None:
        source = self._config.task_events
        if source is None:
            return None
        door = Door(
            self,
            "IntakeFunction",
            self._config,
            self._code,
            handler="functions.task_events.main.handler",
            purpose="takes task events of other systems",
            memory_mb=512,
            timeout=Duration.seconds(60),
            environment=self._table_names()
            | {"TASK_EVENTS_TENANT": source.tenant, "TASK_EVENTS_PRINCIPAL": source.principal},
            without_queue="its failures go to the queue of refused task events",
        )
        self.tables.let(door.role, grants.INTAKE_ON_MEMORY, grants.INTAKE_ON_LOG)
        return door

    def _task_events(self) -> TaskEvents | None:
        source = self._config.task_events
        if source is None or self.intake is None:
            return None
        return TaskEvents(self, "TaskEvents", source, self.intake, self.encryption)

    def _doors(self) -> dict[str, Door]:
        doors = {"Api": self.api, "Lifecycle": self.lifecycle, "Maintenance": self.maintenance}
        return doors if self.intake is None else doors | {"Intake": self.intake}

    def _watch(self) -> None:
        alarms = Alarms(self, "Alarms", self._config)
        alarms.watch_api("Answers", self.http_api)
        if self.token_api is not None:
            alarms.watch_api("AnswersToTokens", self.token_api)
        for name, door in self._doors().items():
            alarms.watch_function(name, door)
        alarms.watch_tables(self.tables)
        alarms.watch_stream(self.stream, self.lifecycle)
        alarms.watch_quota(self.lifecycle)
        alarms.watch_schedule(self.schedule, self.maintenance)
        if self.task_events is not None:
            alarms.watch_task_events(self.task_events)
        board = Dashboard(self, "Dashboard", alarms)
        board.show_api(self.http_api)
        board.show_functions(self._doors())
        board.show_tables(self.tables)
        board.show_background(self.lifecycle, self.maintenance)

    def _table_names(self) -> dict[str, str]:
        return {
            "MEMORY_TABLE": self.tables.memory.table_name,
            "LOG_TABLE": self.tables.log.table_name,
        }

    def _meanings(self) -> dict[str, str]:
        model = self._config.embedding_model
        return ({"VECTOR_INDEX": VECTOR_INDEX} if self._config.vector_index else {}) | (
            {"EMBEDDING_MODEL": model} if model else {}
        )

    def _let_embed(self, door: Door) -> None:
        if self._config.embedding_model is not None:
            let_embed(door.role, self._config.embedding_model.removeprefix("bedrock:"))

    def _url(self) -> str:
        domain = self._config.domain
        return self.http_api.api.api_endpoint if domain is None else f"https://{domain.name}"

    def _tell(self) -> None:
        """What an operator needs to go on."""
        for name, value in {
            "ApiUrl": self._url(),
            "RootKeySecretId": self.root_key.secret.secret_arn,
            "MemoryTable": self.tables.memory.table_name,
            "LogTable": self.tables.log.table_name,
            "ArchiveBucket": self.archive.bucket.bucket_name,
            "EventBus": self.bus.bus.event_bus_name,
            "StreamDeadLetters": self.stream.dead_letters.queue.queue_url,
            "ScheduleDeadLetters": self.schedule.dead_letters.queue.queue_url,
            "ApiLog": self.api.log.log_group_name,
            "AccessLog": self.http_api.log.log_group_name,
            "LifecycleLog": self.lifecycle.log.log_group_name,
            "MaintenanceLog": self.maintenance.log.log_group_name,
        }.items():
            CfnOutput(self, name, value=value)
        if self.token_api is not None:
            CfnOutput(self, "TokenApiUrl", value=self.token_api.api.api_endpoint)
        if self.task_events is not None and self.intake is not None:
            letters = self.task_events.dead_letters.queue
            CfnOutput(self, "TaskEventDeadLetters", value=letters.queue_url)
            CfnOutput(self, "IntakeLog", value=self.intake.log.log_group_name)


_SLOW = (
    "no {0} was found to compile the asset with, so each cold start compiles all modules anew: put"
    " a {0} on the PATH, or choose -c runtime=… for a Python that is there"
)
