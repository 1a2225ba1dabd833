"""The settings of each function: read and checked once at its start, and frozen.

The checks are written by hand: importing pydantic-settings would take longer than all of the
function's own modules. Settings have no `repr`, since some are secrets.
"""

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar, Literal, Self

from functions.platform import limits
from functions.platform.embedding_models import OPENAI, EmbeddingModel, parse_embedding_model

DEFAULT_EVENT_BUS_TYPES = "memory.archived,memory.evicted,quota.warning"
_COMMON = frozenset({"memory_table", "log_table", "log_retention_days"})
_ARCHIVE = frozenset({"archive_bucket", "archive_folder"})
_KEYS = frozenset({"encryption_key_file", "encryption_key_id"})
_SWITCHES = frozenset({"switches_parameter", "read_only", "active_region", "aws_region"})
_EMBEDDING = frozenset({"embedding_model", "embedding_dimensions", "embedding_url"})
_SEARCH = _EMBEDDING | {"vector_index", "embedding_key", "embedding_key_secret_id"}
_REQUESTS = frozenset({"principal_requests_per_minute", "tenant_requests_per_minute"})
_BUDGETS = frozenset({"learning_tokens_per_day", "learning_requests_per_day"})
_LEARNING = _BUDGETS | {"learning_model"}
_MODEL = frozenset({"learning_url", "learning_key", "learning_key_secret_id"})
_RANGES = {
    "key_cache_seconds": (0, limits.MAX_KEY_CACHE_SECONDS),
    "request_log_sample": (0, 1),
    "log_retention_days": (0, limits.MAX_LOG_RETENTION_DAYS),
    "sweep_threads": (1, limits.MAX_SWEEP_THREADS),
}


