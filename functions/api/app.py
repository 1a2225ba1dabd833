"""Resolves a request to its route: who calls, may they, and what came of it."""

import re
import time
from typing import Any

from functions.api.call import Answer, Call
from functions.api.envelopes import ROOT as OPENWOP
from functions.api.envelopes import envelope, internal_envelope
from functions.api.paging import assert_known
from functions.api.paths import find
from functions.api.problems import internal_error, problem
from functions.api.route import ANY, PUBLIC, ROOT, Route
from functions.api.tokens import claims_of
from functions.container import Container
from functions.identity.model import READ, Principal
from functions.identity.service import require
from functions.platform.errors import (
    AccessDenied,
    Conflict,
    ServiceError,
    Unauthenticated,
)
from functions.platform.observability import log_unforeseen, logger

_ROOT_ONLY = "only the root key makes tenants"
_NOT_FOR_ROOT = "the root key makes tenants; use a principal's key for the rest"
_NOBODY = Principal("", "", "user", frozenset())
_OPERATOR = Principal("~root", "root", "user", frozenset())
_SPEECH = {False: (problem, internal_error), True: (envelope, internal_envelope)}
_TRACEPARENT = re.compile(r"[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}", re.ASCII)


class App:
    """The API, as a function from event to answer."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._identity = container.identity
        self._claims = claims_of(container.settings)
        container.build_common_services()

    def __call__(self, event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        """Answers one API Gateway event (HTTP API, payload 2.0)."""
        began = time.perf_counter()
        request_id: str = event["requestContext"]["requestId"]
        fields: dict[str, object] = {"request_id": request_id}
        told, failed = _SPEECH[event["rawPath"].startswith(OPENWOP)]
        try:
            answer = self._answer(event, fields)
        except ServiceError as error:
            answer = told(error)
            fields["code"] = error.code
        except Exception as error:  # noqa: BLE001 - the door's last resort
            log_unforeseen(error, **fields)
            answer = failed()
        took = round((time.perf_counter() - began) * 1000, 1)
        logger.info("request", extra={"status": answer.status, "took_ms": took, **fields})
        return _rendered(answer, request_id)

    def _answer(self, event: dict[str, Any], fields: dict[str, object]) -> Answer:
        path = _path(event)
        method: str = event["requestContext"]["http"]["method"]
        trace = _TRACEPARENT.fullmatch((event.get("headers") or {}).get("traceparent", ""))
        fields |= {"method": method, "trace_id": trace.group(1) if trace else None}
        route, names = find(path, method)
        fields["route"] = route.template
        call = Call(event, names, self._container, path)
        caller = self._caller(event, call, route)
        fields["tenant"] = caller.tenant
        assert_known(call, route.query)
        try:
            return route.handle(call, caller)
        except Conflict as conflict:
            if READ not in caller.permissions:
                conflict.current = None
            raise

    def _caller(self, event: dict[str, Any], call: Call, route: Route) -> Principal:
        if route.needs == PUBLIC:
            return _NOBODY
        named = None if self._claims is None else self._claims.named(event)
        if route.needs == ROOT:
            if named is not None:
                raise AccessDenied(_ROOT_ONLY)
            return self._operator(_api_key(call.headers))
        caller = self._by_key(call) if named is None else self._identity.recognize(*named)
        _assert_own_id(call.headers.get("x-agent-id"), caller)
        if route.needs != ANY:
            require(caller, route.needs)
        return caller

    def _by_key(self, call: Call) -> Principal:
        api_key = _api_key(call.headers)
        try:
            return self._identity.authenticate(api_key)
        except Unauthenticated:
            if self._identity.is_root(api_key):
                raise AccessDenied(_NOT_FOR_ROOT) from None
            raise

    def _operator(self, api_key: str) -> Principal:
        if not self._identity.is_root(api_key):
            self._identity.authenticate(api_key)
            raise AccessDenied(_ROOT_ONLY)
        return _OPERATOR


def _path(event: dict[str, Any]) -> str:
    """The path, decoded: HTTP APIs do that, but leave `%25` as it is, by some accounts at least."""
    path: str = event["rawPath"]
    return path.replace("%25", "%")


def _api_key(headers: dict[str, str]) -> str:
    key = headers.get("x-api-key", "").strip()
    if not key:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
    if not key:
        raise Unauthenticated("send X-API-Key: KEY, or Authorization: Bearer KEY")
    return key


def _assert_own_id(header: str | None, caller: Principal) -> None:
    """Headers are bytes; a name beyond ASCII comes as UTF-8 that was read as Latin-1."""
    if header is None or header == caller.id:
        return
    if header != caller.id.encode().decode("latin-1"):
        raise AccessDenied("X-Agent-ID isn't the principal of this key")


def _rendered(answer: Answer, request_id: str) -> dict[str, Any]:
    return {
        "statusCode": answer.status,
        "headers": answer.headers | {"x-request-id": request_id},
        "body": answer.body.decode(),
        "isBase64Encoded": False,
    }
