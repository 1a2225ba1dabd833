"""Calls over HTTP: retried, under one Idempotency-Key each."""

import logging
import uuid
from collections.abc import Mapping
from typing import Any

import httpx

from agent_memory._waiting import Connections, sleep
from agent_memory.deadline import Deadline
from agent_memory.exceptions import ClientClosedError, ConnectionFailedError
from agent_memory.responses import (
    compute_delay,
    is_not_json,
    is_transient,
    to_error,
    to_invalid_answer_error,
)
from agent_memory.settings import Settings

_NEITHER = frozenset({304, 307})  # neither success nor error: not modified, or a redirect
_ONCE = frozenset({"POST", "PATCH", "PUT"})
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20)
_NOTHING_SENT = (
    "nothing was sent: is it running? Start it by `agent-memory serve` or `make run`, or name"
    " another address by AGENT_MEMORY_URL"
)
_log = logging.getLogger("agent_memory")


class Pool:
    """A pool of connections, for any number of clients with their own settings.

    Args:
        settings: with the address of the service.
        carrier: replaces the network; it is closed with the pool.
    """

    def __init__(self, settings: Settings, carrier: httpx.BaseTransport | None) -> None:
        self.carrier = carrier
        self._settings = settings
        # root certificates are loaded only for TLS, and once for all connections
        is_tls = settings.server_url.startswith("https")
        self._verify = httpx.create_ssl_context() if is_tls and carrier is None else False
        self._connections = Connections(self._connect)

    def _connect(self) -> httpx.Client:
        return httpx.Client(
            base_url=self._settings.server_url,
            headers={
                "X-API-Key": self._settings.api_key,
                "User-Agent": "agent-memory-python/0.2.0",
            },
            transport=self.carrier,
            limits=_LIMITS,
            verify=self._verify,
        )

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        self._connections.close()

    def send(
        self,
        settings: Settings,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> httpx.Response:
        """Send one call, in as many attempts as it takes.

        Raises:
            AgentMemoryError: the service rejected the call, or did not answer.
            ClientClosedError: the client is closed.
        """
        http = self._open()
        request = _build_request(http, method, path, params, body, headers)
        answer, sent = self._carry_out(http, request, settings)
        if is_transient(answer) or is_not_json(answer):
            raise _in_the_end(answer, sent)
        return _checked(answer, sent)

    def transfer(
        self,
        settings: Settings,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request without the API key to an address that the service has returned.

        Returns:
            The response to the last attempt.

        Raises:
            ConnectionFailedError: the service did not answer.
        """
        request = httpx.Request(method, url, headers=headers, content=body)
        answer, _ = self._carry_out(self._open(), request, settings)
        return answer

    def _carry_out(
        self, http: httpx.Client, request: httpx.Request, settings: Settings
    ) -> tuple[httpx.Response, bool]:
        """Send a request until a final response; also tell whether a lost attempt may count."""
        has_key = "X-API-Key" in request.headers
        sent = False
        deadline = Deadline(settings.deadline)
        for attempt in range(settings.max_retries + 1):
            answer: httpx.Response | None = None
            failure: httpx.RequestError | None = None
            deadline.limit_attempt(request, settings.timeout)
            try:
                answer = _receive(http, request, deadline)
            except RuntimeError as error:
                raise _closed(http, error) from None
            except httpx.RequestError as error:
                sent = sent or not isinstance(error, _NEVER_SENT)
                failure = error
            wait = compute_delay(attempt, answer)
            is_last = attempt == settings.max_retries or not deadline.allows_wait(wait)
            if failure is not None and is_last:
                raise _unanswered(failure, sent, settings) from failure
            if answer is not None:
                passes = is_transient(answer) or (has_key and is_not_json(answer))
                if is_last or not passes:
                    return answer, sent
                sent = sent or answer.status_code != 429
            _log.info(
                "attempt %d of %s %s failed; again in %.1f s",
                attempt + 1,
                request.method,
                request.url.path,
                wait,
            )
            sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _open(self) -> httpx.Client:
        http = self._connections.get()
        if http is None:
            raise ClientClosedError("this client is closed; create another one")
        return http


def _receive(
    http: httpx.Client, request: httpx.Request, deadline: Deadline
) -> httpx.Response:
    """Send a request, and read its answer no longer than the deadline allows."""
    answer, parts = http.send(request, stream=True), []
    if answer.is_stream_consumed:  # by the transport, such as one of a test
        return answer
    try:
        for part in answer.iter_raw():
            parts.append(part)
            if not deadline.allows_wait(0):
                raise httpx.ReadTimeout("the answer did not end by the deadline", request=request)
    finally:
        answer.close()
    content = b"".join(parts)
    return httpx.Response(
        answer.status_code, headers=answer.headers, content=content, request=request
    )


def _build_request(
    http: httpx.Client,
    method: str,
    path: str,
    params: Mapping[str, Any] | None,
    body: bytes | None,
    headers: Mapping[str, str],
) -> httpx.Request:
    named = httpx.Headers(headers)  # whose names have no case
    if method.upper() in _ONCE:
        named.setdefault("Idempotency-Key", uuid.uuid4().hex)
    return http.build_request(
        method,
        path,
        params=dict(params) if params else None,
        content=body,
        headers=named,
    )


def _closed(http: httpx.Client, error: RuntimeError) -> Exception:
    if http.is_closed:
        return ClientClosedError("this client was closed during the call")
    return error


def _checked(answer: httpx.Response, sent: bool) -> httpx.Response:
    if answer.is_success or answer.status_code in _NEITHER:
        return answer
    raise to_error(answer, may_have_happened=sent or answer.status_code >= 500)


def _in_the_end(answer: httpx.Response, sent: bool) -> Exception:
    maybe = sent or answer.status_code != 429
    if is_not_json(answer):
        return to_invalid_answer_error(answer, may_have_happened=maybe)
    return to_error(answer, may_have_happened=maybe)


def _unanswered(error: httpx.RequestError, sent: bool, settings: Settings) -> Exception:
    outcome = "it may have been carried out" if sent else _NOTHING_SENT
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    return ConnectionFailedError(
        f"no answer from {settings.server_url} ({reason}); {outcome}", may_have_happened=sent
    )
