"""The whole service as one construct, for any app, stage or stack."""

from collections.abc import Mapping

from aws_cdk import Annotations, Tags, aws_logs
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from .budget import Budget
from .bus import Bus
from .code import FunctionCode, find_bundled_code
from .description import describe
from .domain import DomainName
from .foreign_writes import ForeignWrites
from .functions import Functions
from .http_api import HttpApi
from .lambda_function import LambdaFunction, Network
from .logs import Logs
from .monitoring import Parts, add_monitoring
from .schedule import Schedule
from .settings import Settings
from .state import State
from .stream import Stream
from .task_events import TaskEvents


class AgentMemory(Construct):
    """A memory service: HTTP API, functions, schedule, bus and alarms for a state.

    Several fit into one stack, each with its own name. Operators' commands find each by the
    parameter `/agent-memory/NAME/deployment`.

    Args:
        code: the functions' code; by default, the code in this package.
        state: from elsewhere, such as a separate stack; by default, a new one.
        bus: receives the memory's events; by default, a new one.
        network: the VPC that the functions run in; by default, none.
        alarm_topic: receives alarms.
        log_groups: your log groups, by the part that writes to them: `Api`, `Stream`, `Schedule`,
            `Embedding`, `Learning`, `TaskEvents`, `PreTraffic`, `Access`, `TokenAccess`,
            `TableWrites`.
        log_destination: receives every line of the other log groups.
        permissions_boundary: set on each new role.
        tags: set on all new resources.

    Attributes:
        state, bus, functions, http_api, token_api, stream, embedding_stream, learning_stream,
            schedule, task_events: its parts; None if the settings omit them.
        url: of the API.
        description: the values for operators' commands, by name.

    Raises:
        NoCode: no code is given, and this copy of the package contains none.
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
        code = code or find_bundled_code()
        self._warn_without_bytecode(code)
        self.state = state or State(self, "State", settings)
        self._logs = Logs(
            settings, log_groups or {}, log_destination, self.state.encryption.logs_key
        )
        self.bus = Bus(self, "Bus", settings, bus)
        self.functions = Functions(self, settings, code, self._logs, network, self.state, self.bus)
        self._warn_of_two_readers()
        api = self.functions.api
        self.http_api = HttpApi(self, "HttpApi", settings, api, self._logs)
        self.token_api = self._make_token_api()
        if settings.domain is not None:
            DomainName(self, "Domain", settings.domain, self.http_api)
        self.stream = self._make_stream(
            "Stream", self.functions.stream, self.functions.stream_consumers
        )
        self.embedding_stream = self._make_embedding_stream()
        self.learning_stream = self._make_learning_stream()
        self.schedule = Schedule(
            self,
            "Schedule",
            self.functions.schedule,
            self.state.encryption,
            settings.sweep_parts,
            is_enabled=settings.active_region is None,
        )
        self.task_events = self._make_task_events()
        parts = self._list_parts()
        add_monitoring(self, settings, parts, self._logs, alarm_topic)
        if settings.monthly_budget_usd is not None:
            Budget(self, "Budget", settings)
        self.url = self._find_url()
        self.description = describe(self, settings, parts, self.bus, self.url)
        self._mark(permissions_boundary, tags or {})

    def _warn_of_two_readers(self) -> None:
        is_replicated = self._settings.standby or self._settings.active_region
        if is_replicated and len(self.functions.of_streams) > 1:
            Annotations.of(self).add_warning_v2("agent-memory:stream-readers", _TWO_READERS)

    def _warn_without_bytecode(self, code: FunctionCode) -> None:
        if not code.compiled:
            Annotations.of(self).add_warning_v2("agent-memory:bytecode", _SLOW.format(code.runtime))

    def _mark(
        self, permissions_boundary: iam.IManagedPolicy | None, tags: Mapping[str, str]
    ) -> None:
        if permissions_boundary is not None:
            iam.PermissionsBoundary.of(self).apply(permissions_boundary)
        own = {"service": "agent-memory", "memory": self._settings.name}
        for name, value in {**own, **tags}.items():
            Tags.of(self).add(name, value)

    def _list_parts(self) -> Parts:
        return Parts(
            state=self.state,
            functions=self.functions,
            http_api=self.http_api,
            token_api=self.token_api,
            stream=self.stream,
            embedding_stream=self.embedding_stream,
            learning_stream=self.learning_stream,
            schedule=self.schedule,
            task_events=self.task_events,
            foreign_writes=self._watch_writes(),
        )

    def _watch_writes(self) -> ForeignWrites | None:
        if not self._settings.watch_table_writes:
            return None
        tables, settings = self.state.tables, self._settings
        return ForeignWrites(self, "ForeignWrites", settings, tables, self.functions, self._logs)

    def _make_token_api(self) -> HttpApi | None:
        tokens = self._settings.tokens
        if tokens is None:
            return None
        return HttpApi(self, "TokenApi", self._settings, self.functions.api, self._logs, tokens)

    def _make_stream(
        self, id: str, function: LambdaFunction, consumers: list[str], **options: int
    ) -> Stream:
        return Stream(
            self,
            id,
            self.state.tables,
            function,
            consumers,
            self.state.encryption,
            parallelism=self._settings.stream_parallelism,
            is_enabled=self._settings.active_region is None,
            **options,
        )

    def _make_embedding_stream(self) -> Stream | None:
        function = self.functions.embedding
        if function is None:
            return None
        return self._make_stream("EmbeddingStream", function, self.functions.embedding_consumers)

    def _make_learning_stream(self) -> Stream | None:
        function = self.functions.learning
        if function is None:
            return None
        consumers = self.functions.learning_consumers
        return self._make_stream("LearningStream", function, consumers, batch=_LEARNING_BATCH)

    def _make_task_events(self) -> TaskEvents | None:
        source, function = self._settings.task_events, self.functions.task_events
        if source is None or function is None:
            return None
        return TaskEvents(self, "TaskEvents", source, function)

    def _find_url(self) -> str:
        domain, edge = self._settings.domain, self._settings.edge
        if edge is not None:
            return f"https://{edge.name}"
        return self.http_api.api.api_endpoint if domain is None else f"https://{domain.name}"


_TWO_READERS = (
    "two functions read the stream of a replicated table, but AWS recommends one: omit the "
    "standby, embedding_model or learning_model, or watch the alarm EventsAreLate"
)
_LEARNING_BATCH = 16  # each record may ask a model for a minute, and eight are asked at once
_SLOW = (
    "no {0} was found to compile the asset, so each cold start compiles all modules: put {0} on "
    "the PATH, or choose an installed Python by -c runtime=…"
)
