"""Discovery, health, the OpenAPI document and the API reference."""

from dataclasses import replace

from functions.api.capabilities import OPENINTENT, OPENWOP, describe_capabilities
from functions.api.http import Request, Response, json_response
from functions.api.parameters import BooleanParameter
from functions.api.routing import PUBLIC, Example, Route
from functions.api.static_files import read_docs_file, read_openapi_document
from functions.identity.model import Principal
from functions.vectors.factory import can_embed

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
    "`true` reads the table, too, for a health check that decides where requests go. It is 5xx"
    " where that fails; `writes` says whether this Region takes writes.",
)
_CAPABILITIES = [
    describe_capabilities(can_embed=each, log_retention_days=365) for each in (True, False)
]


def get_root(request: Request, _caller: Principal) -> Response:
    headers = {"vary": "accept", "cache-control": "no-cache"}
    if "text/html" in request.headers.get("accept", ""):
        return Response(302, headers=headers | {"location": "/console"})
    found = json_response(200, _ROOT)
    return replace(found, headers=found.headers | headers)


def get_health(request: Request, _caller: Principal) -> Response:
    if not _DEEP.read(request):
        return json_response(200, _HEALTH)
    request.services.deployment_secret.check_version()
    writes = not request.services.settings.is_read_only
    return json_response(200, _DEEP_HEALTH | {"writes": writes})


def get_openintent_discovery(_request: Request, _caller: Principal) -> Response:
    return json_response(200, OPENINTENT)


def get_openwop_discovery(_request: Request, _caller: Principal) -> Response:
    found = json_response(200, OPENWOP)
    return replace(found, headers=found.headers | {"cache-control": "public, max-age=300"})


def get_capabilities(request: Request, _caller: Principal) -> Response:
    settings = request.services.settings
    found = describe_capabilities(
        can_embed=can_embed(settings), log_retention_days=settings.log_retention_days
    )
    return json_response(200, found)


def get_openapi_document(_request: Request, _caller: Principal) -> Response:
    return read_openapi_document()


def get_docs(request: Request, _caller: Principal) -> Response:
    return read_docs_file(request, "index.html")


def get_docs_file(request: Request, _caller: Principal) -> Response:
    return read_docs_file(request, request.path_params["file"])


ROUTES = [
    Route(
        "GET /",
        get_root,
        PUBLIC,
        "Where things are",
        {200: Example("Root", _ROOT), 302: None},
        description="A browser, which accepts `text/html`, is sent to the console.",
    ),
    Route(
        "GET /health",
        get_health,
        PUBLIC,
        "Whether the service answers",
        {200: Example("Health", _HEALTH, _DEEP_HEALTH)},
        query=(_DEEP,),
    ),
    Route(
        "GET /.well-known/openintent.json",
        get_openintent_discovery,
        PUBLIC,
        "What of the OpenIntent protocol is spoken here",
        {200: Example("OpenIntent", OPENINTENT)},
    ),
    Route(
        "GET /.well-known/openwop",
        get_openwop_discovery,
        PUBLIC,
        "What of the OpenWOP protocol is spoken here",
        {200: Example("OpenWop", OPENWOP)},
    ),
    Route(
        "GET /api/v1/capabilities",
        get_capabilities,
        PUBLIC,
        "Tiers, limits, capacities and extensions",
        {200: Example("Capabilities", *_CAPABILITIES)},
        description="Of this installation: without an embedding model facts are learned and not "
        "recalled, and there is no search.",
    ),
    Route("GET /openapi.json", get_openapi_document, PUBLIC, "This document", {200: dict}),
    Route("GET /docs", get_docs, PUBLIC, "This document, as a page", {200: str}),
    Route(
        "GET /docs/{file}",
        get_docs_file,
        PUBLIC,
        "A file of the page",
        {200: str},
        is_documented=False,
    ),
]
