"""The API: routes a request, authenticates its caller, calls the handler, and logs the outcome."""

import base64
import random
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from functions.api.documents import omit_values
from functions.api.error_responses import openwop_error_response, problem_response
from functions.api.http import Request, Response
from functions.api.parameters import VALUES_OF_ANSWER
from functions.api.route_index import build_router
from functions.api.routes import OPENWOP_PREFIX
from functions.api.routing import ADMIN_OR_ROOT, PUBLIC, ROOT, Route
from functions.audit.authority import INSPECT_MEMORY
from functions.container import Container
from functions.identity.model import INSPECT, READ, Principal
from functions.platform import request_context
from functions.platform.errors import Conflict, InternalError, ReadOnly, ServiceError
from functions.platform.json_text import get_escaped_size
from functions.platform.limits import MAX_RESPONSE_BYTES
from functions.platform.observability import (
    describe_aws_error,
    log_unexpected,
    logger,
    report_count,
)
from functions.usage.admission import LoadShedder, RateLimiter

_TRACEPARENT = re.compile(r"(?!ff)[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}", re.ASCII)
_UNMETERED = (PUBLIC, ROOT, ADMIN_OR_ROOT)
_ANONYMOUS = Principal("", "", "user", frozenset())
_PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Headers of responses to requests with a key or token: not stored, no guessed media type."""


class App:
    """The API as a Lambda handler: from an event to a response."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._authentication = container.authentication
        self._router = build_router()
        self._rate_limiter = RateLimiter(
            container.settings.principal_requests_per_minute,
            container.settings.tenant_requests_per_minute,
        )
        self._load_shedder = LoadShedder()
        self._logged_share = container.settings.request_log_sample
        self._is_read_only = container.settings.is_read_only
        self._meter, self._limits = container.usage_meter, container.limit_enforcer
        container.prepare_seals()

    def __call__(self, event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        """Handle one API Gateway event (HTTP API, payload 2.0)."""
        started = time.perf_counter()
        request_id: str = event["requestContext"]["requestId"]
        headers: dict[str, str] = event.get("headers") or {}
        trace_id = _set_context(request_id, headers)
        log_fields: dict[str, object] = {"request_id": request_id, "trace_id": trace_id}
        is_openwop = event["rawPath"].startswith(OPENWOP_PREFIX)
        error_response = openwop_error_response if is_openwop else problem_response
        is_held = False
        try:
            response = self._respond(event, headers, log_fields)
        except ServiceError as error:
            response = error_response(error)
            log_fields |= {"code": error.code, **describe_aws_error(error)}
            is_held = isinstance(error, ReadOnly)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets a response
            log_unexpected(error, **log_fields)
            response = error_response(InternalError())
        request_context.write_guard.set(request_context.allow_writes)  # it was this caller's
        took = round((time.perf_counter() - started) * 1000, 1)
        if response.status >= 400 or random.random() < self._logged_share:  # noqa: S311 - no secret
            logger.info("request", extra={"status": response.status, "took_ms": took, **log_fields})
        if response.status >= 500 and not is_held:
            report_count("FailedRequests", by_version=True, request_id=request_id)
        is_private = "x-api-key" in headers or "authorization" in headers
        return _to_gateway(response, request_id, is_private=is_private)

    def _respond(
        self, event: dict[str, Any], headers: Mapping[str, str], log_fields: dict[str, object]
    ) -> Response:
        # HTTP APIs decode the path; by some reports, they leave `%25` encoded.
        path: str = event["rawPath"].replace("%25", "%")
        method: str = event["requestContext"]["http"]["method"]
        log_fields["method"] = method
        route, path_params = self._router.find(method, path)
        if self._is_read_only and route.may_write:
            raise ReadOnly
        log_fields["route"] = route.openapi_path
        request = Request(event, headers, path, path_params, self._container)
        is_public = route.required_permission == PUBLIC
        caller = _ANONYMOUS if is_public else self._admit(event, headers, route, log_fields)
        # The log has the ids of a path, but no names, and no references, which give access.
        target = log_fields["target"] = {
            name: value
            for name, value in path_params.items()
            if name in ("id", "principal") or name.endswith("_id")
        }
        if event.get("rawQueryString"):
            request.check_query(route.query_names)
        respond = route.respond
        is_omitting = VALUES_OF_ANSWER in route.query and VALUES_OF_ANSWER.read(request)
        if is_omitting or READ not in caller.permissions or INSPECT in caller.permissions:
            respond = partial(self._respond_with_less, route, is_omitting=bool(is_omitting))
        try:
            response = respond(request, caller)
        finally:
            if throttles := request_context.throttles.get():
                self._load_shedder.note_throttles(caller, len(throttles))
            if route.required_permission not in _UNMETERED and not self._is_read_only:
                self._meter.count(caller.tenant, route.handler.__name__)
        if response.status == 201 and "location" in response.headers:
            target["location"] = response.headers["location"]
        return response

    def _admit(
        self,
        event: dict[str, Any],
        headers: Mapping[str, str],
        route: Route,
        log_fields: dict[str, object],
    ) -> Principal:
        """Authenticate the caller of a route, and check its permissions, rate, and limits."""
        jwt = event["requestContext"].get("authorizer", {}).get("jwt")
        caller = self._authentication.authenticate(headers, jwt, route.operator)
        log_fields |= {"tenant": caller.tenant, "principal": caller.id, "kind": caller.kind}
        route.assert_permits(caller)
        self._rate_limiter.check(caller)
        self._load_shedder.check(caller)
        self._limits.check(caller)
        return caller

    def _respond_with_less(
        self, route: Route, request: Request, caller: Principal, *, is_omitting: bool
    ) -> Response:
        """Build the response for a caller without values, or with `memory.inspect`.

        Reads that only `memory.inspect` permits are recorded before the response.
        """
        lets_read = route.lets_read(caller)
        try:
            response = route.respond(request, caller)
        except Conflict as conflict:
            if not lets_read or request_context.inspections.get():
                conflict.current = None
            raise
        document_type = route.responses.get(response.status)
        replaces_read = READ not in caller.permissions and route.required_permission == READ
        is_used = replaces_read or bool(request_context.inspections.get())
        if INSPECT in caller.permissions and is_used:
            self._audit_inspection(request, caller)
            response = omit_values(response, document_type, of_restricted=True)
        is_hiding = is_omitting or not lets_read
        return omit_values(response, document_type) if is_hiding else response

    def _audit_inspection(self, request: Request, caller: Principal) -> None:
        if self._is_read_only:
            raise ReadOnly
        target, query = f"path:{request.path}", request.query or None
        record = self._container.audit.record(caller, INSPECT_MEMORY, target, after=query)
        self._container.audit_log.add(record)


def _set_context(request_id: str, headers: Mapping[str, str]) -> str | None:
    """Set the context of the request, and return the id of its trace.

    A malformed `traceparent` (W3C Trace Context) is ignored.
    """
    found = _TRACEPARENT.fullmatch(headers.get("traceparent", ""))
    request_context.request_id.set(request_id)
    request_context.traceparent.set(found and found[0])
    request_context.throttles.set([])
    request_context.inspections.set([])
    request_context.units.set([])
    return found and found[1]


def _to_gateway(response: Response, request_id: str, *, is_private: bool) -> dict[str, Any]:
    """Render a response for API Gateway; caches must not store private ones."""
    headers = response.headers | {"x-request-id": request_id} | (_PRIVATE if is_private else {})
    is_large = 2 * len(response.body) > MAX_RESPONSE_BYTES
    is_base64 = response.is_binary or (is_large and _is_smaller_in_base64(response.body))
    body = base64.b64encode(response.body).decode() if is_base64 else response.body.decode()
    return {
        "statusCode": response.status,
        "headers": headers,
        "body": body,
        "isBase64Encoded": is_base64,
    }


def _is_smaller_in_base64(body: bytes) -> bool:
    """Tell whether a text with escaped quotes would exceed the limit of a Lambda response."""
    return get_escaped_size(body) > max(MAX_RESPONSE_BYTES, len(body) * 4 // 3)
