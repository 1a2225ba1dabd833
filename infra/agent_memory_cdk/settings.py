"""The settings of a memory, for any app."""

import re
from dataclasses import dataclass
from typing import Literal

from functions.platform.embedding_models import INDEXED_DIMENSIONS, parse_embedding_model
from functions.platform.limits import (
    DEFAULT_MODEL_REQUESTS,
    DEFAULT_MODEL_TOKENS,
    DEFAULT_PRINCIPAL_REQUESTS,
    DEFAULT_TENANT_REQUESTS,
    MAX_LOG_RETENTION_DAYS,
)
from functions.platform.settings import DEFAULT_EVENT_BUS_TYPES

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*")
_LONGEST_NAME = 20  # characters: S3 allows 63, with account and Region
_LEARNING = re.compile(r"(bedrock|openai):[^,\s]+(,\1:[^,\s]+)*")
LOG_RETENTION_DAYS = (7, 30, 90, 365)

TrafficShift = Literal["canary", "linear", "all-at-once"]


class WrongChoice(ValueError):
    """A setting is invalid; the message has the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A custom domain name.

    Attributes:
        trust_store: the certificates in S3 that clients are verified by (mutual TLS), such as
            `s3://bucket/ca.pem`; None: clients need no certificate.
    """

    name: str
    certificate_arn: str
    zone_id: str
    zone_name: str
    trust_store: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSettings:
    """CloudFront and a firewall in front of the API.

    Attributes:
        name: the domain name for callers, in the hosted zone of the API's domain.
        certificate_arn: its certificate, in us-east-1.
        client_certificate_arn: the certificate that CloudFront presents to the API, signed by the
            authority in the trust store of the API's domain.
        requests_per_key: the limit of one key's requests in five minutes.
        requests_per_address: the limit of one address's requests.
    """

    name: str
    certificate_arn: str
    client_certificate_arn: str
    requests_per_key: int = 30_000
    requests_per_address: int = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The issuer whose tokens (JWT, by OIDC) are accepted besides keys, and the claims to use."""

    issuer: str
    audience: list[str]
    tenant_claim: str = "tenant"
    principal_claim: str = "sub"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEventSource:
    """The sources of task events, their bus, and the principal that applies them."""

    names: list[str]
    bus_arn: str | None
    tenant: str
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandbyRegion:
    """The Region that follows this one.

    Attributes:
        name: as in `eu-west-1`.
        storage_key_arn: its key for the tables' replicas and the root key.
    """

    name: str
    storage_key_arn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one memory.

    Attributes:
        name: unique in an account and Region; operators' commands find the memory by it. It names
            the tables, so it can't be changed later. Words of lowercase letters and digits,
            separated by `-`; each begins with a letter.
        retain: whether tables, keys, bucket, root key and logs are kept when the stack is deleted,
            and whether the tables have deletion protection.
        read_only: whether writes are stopped: requests that may write are rejected.
        snap_start: start the API function from a snapshot (SnapStart).
        vector_index: search by a vector index of DynamoDB, not tried on AWS; else exactly, in
            memory.
        embedding_model: `bedrock:ID`, or `openai:NAME` with `embedding_url`; by default, the
            packaged model.
        embedding_dimensions: of its vectors; 0 for the model's default.
        embedding_url: the OpenAI-compatible endpoint that embeds.
        embedding_key_arn: the secret in Secrets Manager with the endpoint's key, if it needs one;
            encrypted as `learning_key_arn`.
        learning_model: the models that learn from conversations, separated by commas, the default
            one first: `bedrock:ID`, or `openai:NAME` with `learning_url`. None: nothing is learned.
        learning_url: the OpenAI-compatible endpoint.
        learning_key_arn: the secret in Secrets Manager with the endpoint's key, if it needs one. It
            is encrypted by AWS's key, or by the memory's storage key.
        learning_tokens_per_day, learning_requests_per_day: the daily limits of a tenant's
            strategies; 0 is no limit.
        throttle_rate, throttle_burst: the API's limits of requests per second, and at once.
        stream_parallelism: the number of invocations for a shard of the change stream, 1 to 10. A
            new table has four shards.
        stream_concurrency: the maximum of invocations of the stream function, which are reserved.
            Lambda requires that 100 remain for the account's other functions.
        max_write_units, max_read_units: the maximum of units a second for each new table; without
            it, only the account's quota limits the cost of a month.
        monthly_budget_usd, budget_email: the address gets a mail if a month costs, or will cost,
            more. The tag `memory` must be a cost allocation tag of the account.
        sweep_parts: the number of invocations of the scheduled function that share the due items.
        principal_requests_per_minute, tenant_requests_per_minute: the limits of one instance of the
            API function; 0 is no limit.
        log_retention_days: how long the logs of the functions are kept: 7, 30, 90 or 365.
        event_retention_days: how long events and audit records are kept; 0 is forever.
        request_log_sample: the share of successful requests that are logged; all other requests are
            logged. The access log, which can't be sampled, only exists at 1.
        tracing: whether functions record traces (X-Ray).
        contributor_insights: whether new tables record their throttled keys.
        watch_table_writes: whether an alarm is raised when another principal than the functions
            writes to the tables. A trail of CloudTrail records such writes.
        event_bus_types: the types of events that the bus carries, separated by commas; `*` for all.
        traffic_shift: how requests move to a new version of the API function: `canary` gives it a
            tenth of them for five minutes, `linear` a tenth more each minute. A raised alarm rolls
            it back.
        backup_days: back up both tables and the archive daily, and keep each backup for as many
            days; by default, only point-in-time recovery. With backups, the archive has versions.
        backup_copy_vault_arn: a vault, such as another account's, for a copy of each backup.
        cors_origins: the origins whose pages may call the API, such as `https://app.example.com`.
        domain: a custom domain name; the API's generated address is then closed.
        edge: CloudFront and a firewall in front of the custom domain, which needs a trust store.
        tokens: the issuer whose tokens a second API accepts instead of keys.
        task_events: the sources of task events.
        standby: the Region to which tables and root key are replicated.
        active_region: the Region that writes, if this one is a standby. Here, requests that may
            write are rejected, and stream and schedule do nothing.

    Raises:
        WrongChoice: the name, a model, the retention or an origin is malformed.
    """

    name: str
    retain: bool = True
    read_only: bool = False
    snap_start: bool = False
    vector_index: bool = False
    embedding_model: str | None = None
    embedding_dimensions: int = 0
    embedding_url: str | None = None
    embedding_key_arn: str | None = None
    learning_model: str | None = None
    learning_url: str | None = None
    learning_key_arn: str | None = None
    learning_tokens_per_day: int = DEFAULT_MODEL_TOKENS
    learning_requests_per_day: int = DEFAULT_MODEL_REQUESTS
    throttle_rate: int = 500
    throttle_burst: int = 1000
    max_write_units: int | None = None
    max_read_units: int | None = None
    monthly_budget_usd: int | None = None
    budget_email: str | None = None
    sweep_parts: int = 1
    stream_parallelism: int = (
        8  # a shard changes up to 1,000 items a second, each takes 130 or more
    )
    stream_concurrency: int | None = None
    principal_requests_per_minute: int = DEFAULT_PRINCIPAL_REQUESTS
    tenant_requests_per_minute: int = DEFAULT_TENANT_REQUESTS
    log_retention_days: int = 30
    event_retention_days: int = 365
    request_log_sample: float = 0.05
    tracing: bool = False
    contributor_insights: bool = False
    watch_table_writes: bool = False
    event_bus_types: str = DEFAULT_EVENT_BUS_TYPES
    traffic_shift: TrafficShift = "canary"
    backup_days: int | None = None
    backup_copy_vault_arn: str | None = None
    cors_origins: tuple[str, ...] = ()
    domain: Domain | None = None
    edge: EdgeSettings | None = None
    tokens: Tokens | None = None
    task_events: TaskEventSource | None = None
    standby: StandbyRegion | None = None
    active_region: str | None = None

    @property
    def indexed_dimensions(self) -> int:
        """Return the dimensions of a vector index, without added numbers."""
        if self.embedding_model is None:
            return INDEXED_DIMENSIONS
        chosen = parse_embedding_model(self.embedding_model, self.embedding_dimensions)
        return chosen.dimensions or INDEXED_DIMENSIONS

    def _check_embedding(self) -> None:
        try:
            model = self.embedding_model and parse_embedding_model(
                self.embedding_model, self.embedding_dimensions
            )
        except ValueError as error:
            raise WrongChoice(f"embedding_model {error}") from None
        is_openai = bool(model) and (self.embedding_model or "").startswith("openai:")
        _check(
            is_openai == bool(self.embedding_url),
            "set embedding_url exactly if embedding_model is openai:NAME",
        )
        is_sized = not (is_openai and self.vector_index) or bool(self.embedding_dimensions)
        _check(is_sized, "set embedding_dimensions for openai:NAME with vector_index")

    def __post_init__(self) -> None:
        named = _NAME.fullmatch(self.name) and len(self.name) <= _LONGEST_NAME
        _check(
            bool(named),
            "name must be words as in team-a, of at most "
            f"{_LONGEST_NAME} characters, not {self.name!r}",
        )
        self._check_embedding()
        learns = self.learning_model is None or _LEARNING.fullmatch(self.learning_model)
        _check(
            bool(learns), "learning_model must be bedrock:ID or openai:NAME, or several of one kind"
        )
        is_openai = (self.learning_model or "").startswith("openai:")
        _check(
            is_openai == bool(self.learning_url),
            "set learning_url exactly if learning_model is openai:NAME",
        )
        kept = 0 <= self.event_retention_days <= MAX_LOG_RETENTION_DAYS
        _check(kept, f"event_retention_days must be 0 to {MAX_LOG_RETENTION_DAYS}")
        logged = self.log_retention_days in LOG_RETENTION_DAYS
        _check(logged, f"log_retention_days must be one of {LOG_RETENTION_DAYS}")
        backed = self.backup_days is None or self.backup_days >= 1
        _check(backed, "backup_days must be 1 or more")
        copied = self.backup_copy_vault_arn is None or self.backup_days is not None
        _check(copied, "backup_copy_vault_arn needs backup_days")
        for origin in self.cors_origins:
            _check(
                "://" in origin and "*" not in origin,
                f"cors_origins must be complete, such as https://app.example.com, not {origin}",
            )
        closed = self.edge is None or (self.domain is not None and self.domain.trust_store)
        _check(bool(closed), "edge needs a domain with a trust_store, or clients could bypass it")

    def to_logical_id(self, resource: str) -> str:
        """Render the pinned logical id of a resource, as in `TeamAMemoryTable`.

        It depends only on the name, so that a memory that is moved within an app keeps its data.
        Different names have different prefixes, since each word of a name begins with a letter.
        """
        return "".join(word.capitalize() for word in self.name.split("-")) + resource


def _check(right: bool, problem: str) -> None:
    if not right:
        raise WrongChoice(problem)
