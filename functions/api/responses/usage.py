"""Usage, as the API shows it."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.usage.model import TenantLimits, TenantUsage

Amount = Annotated[float, Field(ge=0)]


class DayUsageDocument(TypedDict):
    """A tenant's usage of a day, and what was stored at the end of the day, or now."""

    day: str
    """In UTC, as `2026-11-24`."""
    requests: dict[str, int]
    """The number of requests, by operation."""
    items: dict[str, int]
    """The number of stored things, by kind."""
    bytes: dict[str, int]
    """The bytes of their contents, by kind."""
    read_units: Amount
    """Read units of the requests."""
    write_units: Amount
    """Write units of the requests."""
    cost_usd: Amount
    """An estimate by list prices."""


class LimitsDocument(TypedDict):
    """The limits of a tenant; null is no limit."""

    items: int | None
    bytes: int | None
    requests_per_second: int | None
    deletions_per_day: int | None
    model_tokens_per_day: int | None


class TenantDocument(TypedDict):
    """A tenant and its limits."""

    id: str
    limits: LimitsDocument


class TenantUsageDocument(TypedDict):
    """The days of a tenant, the oldest first."""

    tenant: str
    limits: LimitsDocument
    days: list[DayUsageDocument]


class UsageDocument(TypedDict):
    """Usage by tenant: the caller's, or of all tenants for the root key."""

    tenants: list[TenantUsageDocument]


def render_limits(limits: TenantLimits) -> LimitsDocument:
    return to_document(limits, LimitsDocument)


def render_usage(used: TenantUsage) -> TenantUsageDocument:
    """Render what a tenant uses, with its limits."""
    documents = [
        to_document(
            each,
            DayUsageDocument,
            requests=dict(sorted(each.requests.items())),
            items=dict(sorted(each.items.items())),
            bytes=dict(sorted(each.bytes.items())),
        )
        for each in used.days
    ]
    limits = render_limits(used.limits)
    return TenantUsageDocument(tenant=used.tenant, limits=limits, days=documents)
