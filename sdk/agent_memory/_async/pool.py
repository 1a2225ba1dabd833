"""Calls over HTTP: retried, under one Idempotency-Key each."""

import logging
import uuid
from collections.abc import Mapping
from typing import Any

import httpx

from agent_memory._waiting_async import async_sleep
from agent_memory.exceptions import ClientClosedError, ConnectionFailedError
from agent_memory.responses import (
    compute_delay,
    is_not_json,
    is_transient,
    to_error,
    to_invalid_answer_error,
)
from agent_memory.settings import Settings

_ONCE = frozenset({"POST", "PATCH", "PUT"})
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20)
_log = logging.getLogger("agent_memory")


class AsyncPool:
    """One pool of connections, for any number of clients with their own settings.

    Args:
        settings: where the service is.
        carrier: carries the requests in place of the network; it is closed with the pool.
    """

    def __init__(self, settings: Settings, carrier: httpx.AsyncBaseTransport | None) -> None:
        self.carrier = carrier
        self._http = httpx.AsyncClient(
            base_url=settings.server_url,
            headers={"X-API-Key": settings.api_key, "User-Agent": "agent-memory-python/0.1.0"},
            transport=carrier,
            limits=_LIMITS,
            verify=settings.server_url.startswith("https"),  # else its roots are loaded for nothing
        )

    async def close(self) -> None:
        """Close all connections. Twice does no harm."""
        await self._http.aclose()

    async def send(
        self,
        settings: Settings,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> httpx.Response:
        """Carry out one call, however many attempts that takes.

        Raises:
            AgentMemoryError: the service refused, or gave no answer.
            ClientClosedError: the client is closed.
        """
        request = self._request(settings, method, path, params, body, headers)
        sent = False
        for attempt in range(settings.max_retries + 1):
            last = attempt == settings.max_retries
            answer: httpx.Response | None = None
            try:
                answer = await self._http.send(request)
            except RuntimeError as error:
                raise self._closed(error) from None
            except httpx.RequestError as error:
                sent = sent or not isinstance(error, _NEVER_SENT)
                if last:
                    raise _unanswered(error, sent, settings) from error
            if answer is not None:
                if not (is_transient(answer) or is_not_json(answer)):
                    return _checked(answer, sent)
                if last:
                    raise _in_the_end(answer, sent)
                sent = sent or answer.status_code != 429
            wait = compute_delay(attempt, answer)
            _log.info(
                "attempt %d of %s %s failed; again in %.1f s", attempt + 1, method, path, wait
            )
            await async_sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _request(
        self,
        settings: Settings,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> httpx.Request:
        if self._http.is_closed:
            raise ClientClosedError("this client is closed; make another one")
        named = httpx.Headers(headers)  # whose names have no case
        if method.upper() in _ONCE:
            named.setdefault("Idempotency-Key", uuid.uuid4().hex)
        return self._http.build_request(
            method,
            path,
            params=dict(params) if params else None,
            content=body,
            headers=named,
            timeout=settings.timeout,
        )

    def _closed(self, error: RuntimeError) -> Exception:
        if self._http.is_closed:
            return ClientClosedError("this client was closed during the call")
        return error


def _checked(answer: httpx.Response, sent: bool) -> httpx.Response:
    if answer.is_success or answer.status_code == 304:
        return answer
    raise to_error(answer, may_have_happened=sent or answer.status_code >= 500)


def _in_the_end(answer: httpx.Response, sent: bool) -> Exception:
    maybe = sent or answer.status_code != 429
    if is_not_json(answer):
        return to_invalid_answer_error(answer, may_have_happened=maybe)
    return to_error(answer, may_have_happened=maybe)


def _unanswered(error: httpx.RequestError, sent: bool, settings: Settings) -> Exception:
    told = "the request may have been carried out" if sent else "nothing was sent"
    kind = type(error).__name__
    return ConnectionFailedError(
        f"no answer from {settings.server_url} ({kind}); {told}", may_have_happened=sent
    )
