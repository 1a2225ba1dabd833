"""Usage of tenants."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import to_document
from functions.api.http import Request, Response, json_response
from functions.api.parameters import TextParameter
from functions.api.routing import ADMIN_OR_ROOT, RouteTable
from functions.identity.model import Principal
from functions.usage.model import TenantLimits, TenantUsage

Amount = Annotated[float, Field(ge=0)]


class DayUsageDocument(TypedDict):
    """A tenant's usage on a day, and its stored amounts at the end of the day, or now."""

    day: str
    """The day in UTC, such as `2026-11-24`."""
    requests: dict[str, int]
    """The number of requests, by operation."""
    items: dict[str, int]
    """The number of stored items, by kind."""
    bytes: dict[str, int]
    """The bytes of their contents, by kind."""
    read_units: Amount
    """Read units of the requests."""
    write_units: Amount
    """Write units of the requests."""
    cost_usd: Amount
    """An estimate by list prices."""


class TenantLimitsDocument(TypedDict):
    """The limits of a tenant; null is no limit."""

    items: int | None
    bytes: int | None
    requests_per_second: int | None
    deletions_per_day: int | None
    model_tokens_per_day: int | None


class TenantDocument(TypedDict):
    """A tenant and its limits."""

    id: str
    limits: TenantLimitsDocument


class TenantUsageDocument(TypedDict):
    """The days of a tenant, oldest first."""

    tenant: str
    limits: TenantLimitsDocument
    days: list[DayUsageDocument]


class UsageDocument(TypedDict):
    """Usage by tenant: the caller's, or of all tenants for the root key."""

    tenants: list[TenantUsageDocument]


def render_limits(limits: TenantLimits) -> TenantLimitsDocument:
    return to_document(limits, TenantLimitsDocument)


def render_usage(used: TenantUsage) -> TenantUsageDocument:
    """Render a tenant's usage, with its limits."""
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


ROUTES = RouteTable()


def _build_parameter(name: str, description: str) -> TextParameter:
    pattern, expected = r"\d{4}-\d\d-\d\d([Tt].*)?", "must be a day, such as 2026-11-24"
    return TextParameter(name, description, pattern=pattern, expected=expected)


_FROM = _build_parameter("from", "The first day, in UTC; by default 30 days before `to`.")

_TO = _build_parameter("to", "The last day, in UTC; by default today.")


@ROUTES.add("GET /api/v1/usage", ADMIN_OR_ROOT, {200: UsageDocument}, query=(_FROM, _TO))
def report_usage(request: Request, caller: Principal) -> Response:
    """Report the daily usage of a tenant.

    With the root key, of all tenants. Items and bytes are exact a minute after the last write;
    requests and units count answered requests.
    """
    reported = request.services.usage_reports.report(caller, _FROM.read(request), _TO.read(request))
    return json_response(200, UsageDocument(tenants=list(map(render_usage, reported))))
