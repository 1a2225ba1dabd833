"""The options of a deployment, by CDK context (`-c name=value`, or `cdk.json`)."""

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from functions.events.event_bus import parse_event_types
from functions.platform.embedding_models import MAX_DIMENSIONS
from functions.platform.limits import (
    DEFAULT_MODEL_REQUESTS,
    DEFAULT_MODEL_TOKENS,
    DEFAULT_PRINCIPAL_REQUESTS,
    DEFAULT_TENANT_REQUESTS,
    MAX_LOG_RETENTION_DAYS,
    MAX_SWEEP_PARTS,
)
from functions.platform.settings import DEFAULT_EVENT_BUS_TYPES, WrongSetting

if TYPE_CHECKING:
    from infra.agent_memory_cdk import (
        Domain,
        EdgeSettings,
        Settings,
        StandbyRegion,
        TaskEventSource,
        Tokens,
    )

_TOGETHER = (
    ("domain_name", "certificate_arn", "hosted_zone_id", "hosted_zone_name"),
    ("edge_domain_name", "edge_certificate_arn", "edge_client_certificate_arn", "trust_store"),
    ("memory_stream_arn", "log_table_arn"),
    ("also_memory_stream_arn", "also_log_table_arn"),
    ("jwt_issuer", "jwt_audience"),
    ("task_event_sources", "task_event_principal"),
    ("standby_region", "standby_storage_key_arn"),
    ("monthly_budget_usd", "budget_email"),
)


_STREAM_ARN = r"^arn:[a-z-]+:dynamodb:\S+:table/[\w.-]+/stream/\S+$"
_TABLE_ARN = r"^arn:[a-z-]+:dynamodb:\S+:table/[\w.-]+$"
_KEY_ARN = r"^arn:[a-z-]+:kms:\S+:key/\S+$"


class ConfigError(Exception):
    """The context is invalid; the message has the remedy."""


