"""What needs no key: discovery, the OpenAPI document, its page, health (contract §6)."""

from collections.abc import Callable
from functools import cache

from functions.api.call import Answer, Call, json_answer
from functions.api.capabilities import CAPABILITIES, OPENINTENT, OPENWOP
from functions.api.route import PUBLIC, Route
from functions.identity.model import Principal


def health(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, {"status": "ok"})


def openintent(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, OPENINTENT)


def openwop(call: Call, _caller: Principal) -> Answer:
    return json_answer(200, OPENWOP[call.services.openwop])


def capabilities(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, CAPABILITIES)


def with_discovery(routes: list[Route]) -> list[Route]:
    """The routes, and those that describe them."""
    every = [*routes, *_FIXED]
    document, page = _made_once(every)

    def openapi(_call: Call, _caller: Principal) -> Answer:
        return document()

    def docs(_call: Call, _caller: Principal) -> Answer:
        return page()

    every += [
        Route("GET", "/openapi.json", openapi, PUBLIC, "This document", {200: "OpenApi"}),
        Route("GET", "/docs", docs, PUBLIC, "This document, as a page", {200: "Html"}),
    ]
    return every


def _made_once(routes: list[Route]) -> tuple[Callable[[], Answer], Callable[[], Answer]]:
    """The OpenAPI document and its page, made when they are first asked for.

    What makes them is imported no earlier, so that no cold start waits for it.
    """

    @cache
    def document() -> Answer:
        from functions.api.openapi import describe  # noqa: PLC0415

        return json_answer(200, describe(routes))

    @cache
    def page() -> Answer:
        from functions.api.docs_page import render  # noqa: PLC0415
        from functions.api.docs_style import HEADERS  # noqa: PLC0415
        from functions.api.openapi import describe  # noqa: PLC0415

        return Answer(200, render(describe(routes)).encode(), HEADERS)

    return document, page


_FIXED = [
    Route("GET", "/health", health, PUBLIC, "Whether the service answers", {200: "Health"}),
    Route(
        "GET",
        "/.well-known/openintent.json",
        openintent,
        PUBLIC,
        "What of the OpenIntent protocol is spoken here",
        {200: "OpenIntent"},
    ),
    Route(
        "GET",
        "/.well-known/openwop",
        openwop,
        PUBLIC,
        "What of the OpenWOP protocol is spoken here",
        {200: "OpenWop"},
    ),
    Route(
        "GET",
        "/api/v1/capabilities",
        capabilities,
        PUBLIC,
        "Tiers, limits, capacities and extensions",
        {200: "Capabilities"},
    ),
]
