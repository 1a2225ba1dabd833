"""Usage of tenants."""

from functions.api.http import Request, Response, json_response
from functions.api.parameters import TextParameter
from functions.api.responses.usage import UsageDocument, render_usage
from functions.api.routing import ADMIN_OR_ROOT, RouteTable
from functions.identity.model import Principal

ROUTES = RouteTable()


def _build_parameter(name: str, description: str) -> TextParameter:
    pattern, expected = r"\d{4}-\d\d-\d\d([Tt].*)?", "takes a day, as 2026-11-24"
    return TextParameter(name, description, pattern=pattern, expected=expected)


_FROM = _build_parameter("from", "The first day, in UTC; by default 30 days before `to`.")
_TO = _build_parameter("to", "The last day, in UTC; by default today.")


@ROUTES.add("GET /api/v1/usage", ADMIN_OR_ROOT, {200: UsageDocument}, query=(_FROM, _TO))
def report_usage(request: Request, caller: Principal) -> Response:
    """Report the daily usage of a tenant.

    With the root key, of all tenants. Items and bytes are exact within a minute after the last
    write; requests and units are those of requests that were answered.
    """
    reported = request.services.usage_reports.report(caller, _FROM.read(request), _TO.read(request))
    return json_response(200, UsageDocument(tenants=list(map(render_usage, reported))))
