"""The functions of a memory, with their variables and permissions."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from functions.stream.handler import ALL_CONSUMERS

from . import grants
from .bus import Bus
from .code import FunctionCode
from .lambda_function import LambdaFunction, Network
from .language_model import grant_ask, grant_read_key
from .logs import Logs
from .settings import Settings, TaskEventSource
from .state import State
from .vector_index import NAME as VECTOR_INDEX
from .vector_index import grant_search

_EMBEDDING_CONSUMERS = ("vectors",)  # where a model elsewhere embeds
_LEARNING_CONSUMERS = ("learning",)  # where a language model learns; nowhere without one
_HAS_DEAD_LETTERS = "the stream's mapping has the queue; nothing else invokes it"
_TASK_ENDS = {"LOG_WAIT_SECONDS": "3"}  # the stream delivers changes within a second


class Functions:
    """The functions of a memory, children of its construct.

    Args:
        scope: the memory's construct.
        settings: select and configure the functions.
        code: of all functions.
        logs: their logs.
        network: the VPC that they run in; by default, none.
        state: the data that they read and write.
        bus: the bus of the stream function.

    Attributes:
        api: answers requests.
        stream: processes the change stream.
        embedding: embeds changed entries, if a remote model is set.
        learning: learns from conversations, if a language model is set.
        schedule: processes due items.
        task_events: applies task events of other systems, if configured.
    """

    def __init__(
        self,
        scope: Construct,
        settings: Settings,
        code: FunctionCode,
        logs: Logs,
        network: Network | None,
        state: State,
        bus: Bus,
    ) -> None:
        self._scope = scope
        self._settings = settings
        self._code = code
        self._logs = logs
        self._network = network
        self._state = state
        self._bus = bus
        model, source = settings.embedding_model, settings.task_events
        self.api = self._make_api()
        self.stream = self._make_stream()
        self.embedding = None if model is None else self._make_embedding()
        self.learning = None if settings.learning_model is None else self._make_learning()
        self.schedule = self._make_schedule()
        self.task_events = None if source is None else self._make_task_events(source)

    @property
    def by_name(self) -> dict[str, LambdaFunction]:
        """All existing functions."""
        functions = {
            "Api": self.api,
            "Stream": self.stream,
            "Schedule": self.schedule,
            "Embedding": self.embedding,
            "Learning": self.learning,
            "TaskEvents": self.task_events,
        }
        return {name: each for name, each in functions.items() if each is not None}

    @property
    def of_streams(self) -> list[LambdaFunction]:
        """The functions that the change stream invokes."""
        found = (self.stream, self.embedding, self.learning)
        return [each for each in found if each is not None]

    @property
    def stream_consumers(self) -> list[str]:
        """The consumers in the stream function, without those that call models."""
        apart = (
            *_LEARNING_CONSUMERS,
            *(_EMBEDDING_CONSUMERS if self._settings.embedding_model else ()),
        )
        return [name for name in ALL_CONSUMERS if name not in apart]

    @property
    def embedding_consumers(self) -> list[str]:
        """The consumers in the embedding function."""
        return list(_EMBEDDING_CONSUMERS)

    @property
    def learning_consumers(self) -> list[str]:
        """The consumers in the learning function."""
        return list(_LEARNING_CONSUMERS)

    def _make(
        self,
        part: str,
        *,
        handler: str,
        purpose: str,
        memory_mb: int,
        environment: dict[str, str],
        no_dead_letters_reason: str,
        timeout: Duration | None = None,
        snap_start: bool = False,
        concurrency: int | None = None,
    ) -> LambdaFunction:
        """Create a function with the memory's tables and network."""
        return LambdaFunction(
            self._scope,
            f"{part}Function",
            self._settings,
            self._code,
            self._logs,
            part=part,
            handler=handler,
            purpose=purpose,
            memory_mb=memory_mb,
            timeout=timeout or Duration.seconds(60),
            environment=self._table_names() | environment,
            no_dead_letters_reason=no_dead_letters_reason,
            network=self._network,
            snap_start=snap_start,
            concurrency=concurrency,
        )

    def _make_api(self) -> LambdaFunction:
        state, settings = self._state, self._settings
        function = self._make(
            "Api",
            handler="functions.api.main.handler",
            purpose="answers requests",
            memory_mb=1024,
            timeout=Duration.seconds(29),
            environment=_TASK_ENDS
            | self._switch_variables()
            | self._search_variables()
            | self._learning_variables()
            | self._token_variables()
            | self._key_variables()
            | {
                "ARCHIVE_BUCKET": state.archive.name,
                "ROOT_KEY_SECRET_ID": state.root_key.secret.secret_arn,
                "PRINCIPAL_REQUESTS_PER_MINUTE": str(settings.principal_requests_per_minute),
                "TENANT_REQUESTS_PER_MINUTE": str(settings.tenant_requests_per_minute),
                "REQUEST_LOG_SAMPLE": str(settings.request_log_sample),
            },
            no_dead_letters_reason="the gateway waits for the answer; a failure is the caller's",
            snap_start=settings.snap_start,
        )
        self._grant_switches(function)
        state.tables.grant(function.role, grants.API_ON_MEMORY, grants.API_ON_LOG)
        self._grant_search(function)
        self._grant_embed(function)
        state.root_key.grant_read(function.role, state.encryption)
        state.encryption.grant_wrap_values(function.role)
        state.archive.grant(function.role, "DeleteObject", "GetObject", "PutObject")
        state.archive.grant_list(function.role)
        return function

    def _make_stream(self) -> LambdaFunction:
        function = self._make(
            "Stream",
            handler="functions.stream.main.handler",
            purpose="processes the change stream",
            memory_mb=1769,  # one core, which it uses
            environment=self._search_variables()
            | {
                "EVENT_BUS": self._bus.name,
                "EVENT_BUS_TYPES": self._settings.event_bus_types,
                "STREAM_CONSUMERS": ",".join(self.stream_consumers),
            },
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
            concurrency=self._settings.stream_concurrency,
        )
        self._state.tables.grant(function.role, grants.STREAM_ON_MEMORY, grants.STREAM_ON_LOG)
        self._bus.grant_publish(function.role)
        return function

    def _make_embedding(self) -> LambdaFunction:
        """Create the function that calls a remote model, so that its waits delay no events."""
        function = self._make(
            "Embedding",
            handler="functions.stream.main.handler",
            purpose="embeds changed entries",
            memory_mb=512,
            environment=self._search_variables()
            | {"STREAM_CONSUMERS": ",".join(self.embedding_consumers)},
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
        )
        self._state.tables.grant(function.role, grants.EMBEDDING_ON_MEMORY)
        self._grant_embed(function)
        return function

    def _make_learning(self) -> LambdaFunction:
        """Create the function that asks a language model, so that its waits delay no events."""
        settings = self._settings
        key, url = settings.learning_key_arn, settings.learning_url
        function = self._make(
            "Learning",
            handler="functions.stream.main.handler",
            purpose="learns from conversations",
            memory_mb=1024,
            timeout=Duration.minutes(5),
            environment=self._search_variables()
            | self._learning_variables()
            | {"STREAM_CONSUMERS": ",".join(self.learning_consumers)}
            | ({"LEARNING_URL": url} if url else {})
            | ({"LEARNING_KEY_SECRET_ID": key} if key else {}),
            no_dead_letters_reason=_HAS_DEAD_LETTERS,
        )
        self._state.tables.grant(function.role, grants.LEARNING_ON_MEMORY)
        self._grant_embed(function)
        grant_ask(function.role, settings.learning_model or "")
        if key is not None:
            grant_read_key(function.role, key)
            self._state.encryption.grant_read_secrets(function.role)
        return function

    def _make_schedule(self) -> LambdaFunction:
        archive = self._state.archive
        function = self._make(
            "Schedule",
            handler="functions.schedule.main.handler",
            purpose="processes due items",
            memory_mb=1024,
            environment=_TASK_ENDS
            | self._switch_variables()
            | self._search_variables()
            | {"ARCHIVE_BUCKET": archive.name}
            | self._key_variables(),
            no_dead_letters_reason="the next sweep does what a failed one left; an alarm watches",
        )
        self._grant_switches(function)
        self._state.tables.grant(function.role, grants.SCHEDULE_ON_MEMORY, grants.SCHEDULE_ON_LOG)
        self._grant_embed(function)
        self._state.encryption.grant_open_secret(function.role)
        archive.grant(function.role, "DeleteObject", "PutObject")
        archive.grant_list(function.role)
        return function

    def _make_task_events(self, source: TaskEventSource) -> LambdaFunction:
        function = self._make(
            "TaskEvents",
            handler="functions.task_events.main.handler",
            purpose="applies task events of other systems",
            memory_mb=512,
            environment=_TASK_ENDS
            | self._switch_variables()
            | self._key_variables()
            | {"TASK_EVENTS_TENANT": source.tenant, "TASK_EVENTS_PRINCIPAL": source.principal},
            no_dead_letters_reason="its failures go to the queue of refused task events",
        )
        tables = self._state.tables
        self._grant_switches(function)
        tables.grant(function.role, grants.TASK_EVENTS_ON_MEMORY, grants.TASK_EVENTS_ON_LOG)
        self._state.encryption.grant_open_secret(function.role)
        return function

    def _key_variables(self) -> dict[str, str]:
        return {"ENCRYPTION_KEY_ID": self._state.encryption.values.key_arn}

    def _table_names(self) -> dict[str, str]:
        tables = self._state.tables
        return {
            "MEMORY_TABLE": tables.memory_name,
            "LOG_TABLE": tables.log_name,
            "LOG_RETENTION_DAYS": str(self._settings.event_retention_days),
        }

    @property
    def switches(self) -> str:
        """The parameter with the switches, which operators' commands write and functions read."""
        return f"/agent-memory/{self._settings.name}/switches"

    def _switch_variables(self) -> dict[str, str]:
        active = self._settings.active_region
        held = {"READ_ONLY": "1"} if self._settings.read_only else {}
        switched = {"SWITCHES_PARAMETER": self.switches}
        return switched | held | ({"ACTIVE_REGION": active} if active else {})

    def _grant_switches(self, function: LambdaFunction) -> None:
        """Let a function read the switches, which the stack neither creates nor resets."""
        switches = Stack.of(self._scope).format_arn(
            service="ssm", resource="parameter", resource_name=self.switches.lstrip("/")
        )
        function.role.add_to_policy(
            iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[switches])
        )

    def _search_variables(self) -> dict[str, str]:
        settings = self._settings
        chosen = {
            "VECTOR_INDEX": VECTOR_INDEX if settings.vector_index else None,
            "EMBEDDING_MODEL": settings.embedding_model,
            "EMBEDDING_URL": settings.embedding_url,
            "EMBEDDING_KEY_SECRET_ID": settings.embedding_key_arn,
            "EMBEDDING_DIMENSIONS": settings.embedding_dimensions or None,
        }
        return {name: str(each) for name, each in chosen.items() if each is not None}

    def _learning_variables(self) -> dict[str, str]:
        settings = self._settings
        if settings.learning_model is None:
            return {}
        return {
            "LEARNING_MODEL": settings.learning_model,
            "LEARNING_TOKENS_PER_DAY": str(settings.learning_tokens_per_day),
            "LEARNING_REQUESTS_PER_DAY": str(settings.learning_requests_per_day),
        }

    def _token_variables(self) -> dict[str, str]:
        tokens = self._settings.tokens
        if tokens is None:
            return {}
        return {
            "JWT_TENANT_CLAIM": tokens.tenant_claim,
            "JWT_PRINCIPAL_CLAIM": tokens.principal_claim,
        }

    def _grant_search(self, function: LambdaFunction) -> None:
        tables = self._state.tables
        if self._settings.vector_index:
            grant_search(function.role, tables.memory_arns)
        else:
            tables.grant(function.role, grants.SEARCH_IN_MEMORY)

    def _grant_embed(self, function: LambdaFunction) -> None:
        model, key = self._settings.embedding_model, self._settings.embedding_key_arn
        grant_ask(function.role, model or "")
        if key is not None:
            grant_read_key(function.role, key)
            self._state.encryption.grant_read_secrets(function.role)