class WrongSetting(ValueError):
    """A setting is missing or wrong; the message names its variable, never its value."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Settings:
    """All settings; the class of each function lists those that it reads.

    Attributes:
        memory_table, log_table: the names of the two tables.
        archive_bucket, archive_folder: the bucket or the folder that expired conversations are
            archived in; without both, they are deleted.
        vector_index: the vector index of the table; without it, vectors are compared in memory.
        embedding_model: `bedrock:ID` or `openai:NAME`; by default, the packaged model.
        embedding_dimensions: the dimensions of its vectors; 0 for the model's default.
        embedding_url: the address of the OpenAI-compatible endpoint that embeds.
        embedding_key, embedding_key_secret_id: its key, or the key's id in Secrets Manager, if it
            needs a key.
        learning_model: the models that learn from conversations, separated by commas, the default
            one first: `openai:NAME` or `bedrock:ID`. Without it, nothing is learned.
        learning_url: the address of the OpenAI-compatible endpoint.
        learning_key, learning_key_secret_id: its key, or the key's id in Secrets Manager, if it
            needs a key.
        learning_tokens_per_day, learning_requests_per_day: the daily limits of a tenant's
            strategies; 0 for no limit.
        searchable_conversations: the default of `searchable` in conversations; 0 or 1.
        root_key, root_key_secret_id: the operator's key, or its id in Secrets Manager.
        encryption_key_file, encryption_key_id: the file, or the KMS key, that wraps the data keys
            of sensitive values, and of the deployment's secret.
        switches_parameter: the parameter of Systems Manager with the operator's switches.
        read_only: 1 while writes are stopped: requests that may write are rejected, and clients
            retry them; the schedule does nothing, and other systems' events wait for their retries.
        active_region: the Region that writes, if the tables are in several;
        default: any.
        aws_region: the Region that the function runs in, set by Lambda.
        key_cache_seconds: how long a function remembers an API key.
        principal_requests_per_minute, tenant_requests_per_minute: the limits of one instance; 0 for
            no limit.
        request_log_sample: the share of successful requests that are logged, 0 to 1; all other
            requests are logged.
        jwt_tenant_claim, jwt_principal_claim: the claims of a token, verified by the gateway, that
            hold the tenant and the principal's id.
        openwop: the edition of OpenWOP for markers and the discovery document.
        event_bus: the bus that events are published on.
        event_bus_types: the types of events that it carries, separated by commas; `*` for all.
        stream_consumers: the names of the change stream's consumers, separated by commas; by
            default, all.
        sweep_threads: the number of tenants that a sweep processes in parallel.
        log_retention_days: how long logs and audit records are kept; 0 is for good.
        log_wait_seconds: how long the end of a task waits for the log of earlier events, before it
            leaves the rest to the schedule; 0 if no function reads the change stream.
        task_events_tenant, task_events_principal: the tenant and the principal that other systems'
            task events are applied for.
    """

    USED: ClassVar[frozenset[str]] = frozenset()
    OPENS_VALUES: ClassVar[bool] = False
    """True if the function may decrypt sensitive values; else the key only decrypts the secret."""

    memory_table: str
    log_table: str
    archive_bucket: str | None = None
    archive_folder: str | None = None
    vector_index: str | None = None
    embedding_model: str | None = None
    embedding_dimensions: int = 0
    embedding_url: str | None = None
    embedding_key: str | None = None
    embedding_key_secret_id: str | None = None
    searchable_conversations: int = 1
    learning_model: str | None = None
    learning_url: str | None = None
    learning_key: str | None = None
    learning_key_secret_id: str | None = None
    learning_tokens_per_day: int = limits.DEFAULT_MODEL_TOKENS
    learning_requests_per_day: int = limits.DEFAULT_MODEL_REQUESTS
    root_key: str | None = None
    root_key_secret_id: str | None = None
    encryption_key_file: str | None = None
    encryption_key_id: str | None = None
    switches_parameter: str | None = None
    read_only: int = 0
    active_region: str | None = None
    aws_region: str | None = None
    key_cache_seconds: float = 60
    principal_requests_per_minute: int = limits.DEFAULT_PRINCIPAL_REQUESTS
    tenant_requests_per_minute: int = limits.DEFAULT_TENANT_REQUESTS
    request_log_sample: float = 1
    jwt_tenant_claim: str | None = None
    jwt_principal_claim: str | None = None
    openwop: Literal["rfc-0004", "1.x"] = "rfc-0004"
    event_bus: str | None = None
    event_bus_types: str = DEFAULT_EVENT_BUS_TYPES
    stream_consumers: str | None = None
    sweep_threads: int = 8
    log_retention_days: int = 365
    log_wait_seconds: float = 0
    task_events_tenant: str | None = None
    task_events_principal: str | None = None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the variables of the fields' names in capitals; an empty one counts as unset."""
        used = [each for each in fields(cls) if each.name in cls.USED]
        given = {each: text for each in used if (text := environ.get(each.name.upper()))}
        for each in used:
            _check(each in given or each.default is not MISSING, f"set {each.name.upper()}")
        return cls(**{each.name: _parse(each, text) for each, text in given.items()})

    def __post_init__(self) -> None:
        """Check the rules that types don't express."""
        both = self.archive_bucket is not None and self.archive_folder is not None
        _check(not both, "set only one of ARCHIVE_BUCKET and ARCHIVE_FOLDER")
        self._check_embedding()
        self._check_learning()
        root_key = self.root_key is None or len(self.root_key) >= limits.MIN_ROOT_KEY_CHARACTERS
        _check(root_key, f"ROOT_KEY must have {limits.MIN_ROOT_KEY_CHARACTERS} characters or more")
        for name, (least, most) in _RANGES.items():
            is_within = least <= getattr(self, name) <= most
            _check(is_within, f"{name.upper()} must be a number from {least} to {most}")
        for name in (*sorted(_REQUESTS), *sorted(_BUDGETS)):
            _check(getattr(self, name) >= 0, f"{name.upper()} must be 0 or more")
        _check(self.openwop in ("rfc-0004", "1.x"), "OPENWOP must be rfc-0004 or 1.x")
        both = (self.jwt_tenant_claim is None) == (self.jwt_principal_claim is None)
        _check(both, "set both JWT_TENANT_CLAIM and JWT_PRINCIPAL_CLAIM, or neither")
        if self.USED >= _KEYS:
            self._check_exactly_one("encryption_key_file", "encryption_key_id")

    @property
    def is_read_only(self) -> bool:
        """Tell whether writes are stopped: by the operator, or because another Region writes."""
        is_standby = self.active_region is not None and self.active_region != self.aws_region
        return bool(self.read_only) or is_standby

    @property
    def chosen_embedding_model(self) -> EmbeddingModel | None:
        """The model that embeds; None for the packaged one."""
        if self.embedding_model is None:
            return None
        return parse_embedding_model(self.embedding_model, self.embedding_dimensions)

    def _check_embedding(self) -> None:
        try:
            model = self.chosen_embedding_model
        except ValueError as error:
            raise WrongSetting(f"EMBEDDING_MODEL {error}") from None
        is_openai = model is not None and model.provider == OPENAI
        has_url = not is_openai or self.embedding_url is not None
        _check(has_url, "set EMBEDDING_URL to the address of the OpenAI-compatible endpoint")
        is_sized = not (is_openai and self.vector_index) or bool(self.embedding_dimensions)
        _check(is_sized, "set EMBEDDING_DIMENSIONS, since VECTOR_INDEX has a fixed number")

    @property
    def learning_models(self) -> list[str]:
        """The models that learn, the default one first."""
        return [each.strip() for each in (self.learning_model or "").split(",") if each.strip()]

    def _check_learning(self) -> None:
        providers = {each.partition(":")[0] for each in self.learning_models}
        is_known = len(providers) <= 1 and providers <= {"openai", "bedrock"}
        _check(is_known, "LEARNING_MODEL must be openai:NAME or bedrock:ID, or several of one kind")
        if self.USED >= _MODEL:
            has_url = "openai" not in providers or self.learning_url is not None
            _check(has_url, "set LEARNING_URL to the address of the OpenAI-compatible endpoint")

    def _check_exactly_one(self, one: str, other: str) -> None:
        exactly_one = (getattr(self, one) is None) != (getattr(self, other) is None)
        _check(exactly_one, f"set either {one.upper()} or {other.upper()}")


