"""The OpenAPI document and its page, made when they are first asked for."""

from functools import cache

from functions.api.call import Answer, Call, json_answer
from functions.api.docs_page import render
from functions.api.docs_style import HEADERS
from functions.api.openapi import describe
from functions.api.paths import every_route
from functions.api.route import PUBLIC, Route
from functions.identity.model import Principal


def openapi(_call: Call, _caller: Principal) -> Answer:
    return _document()


def docs(_call: Call, _caller: Principal) -> Answer:
    return _page()


@cache
def _document() -> Answer:
    return json_answer(200, describe(every_route()))


@cache
def _page() -> Answer:
    return Answer(200, render(describe(every_route())).encode(), HEADERS)


ROUTES = [
    Route("GET", "/openapi.json", openapi, PUBLIC, "This document", {200: "OpenApi"}),
    Route("GET", "/docs", docs, PUBLIC, "This document, as a page", {200: "Html"}),
]
