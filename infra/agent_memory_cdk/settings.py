"""Define what a memory can choose, whichever app it is in."""

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
_LONGEST_NAME = 20  # characters: S3 takes 63, with account and Region
_LEARNING = re.compile(r"(bedrock|openai):[^,\s]+(,\1:[^,\s]+)*")
LOG_RETENTION_DAYS = (7, 30, 90, 365)

TrafficShift = Literal["canary", "linear", "all-at-once"]


class WrongChoice(ValueError):
    """A choice can't be made; the message says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain name, and what it takes to serve under it.

    Attributes:
        trust_store: where in S3 the certificates are that clients are checked against (mutual TLS),
            as in `s3://bucket/ca.pem`; without, no client needs a certificate.
    """

    name: str
    certificate_arn: str
    zone_id: str
    zone_name: str
    trust_store: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSettings:
    """CloudFront and a firewall before the API.

    Attributes:
        name: the domain name that callers use, in the hosted zone of the API's own domain.
        certificate_arn: the certificate for it, in us-east-1.
        client_certificate_arn: the certificate that CloudFront presents to the API, signed by the
            authority in the trust store of the API's domain.
        requests_per_key: how many requests of one key are let through in five minutes.
        requests_per_address: how many of one address, whatever they carry.
    """

    name: str
    certificate_arn: str
    client_certificate_arn: str
    requests_per_key: int = 30_000
    requests_per_address: int = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Whose tokens (JWT, by OIDC) are accepted beside keys, and which claims say who it is."""

    issuer: str
    audience: list[str]
    tenant_claim: str = "tenant"
    principal_claim: str = "sub"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEventSource:
    """Whose task events are taken, from which bus, and in whose name (tenant and principal)."""

    names: list[str]
    bus_arn: str | None
    tenant: str
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandbyRegion:
    """The Region that follows this one.

    Attributes:
        name: as in `eu-west-1`.
        storage_key_arn: the key there that encrypts the tables' replicas and the root key.
    """

    name: str
    storage_key_arn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The choices of one memory.

    Attributes:
        name: unique in an account and Region; operators' commands find the memory by it. It names
            the tables, so it can't be changed later. Words of small letters and digits with `-`
            between, each beginning with a letter.
        retain: whether tables, keys, bucket, root key and logs outlive the stack, and whether the
            tables have deletion protection.
        read_only: whether nothing is written: requests that may write are refused for now.
        snap_start: start the API function from a snapshot (SnapStart).
        vector_index: search by a vector index of DynamoDB, not tried on AWS; else exactly,
            in memory.
        embedding_model: embed by this model: `bedrock:ID`, or `openai:NAME` with `embedding_url`;
            else by the one in the package.
        embedding_dimensions: how many numbers its vectors have; 0: as many as the model gives.
        embedding_url: the OpenAI-compatible endpoint that embeds.
        embedding_key_arn: the secret in Secrets Manager with the endpoint's key, if it asks for
            one; encrypted as that of `learning_key_arn`.
        learning_model: the models that learn from conversations, with commas between, the default
            one first: `bedrock:ID`, or `openai:NAME` with `learning_url`. None: nothing is learned.
        learning_url: the OpenAI-compatible endpoint.
        learning_key_arn: the secret in Secrets Manager that holds the endpoint's key, if it asks
            for one. It is encrypted by AWS's key, or by the memory's storage key.
        learning_tokens_per_day, learning_requests_per_day: how much of each a tenant's strategies
            use on a day; 0 is no limit.
        throttle_rate, throttle_burst: requests that the API takes per second, and at once.
        stream_parallelism: how many invocations process a shard of the change stream at a time,
            1 to 10. A new table has four shards.
        stream_concurrency: how many invocations the stream function has at most, reserved for it.
            Lambda demands that 100 stay for all other functions of the account.
        max_write_units, max_read_units: how many units a second DynamoDB serves of each table that
            is made; without, only the account's quota limits what a month can cost.
        monthly_budget_usd, budget_email: an address that gets a mail when a month costs, or will
            cost, more. It needs the tag `memory` to be a cost allocation tag of the account.
        sweep_parts: how many invocations of the scheduled function share what is due.
        principal_requests_per_minute, tenant_requests_per_minute: how many requests one instance
            of the API function takes of each; 0 is no limit.
        log_retention_days: how long the logs of the functions are kept: 7, 30, 90 or 365.
        event_retention_days: how long events and audit records are kept; 0 is for good.
        request_log_sample: the share of successful requests that have a line in the log; all others
            have one. The access log, which can't be sampled, is there at 1 alone.
        tracing: whether functions record traces (X-Ray).
        contributor_insights: whether the tables that are made record their throttled keys.
        watch_table_writes: whether an alarm rises when another principal than the functions writes
            to the tables. A trail of CloudTrail records such writes.
        event_bus_types: the types of events that the bus carries, with commas between; `*` for all.
        traffic_shift: how a new version of the API function takes over: `canary` gives it a tenth
            of the requests for five minutes, `linear` a tenth more each minute. A raised alarm
            takes it back.
        backup_days: back both tables and the archive up each day, and keep each backup for as many
            days; no backups but point-in-time recovery unless given. The archive has versions then.
        backup_copy_vault_arn: a vault, as of another account, that gets a copy of each backup.
        cors_origins: whose pages may call the API from a browser, as in `https://app.example.com`.
        domain: a domain name of the API's own. The API's generated address is closed then.
        edge: CloudFront and a firewall before the API's own domain, which needs a trust store then.
        tokens: whose tokens a second API takes in the place of keys.
        task_events: whose task events are taken.
        standby: the Region to which tables and root key are replicated.
        active_region: the Region that writes, where this one follows it: requests that may write
            are refused here, and neither stream nor schedule does anything.

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
        """Return how many numbers of meaning a vector index has."""
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
        _check(is_openai == bool(self.embedding_url), "embedding_url and openai:NAME go together")
        is_sized = not (is_openai and self.vector_index) or bool(self.embedding_dimensions)
        _check(is_sized, "vector_index and openai:NAME need embedding_dimensions")

    def __post_init__(self) -> None:
        named = _NAME.fullmatch(self.name) and len(self.name) <= _LONGEST_NAME
        _check(bool(named), f"{self.name!r} is no name: use words as in team-a, at most 20 letters")
        self._check_embedding()
        learns = self.learning_model is None or _LEARNING.fullmatch(self.learning_model)
        _check(
            bool(learns), "learning_model must be bedrock:ID or openai:NAME; several of one kind"
        )
        is_openai = (self.learning_model or "").startswith("openai:")
        _check(is_openai == bool(self.learning_url), "learning_url and openai:NAME go together")
        kept = 0 <= self.event_retention_days <= MAX_LOG_RETENTION_DAYS
        _check(kept, f"event_retention_days is a number from 0 to {MAX_LOG_RETENTION_DAYS}")
        logged = self.log_retention_days in LOG_RETENTION_DAYS
        _check(logged, f"log_retention_days is one of {LOG_RETENTION_DAYS}")
        backed = self.backup_days is None or self.backup_days >= 1
        _check(backed, "backup_days is a number from 1")
        copied = self.backup_copy_vault_arn is None or self.backup_days is not None
        _check(copied, "backup_copy_vault_arn needs backup_days: there is nothing to copy")
        for origin in self.cors_origins:
            _check("://" in origin and "*" not in origin, f"{origin} is no origin: name one whole")
        closed = self.edge is None or (self.domain is not None and self.domain.trust_store)
        _check(bool(closed), "edge needs a domain with a trust_store, else it is walked around")

    def to_logical_id(self, resource: str) -> str:
        """Render the pinned logical id of a resource, as in `TeamAMemoryTable`.

        It depends on nothing but the name, so that a memory that is moved within an app keeps its
        data. No two names have one prefix, since each word of a name begins with a letter.
        """
        return "".join(word.capitalize() for word in self.name.split("-")) + resource


def _check(right: bool, problem: str) -> None:
    if not right:
        raise WrongChoice(problem)