class ApiSettings(Settings):
    """The API function's settings."""

    USED = _COMMON.union(_ARCHIVE, _SEARCH, _LEARNING, _KEYS, _REQUESTS, _SWITCHES) | {
        "root_key",
        "root_key_secret_id",
        "log_wait_seconds",
        "key_cache_seconds",
        "openwop",
        "jwt_tenant_claim",
        "jwt_principal_claim",
        "request_log_sample",
        "searchable_conversations",
    }
    OPENS_VALUES = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_exactly_one("root_key", "root_key_secret_id")


class ScheduleSettings(Settings):
    """The scheduled function's settings."""

    USED = _COMMON.union(_ARCHIVE, _SEARCH, _SWITCHES, _KEYS, {"log_wait_seconds", "sweep_threads"})


class StreamSettings(Settings):
    """The stream function's settings."""

    USED = _COMMON.union(
        _SEARCH, _LEARNING, _MODEL, {"event_bus", "event_bus_types", "stream_consumers"}
    )


class TaskEventSettings(Settings):
    """The settings of the function that takes other systems' task events."""

    USED = _COMMON.union(
        _SWITCHES, _KEYS, {"log_wait_seconds", "task_events_tenant", "task_events_principal"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("task_events_tenant", "task_events_principal"):
            _check(getattr(self, name) is not None, f"set {name.upper()}")


def _parse(field: Field[Any], text: str) -> Any:
    if field.type not in (int, float):
        return text
    try:
        return int(text) if field.type is int else float(text)
    except ValueError:
        raise WrongSetting(f"{field.name.upper()} must be a number") from None


def _check(right: bool, problem: str) -> None:
    if not right:
        raise WrongSetting(problem)