class Config(BaseModel):
    """The options of one deployment.

    Attributes:
        stage: names the deployment; `prod` keeps its data when the stacks are destroyed.
        retain: whether tables, keys and the root key are kept; by default, only in `prod`.
        runtime: Lambda's Python.
        architecture: Lambda's processor.
        boto3: `bundled` ships the version that is tested; `runtime` takes Lambda's own.
        read_only: whether writes are stopped: requests that may write are rejected.
        snap_start: start the API function from a snapshot (SnapStart).
        traffic_shift: how a new version of the API function takes over: `canary`, `linear` or
            `all-at-once`; by default `canary` where data is kept.
        vector_index: search by a vector index of DynamoDB, not tried on AWS; else exactly, in
            memory.
        embedding_model: embed by this model: `bedrock:ID`, or `openai:NAME` with the address of the
            endpoint and the secret with its key; else by the one in the package.
        embedding_dimensions: how many numbers its vectors have.
        learning_model: the models that learn from conversations (several with commas between):
            `bedrock:ID`, or `openai:NAME` with the address of the endpoint and the secret with its
            key; and each tenant's budget of a day.
        throttle_rate: requests per second that the API takes.
        throttle_burst: requests at once that the API takes.
        stream_parallelism: how many invocations process a shard of the change stream at a time.
        stream_concurrency: how many invocations the stream function has at most, reserved for it.
        max_write_units, max_read_units: how many units a second DynamoDB serves of each table.
        monthly_budget_usd, budget_email: gets a mail when a month costs, or will cost, more.
        sweep_parts: how many invocations of the scheduled function share what is due.
        principal_requests_per_minute, tenant_requests_per_minute: how many requests one instance of
            the API function takes of each; 0 is no limit.
        log_retention_days: how long the logs of the functions are kept.
        event_retention_days: how long events and audit records are kept; 0 is for good.
        request_log_sample: the share of successful requests that have a line in the log; all others
            have one. The access log, which can't be sampled, is there at 1 alone.
        tracing: whether functions record traces (X-Ray).
        contributor_insights: whether the tables record their throttled keys.
        watch_table_writes: whether an alarm rises when others than the functions write to tables.
        event_bus_types: the types of events that the bus carries (several with commas between); `*`
            for all.
        alarm_topic_arn: the SNS topic that alarms go to.
        backup_days: how long daily backups of the tables and the archive are kept; none are made
            unless given.
        backup_copy_vault_arn: a vault that gets a copy of each.
        memory_stream_arn, log_table_arn: the tables in use, where they aren't the deployment's own:
            the ARN of the memory table's stream, which begins with the table's, and the log table.
        also_memory_stream_arn, also_log_table_arn: two more that functions may use.
        storage_key_arn, values_key_arn, archive_bucket, root_key_arn: what else is kept, where it
            isn't the deployment's own.
        cors_origins: whose pages may call the API from a browser (several with commas between).
        domain_name: a domain name of the API's own, with its certificate and its hosted zone.
        trust_store: where in S3 the certificates are that clients are checked against.
        edge_domain_name: the name that callers use where CloudFront and a firewall precede the API,
            with its certificate in us-east-1, and the one that CloudFront presents.
        edge_requests_per_key, edge_requests_per_address: how many requests the firewall lets
            through in five minutes.
        jwt_issuer: whose tokens a second API takes in the place of keys, with their audience
            (several with commas between) and the claims that hold tenant and principal.
        task_event_sources: whose task events an EventBridge rule takes (several with commas
            between), from the account's default bus or the one of `task_event_bus_arn`.
        task_event_principal: in whose name: `tenant/principal`, a coordinator or user.
        standby_region, standby_storage_key_arn: the Region that follows this one, and the key there
            that encrypts the replicas.
        active_region: the Region that writes, where this one follows it.
        replicated_values_key_arn: the values key of another Region, of which this one makes a
            replica.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: str = Field(default="dev", max_length=20, pattern=r"^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$")
    retain: bool | None = None
    runtime: Literal["python3.12", "python3.13", "python3.14"] = "python3.14"
    architecture: Literal["arm64", "x86_64"] = "arm64"
    boto3: Literal["bundled", "runtime"] = "bundled"
    read_only: bool = False
    snap_start: bool = False
    traffic_shift: Literal["canary", "linear", "all-at-once"] | None = None
    vector_index: bool = False
    embedding_model: str | None = None
    embedding_dimensions: int = Field(default=0, ge=0, le=MAX_DIMENSIONS)
    embedding_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    embedding_key_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:secretsmanager:\S+$")
    learning_model: str | None = None
    learning_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    learning_key_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:secretsmanager:\S+$")
    learning_tokens_per_day: int = Field(default=DEFAULT_MODEL_TOKENS, ge=0)
    learning_requests_per_day: int = Field(default=DEFAULT_MODEL_REQUESTS, ge=0)
    throttle_rate: int = Field(default=500, ge=1)
    throttle_burst: int = Field(default=1000, ge=1)
    max_write_units: int | None = Field(default=None, ge=1)
    max_read_units: int | None = Field(default=None, ge=1)
    monthly_budget_usd: int | None = Field(default=None, ge=1)
    budget_email: str | None = Field(default=None, pattern=r"^\S+@\S+$")
    sweep_parts: int = Field(default=1, ge=1, le=MAX_SWEEP_PARTS)
    stream_parallelism: int = Field(default=8, ge=1, le=10)
    stream_concurrency: int | None = Field(default=None, ge=1)
    principal_requests_per_minute: int = Field(default=DEFAULT_PRINCIPAL_REQUESTS, ge=0)
    tenant_requests_per_minute: int = Field(default=DEFAULT_TENANT_REQUESTS, ge=0)
    log_retention_days: Literal["7", "30", "90", "365"] = "30"
    event_retention_days: int = Field(default=365, ge=0, le=MAX_LOG_RETENTION_DAYS)
    request_log_sample: float = Field(default=0.05, ge=0, le=1)
    tracing: bool = False
    contributor_insights: bool = False
    watch_table_writes: bool = False
    event_bus_types: str = DEFAULT_EVENT_BUS_TYPES
    alarm_topic_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:sns:\S+$")
    backup_days: int | None = Field(default=None, ge=1)
    backup_copy_vault_arn: str | None = Field(
        default=None, pattern=r"^arn:[a-z-]+:backup:\S+:backup-vault:\S+$"
    )
    memory_stream_arn: str | None = Field(default=None, pattern=_STREAM_ARN)
    log_table_arn: str | None = Field(default=None, pattern=_TABLE_ARN)
    also_memory_stream_arn: str | None = Field(default=None, pattern=_STREAM_ARN)
    also_log_table_arn: str | None = Field(default=None, pattern=_TABLE_ARN)
    storage_key_arn: str | None = Field(default=None, pattern=_KEY_ARN)
    values_key_arn: str | None = Field(default=None, pattern=_KEY_ARN)
    archive_bucket: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.-]+$")
    root_key_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:secretsmanager:\S+$")
    cors_origins: str | None = Field(
        default=None, pattern=r"^https?://[\w.:-]+(\s*,\s*https?://[\w.:-]+)*$"
    )
    domain_name: str | None = None
    certificate_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:acm:\S+$")
    hosted_zone_id: str | None = None
    hosted_zone_name: str | None = None
    trust_store: str | None = Field(default=None, pattern=r"^s3://[^/]+/.+$")
    edge_domain_name: str | None = None
    edge_certificate_arn: str | None = Field(
        default=None, pattern=r"^arn:[a-z-]+:acm:us-east-1:\S+$"
    )
    edge_client_certificate_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:acm:\S+$")
    edge_requests_per_key: int = Field(default=30_000, ge=10)
    edge_requests_per_address: int = Field(default=30_000, ge=10)
    jwt_issuer: str | None = Field(default=None, pattern=r"^https://\S+$")
    jwt_audience: str | None = None
    jwt_tenant_claim: str = Field(default="tenant", min_length=1)
    jwt_principal_claim: str = Field(default="sub", min_length=1)
    task_event_sources: str | None = None
    task_event_bus_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:events:\S+$")
    task_event_principal: str | None = Field(default=None, pattern=r"^[^/]+/.+$")
    standby_region: str | None = Field(default=None, pattern=r"^[a-z]+(-[a-z]+)+-\d$")
    standby_storage_key_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:kms:\S+$")
    active_region: str | None = Field(default=None, pattern=r"^[a-z]+(-[a-z]+)+-\d$")
    replicated_values_key_arn: str | None = Field(
        default=None, pattern=r"^arn:[a-z-]+:kms:\S+:key/mrk-"
    )

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> Self:
        """Read the context.

        Unknown names are ignored: the CDK's command line and `~/.cdk.json` have their own. Only
        misspelt options are rejected.

        Raises:
            ConfigError: a name is misspelt, or a value is wrong.
        """
        given = {name: value for name, value in context.items() if cls._is_meant(name)}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            problems = [
                f"-c {'.'.join(map(str, each['loc'])) or 'context'}: {each['msg']}"
                for each in error.errors(include_url=False)
            ]
            raise ConfigError("; ".join(problems)) from error

    @classmethod
    def _is_meant(cls, name: str) -> bool:
        """Tell whether a name is an option, or a misspelt one."""
        return bool(get_close_matches(name.lower(), cls.model_fields, n=1, cutoff=0.8))

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for names in _TOGETHER:
            given = [name for name in names if getattr(self, name) is not None]
            alone = given == ["trust_store"]
            if given and len(given) < len(names) and not alone:
                raise ValueError(f"{', '.join(names[:-1])} and {names[-1]} must be set together")
        if self.standby_region is not None and self.memory_stream_arn is not None:
            raise ValueError(
                "standby_region needs the deployment's own tables: restored tables are in one "
                "Region; add their replicas in DynamoDB, or omit standby_region"
            )
        if self.trust_store is not None and self.domain_name is None:
            raise ValueError(
                "trust_store needs domain_name: only a custom domain checks client certificates"
            )
        try:
            parse_event_types(self.event_bus_types)
        except WrongSetting as error:
            raise ValueError(f"event_bus_types: {error}") from error
        if self.vector_index and self.boto3 == "runtime":
            raise ValueError(
                "vector_index needs boto3 bundled, since Lambda's boto3 may not support it: omit "
                "one of the two options"
            )
        return self

    @property
    def retains(self) -> bool:
        """Tell whether data outlives the stack."""
        return self.stage == "prod" if self.retain is None else self.retain

    @property
    def refers_to_all_state(self) -> bool:
        """Tell whether the deployment keeps no data."""
        keys = self.storage_key_arn and self.values_key_arn and self.root_key_arn
        return bool(keys and self.memory_stream_arn and self.archive_bucket)

    def to_settings(self) -> "Settings":
        """Convert the options to the construct's settings; equal names have equal values."""
        from infra.agent_memory_cdk import Settings  # noqa: PLC0415 - the CDK takes seconds to import

        shared = type(self).model_fields.keys() & {each.name for each in fields(Settings)}
        same = {name: getattr(self, name) for name in shared}
        converted: dict[str, Any] = {
            "name": self.stage,
            "retain": self.retains,
            "log_retention_days": int(self.log_retention_days),
            "traffic_shift": self.traffic_shift or ("canary" if self.retains else "all-at-once"),
            "cors_origins": tuple(_split(self.cors_origins)),
            "domain": self._domain(),
            "edge": self._edge(),
            "tokens": self._tokens(),
            "task_events": self._task_events(),
            "standby": self._standby(),
        }
        return Settings(**(same | converted))

    def _standby(self) -> "StandbyRegion | None":
        from infra.agent_memory_cdk import StandbyRegion  # noqa: PLC0415 - as above

        if self.standby_region is None or self.standby_storage_key_arn is None:
            return None
        return StandbyRegion(name=self.standby_region, storage_key_arn=self.standby_storage_key_arn)

    def _domain(self) -> "Domain | None":
        from infra.agent_memory_cdk import Domain  # noqa: PLC0415 - as above

        if not (
            self.domain_name
            and self.certificate_arn
            and self.hosted_zone_id
            and self.hosted_zone_name
        ):
            return None
        return Domain(
            name=self.domain_name,
            certificate_arn=self.certificate_arn,
            zone_id=self.hosted_zone_id,
            zone_name=self.hosted_zone_name,
            trust_store=self.trust_store,
        )

    def _edge(self) -> "EdgeSettings | None":
        from infra.agent_memory_cdk import EdgeSettings  # noqa: PLC0415 - as above

        if not (
            self.edge_domain_name and self.edge_certificate_arn and self.edge_client_certificate_arn
        ):
            return None
        return EdgeSettings(
            name=self.edge_domain_name,
            certificate_arn=self.edge_certificate_arn,
            client_certificate_arn=self.edge_client_certificate_arn,
            requests_per_key=self.edge_requests_per_key,
            requests_per_address=self.edge_requests_per_address,
        )

    def _tokens(self) -> "Tokens | None":
        from infra.agent_memory_cdk import Tokens  # noqa: PLC0415 - as above

        if self.jwt_issuer is None or self.jwt_audience is None:
            return None
        return Tokens(
            issuer=self.jwt_issuer,
            audience=_split(self.jwt_audience),
            tenant_claim=self.jwt_tenant_claim,
            principal_claim=self.jwt_principal_claim,
        )

    def _task_events(self) -> "TaskEventSource | None":
        from infra.agent_memory_cdk import TaskEventSource  # noqa: PLC0415 - as above

        if self.task_event_sources is None or self.task_event_principal is None:
            return None
        tenant, _, principal = self.task_event_principal.partition("/")
        return TaskEventSource(
            names=_split(self.task_event_sources),
            bus_arn=self.task_event_bus_arn,
            tenant=tenant,
            principal=principal,
        )


def _split(listed: str | None) -> list[str]:
    """Split a list at commas."""
    return [each.strip() for each in (listed or "").split(",") if each.strip()]
