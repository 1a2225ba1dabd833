"""Discovery, health, the OpenAPI document and the API reference."""

from dataclasses import replace

from functions.api.capabilities import OPENINTENT, describe_capabilities, describe_openwop
from functions.api.http import Request, Response, json_response
from functions.api.parameters import BooleanParameter
from functions.api.routing import PUBLIC, Example, RouteTable
from functions.api.static_files import read_docs_file, read_openapi_document
from functions.identity.model import Principal
from functions.vectors.factory import can_embed

ROUTES = RouteTable()
_ROOT = {
    "service": "agent-memory",
    "api": "/api/v1",
    "console": "/console",
    "docs": "/docs",
    "openapi": "/openapi.json",
    "capabilities": "/api/v1/capabilities",
    "openintent": "/.well-known/openintent.json",
    "openwop": "/.well-known/openwop",
    "health": "/health",
}
_HEALTH = {"status": "ok"}
_DEEP_HEALTH = {"status": "ok", "writes": True}
_DEEP = BooleanParameter(
    "deep",
    "`true` also reads the table, for health checks that route requests. If the read fails, the "
    "status is 5xx. `writes` tells whether this Region accepts writes.",
)
_CAPABILITIES = [
    describe_capabilities(can_embed=each, log_retention_days=365) for each in (True, False)
]
_OPENWOP = [describe_openwop(can_embed=each) for each in (True, False)]


@ROUTES.add("GET /", PUBLIC, {200: Example("Root", _ROOT), 302: None})
def get_root(request: Request, _caller: Principal) -> Response:
    """Return the addresses of the service's parts.

    A request that accepts `text/html` is redirected to the console.
    """
    headers = {"vary": "accept", "cache-control": "no-cache"}
    if "text/html" in request.headers.get("accept", ""):
        return Response(302, headers=headers | {"location": "/console"})
    found = json_response(200, _ROOT)
    return replace(found, headers=found.headers | headers)


@ROUTES.add("GET /health", PUBLIC, {200: Example("Health", _HEALTH, _DEEP_HEALTH)}, query=(_DEEP,))
def get_health(request: Request, _caller: Principal) -> Response:
    """Check that the service responds."""
    if not _DEEP.read(request):
        return json_response(200, _HEALTH)
    request.services.deployment_secret.check_version()
    writes = not request.services.settings.is_read_only
    return json_response(200, _DEEP_HEALTH | {"writes": writes})


@ROUTES.add("GET /.well-known/openintent.json", PUBLIC, {200: Example("OpenIntent", OPENINTENT)})
def get_openintent_discovery(_request: Request, _caller: Principal) -> Response:
    """Get the supported parts of the OpenIntent protocol."""
    return json_response(200, OPENINTENT)


@ROUTES.add("GET /.well-known/openwop", PUBLIC, {200: Example("OpenWop", *_OPENWOP)})
def get_openwop_discovery(request: Request, _caller: Principal) -> Response:
    """Get the supported parts of the OpenWOP protocol."""
    found = json_response(200, describe_openwop(can_embed=can_embed(request.services.settings)))
    return replace(found, headers=found.headers | {"cache-control": "public, max-age=300"})


@ROUTES.add("GET /api/v1/capabilities", PUBLIC, {200: Example("Capabilities", *_CAPABILITIES)})
def get_capabilities(request: Request, _caller: Principal) -> Response:
    """Get tiers, limits, capacities and extensions.

    Describes this installation. Without an embedding model, facts are stored but not recalled, and
    there is no search.
    """
    settings = request.services.settings
    found = describe_capabilities(
        can_embed=can_embed(settings), log_retention_days=settings.log_retention_days
    )
    return json_response(200, found)


@ROUTES.add("GET /openapi.json", PUBLIC, {200: dict})
def get_openapi_document(_request: Request, _caller: Principal) -> Response:
    """Get this document."""
    return read_openapi_document()


@ROUTES.add("GET /docs", PUBLIC, {200: str})
def get_docs(request: Request, _caller: Principal) -> Response:
    """Get this document as a page."""
    return read_docs_file(request, "index.html")


@ROUTES.add("GET /docs/{file}", PUBLIC, {200: str}, is_documented=False)
def get_docs_file(request: Request, _caller: Principal) -> Response:
    """Get a file of the page."""
    return read_docs_file(request, request.path_params["file"])
