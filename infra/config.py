"""What a deployment can choose, by CDK context (`-c name=value`, or `cdk.json`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from functions.event_log.event_bus import parse_event_types
from functions.platform.limits import (
    DEFAULT_PRINCIPAL_REQUESTS,
    DEFAULT_TENANT_REQUESTS,
    MAX_LOG_RETENTION_DAYS,
    MAX_SWEEP_PARTS,
)
from functions.platform.settings import DEFAULT_EVENT_BUS_TYPES, WrongSetting

_CDKS_OWN = (":", "/")  # in the names of CDK's own context: aws:cdk:…, @aws-cdk/…, acknowledged/…


class ConfigError(Exception):
    """The context is wrong; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain name, and what it takes to serve under it."""

    name: str
    certificate_arn: str
    zone_id: str
    zone_name: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """Whose tokens (JWT, by OIDC) are accepted beside keys, and which claims say who it is."""

    issuer: str
    audience: list[str]
    tenant_claim: str
    principal_claim: str


@dataclass(frozen=True, slots=True)
class TaskEventSource:
    """Whose task events are taken, from which bus, and in whose name (tenant and principal)."""

    names: list[str]
    bus_arn: str | None
    tenant: str
    principal: str


class Config(BaseModel):
    """The choices of one deployment.

    Attributes:
        stage: names the stack; `prod` keeps its data when the stack is destroyed.
        retain: whether tables, keys and the root key outlive the stack; by default `prod` does.
        runtime: Lambda's Python.
        architecture: Lambda's processor.
        boto3: `bundled` ships the version that is tested; `runtime` takes Lambda's own.
        snap_start: start the API function from a snapshot (SnapStart).
        vector_index: search by a vector index of DynamoDB's; else exactly, in memory.
        embedding_model: embed by this model of Amazon Bedrock; else by the one in the package.
        throttle_rate: requests per second that the API takes.
        throttle_burst: requests at once that the API takes.
        sweep_parts: how many invocations of the scheduled function share what is due.
        principal_requests_per_minute, tenant_requests_per_minute: how many requests one instance
            of the API function takes of each; 0 is no limit.
        log_retention_days: how long the logs of the functions are kept.
        event_retention_days: how long events and audit records are kept; 0 is for good.
        request_log_sample: the share of successful requests that have a line in the log; all others
            have one. The access log, which can't be sampled, is there at 1 alone.
        tracing: whether functions record traces (X-Ray).
        event_bus_types: the types of events that the bus carries (several with commas between); `*`
            for all.
        alarm_topic_arn: the SNS topic that alarms go to.
        domain_name: a domain name of the API's own, with its certificate and its hosted zone.
        jwt_issuer: whose tokens a second API takes in the place of keys, with their audience
            (several with commas between) and the claims that hold tenant and principal.
        task_event_sources: whose task events an EventBridge rule takes (several with commas
            between), from the account's default bus or the one of `task_event_bus_arn`.
        task_event_principal: in whose name: `tenant/principal`, a coordinator or user.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: str = Field(default="dev", pattern=r"^[a-z][a-z0-9-]{0,30}$")
    retain: bool | None = None
    runtime: Literal["python3.11", "python3.12", "python3.13", "python3.14"] = "python3.13"
    architecture: Literal["arm64", "x86_64"] = "arm64"
    boto3: Literal["bundled", "runtime"] = "bundled"
    snap_start: bool = False
    vector_index: bool = True
    embedding_model: str | None = Field(
        default=None, pattern=r"^bedrock:amazon\.titan-embed-text-v2:\d+$"
    )
    throttle_rate: int = Field(default=500, ge=1)
    throttle_burst: int = Field(default=1000, ge=1)
    sweep_parts: int = Field(default=1, ge=1, le=MAX_SWEEP_PARTS)
    principal_requests_per_minute: int = Field(default=DEFAULT_PRINCIPAL_REQUESTS, ge=0)
    tenant_requests_per_minute: int = Field(default=DEFAULT_TENANT_REQUESTS, ge=0)
    log_retention_days: Literal["7", "30", "90", "365"] = "30"
    event_retention_days: int = Field(default=365, ge=0, le=MAX_LOG_RETENTION_DAYS)
    request_log_sample: float = Field(default=0.05, ge=0, le=1)
    tracing: bool = False
    event_bus_types: str = DEFAULT_EVENT_BUS_TYPES
    alarm_topic_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:sns:\S+$")
    domain_name: str | None = None
    certificate_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:acm:\S+$")
    hosted_zone_id: str | None = None
    hosted_zone_name: str | None = None
    jwt_issuer: str | None = Field(default=None, pattern=r"^https://\S+$")
    jwt_audience: str | None = None
    jwt_tenant_claim: str = Field(default="tenant", min_length=1)
    jwt_principal_claim: str = Field(default="sub", min_length=1)
    task_event_sources: str | None = None
    task_event_bus_arn: str | None = Field(default=None, pattern=r"^arn:[a-z-]+:events:\S+$")
    task_event_principal: str | None = Field(default=None, pattern=r"^[^/]+/.+$")

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> Self:
        """Reads the context.

        Raises:
            ConfigError: a name isn't known, or a value is wrong.
        """
        given = {
            name: value
            for name, value in context.items()
            if not any(sign in name for sign in _CDKS_OWN)
        }
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            problems = [
                f"-c {'.'.join(map(str, each['loc'])) or 'context'}: {each['msg']}"
                for each in error.errors(include_url=False)
            ]
            raise ConfigError("; ".join(problems)) from error

    @model_validator(mode="after")
    def _whole(self) -> Self:
        domain = [
            self.domain_name,
            self.certificate_arn,
            self.hosted_zone_id,
            self.hosted_zone_name,
        ]
        if None in domain and any(domain):
            raise ValueError(
                "domain_name, certificate_arn, hosted_zone_id and hosted_zone_name go together"
            )
        if (self.jwt_issuer is None) != (self.jwt_audience is None):
            raise ValueError("jwt_issuer and jwt_audience go together")
        if (self.task_event_sources is None) != (self.task_event_principal is None):
            raise ValueError("task_event_sources and task_event_principal go together")
        try:
            parse_event_types(self.event_bus_types)
        except WrongSetting as error:
            raise ValueError(f"event_bus_types: {error}") from error
        if self.vector_index and self.boto3 == "runtime":
            raise ValueError(
                "vector_index needs boto3 bundled, since Lambda's own may not know it: "
                "add -c vector_index=false"
            )
        if self.snap_start and self.runtime == "python3.11":
            raise ValueError("snap_start needs runtime python3.12 or newer")
        return self

    @property
    def retains(self) -> bool:
        """Whether data outlives the stack."""
        return self.stage == "prod" if self.retain is None else self.retain

    @property
    def domain(self) -> Domain | None:
        """The API's own domain name, if it has one."""
        if not (
            self.domain_name
            and self.certificate_arn
            and self.hosted_zone_id
            and self.hosted_zone_name
        ):
            return None
        return Domain(
            self.domain_name, self.certificate_arn, self.hosted_zone_id, self.hosted_zone_name
        )

    @property
    def tokens(self) -> Tokens | None:
        """Whose tokens are accepted, if any are."""
        if self.jwt_issuer is None or self.jwt_audience is None:
            return None
        audience = [each.strip() for each in self.jwt_audience.split(",")]
        return Tokens(self.jwt_issuer, audience, self.jwt_tenant_claim, self.jwt_principal_claim)

    @property
    def task_events(self) -> TaskEventSource | None:
        """Whose task events are taken, if any are."""
        if self.task_event_sources is None or self.task_event_principal is None:
            return None
        names = [each.strip() for each in self.task_event_sources.split(",")]
        tenant, _, principal = self.task_event_principal.partition("/")
        return TaskEventSource(names, self.task_event_bus_arn, tenant, principal)
