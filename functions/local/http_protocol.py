"""HTTP/1.1 whose clients can't keep a connection busy with a request that doesn't get on."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

READ_SECONDS = 30  # for a request to arrive: its head, and again its body
_MAX_HEAD_BYTES = 65_536  # of a request's line and headers together
_ANY_TARGET = b"*"  # of `OPTIONS *`, which asks about the server as a whole


class LimitedProtocol(HttpToolsProtocol):
    """Parse requests by httptools, which knows no limits, and keep them.

    A head has to arrive in time. Neither a head nor what follows the last chunk of a body grows
    beyond a size. Trailers are dropped, so that none counts as a header.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._is_head_complete = False
        self._held_bytes = 0  # received since a head, a piece of a body or a request was complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_clock()

    def data_received(self, data: bytes) -> None:
        self._held_bytes += len(data)
        super().data_received(data)
        self._limit_wait()
        if self._held_bytes > _MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The request's head is too large.")

    def on_message_begin(self) -> None:
        self._is_head_complete = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_head_complete:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take a request, if it is one of HTTP/1.1: to one host (RFC 9112 section 3.2).

        Raises:
            ValueError: it names no host, or several; uvicorn answers 400.
        """
        self._is_head_complete, self._held_bytes = True, 0
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() != "1.0"):
            raise ValueError("a request names one host")
        if self.url == _ANY_TARGET:
            self.url = b"/*"  # uvicorn knows no other target than a path
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._held_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._held_bytes = 0
        super().on_message_complete()

    def _limit_wait(self) -> None:
        """Start the clock unless a request is being answered, and stop it then."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_clock()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(READ_SECONDS, self.transport.close)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
