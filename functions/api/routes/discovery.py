"""Discovery, health, the OpenAPI document and the API reference (contract §6)."""

from functools import cache

from functions.api.capabilities import CAPABILITIES, OPENINTENT, OPENWOP
from functions.api.http import Request, Response, json_response
from functions.api.routing import PUBLIC, Route
from functions.identity.model import Principal


def get_health(_request: Request, _caller: Principal) -> Response:
    return json_response(200, {"status": "ok"})


def get_openintent_discovery(_request: Request, _caller: Principal) -> Response:
    return json_response(200, OPENINTENT)


def get_openwop_discovery(request: Request, _caller: Principal) -> Response:
    return json_response(200, OPENWOP[request.services.settings.openwop])


def get_capabilities(_request: Request, _caller: Principal) -> Response:
    return json_response(200, CAPABILITIES)


def get_openapi_document(_request: Request, _caller: Principal) -> Response:
    return _document()


def get_docs(_request: Request, _caller: Principal) -> Response:
    return _page()


@cache
def _document() -> Response:
    from functions.api.openapi import describe  # noqa: PLC0415 - describes the routes of here
    from functions.api.routes import ROUTES as ALL  # noqa: PLC0415

    return json_response(200, describe(ALL))


@cache
def _page() -> Response:
    from functions.api.docs_page import render  # noqa: PLC0415 - as above
    from functions.api.docs_style import HEADERS  # noqa: PLC0415
    from functions.api.openapi import describe  # noqa: PLC0415
    from functions.api.routes import ROUTES as ALL  # noqa: PLC0415

    return Response(200, render(describe(ALL)).encode(), HEADERS)


ROUTES = [
    Route("GET", "/health", get_health, PUBLIC, "Whether the service answers", {200: "Health"}),
    Route(
        "GET",
        "/.well-known/openintent.json",
        get_openintent_discovery,
        PUBLIC,
        "What of the OpenIntent protocol is spoken here",
        {200: "OpenIntent"},
    ),
    Route(
        "GET",
        "/.well-known/openwop",
        get_openwop_discovery,
        PUBLIC,
        "What of the OpenWOP protocol is spoken here",
        {200: "OpenWop"},
    ),
    Route(
        "GET",
        "/api/v1/capabilities",
        get_capabilities,
        PUBLIC,
        "Tiers, limits, capacities and extensions",
        {200: "Capabilities"},
    ),
    Route("GET", "/openapi.json", get_openapi_document, PUBLIC, "This document", {200: "OpenApi"}),
    Route("GET", "/docs", get_docs, PUBLIC, "This document, as a page", {200: "Html"}),
]
