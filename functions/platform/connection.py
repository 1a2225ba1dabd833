"""HTTP connections to DynamoDB: a request in one write, an answer's head without an email parser.

All else is botocore's, urllib3's and `http.client`'s: connecting, TLS, pooling, timeouts, bodies.
"""

from collections.abc import Generator, Mapping
from http.client import BadStatusLine, HTTPResponse, LineTooLong
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from urllib3.response import HTTPResponse as PooledResponse

_LONGEST_LINE = 65_536
_MOST_HEADERS = 100


class _Answer(HTTPResponse):
    """An answer whose headers are a plain mapping, their names in lower case."""

    def begin(self) -> None:
        """Reads the head.

        Raises:
            http.client.HTTPException: it is none.
            OSError: nothing came.
        """
        version, self.status, self.reason = self._read_status()  # type: ignore[attr-defined]
        self.code, self.version = self.status, 10 if version == "HTTP/1.0" else 11
        headers = self.headers = self.msg = self._read_headers()  # type: ignore[assignment]
        self.chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        self.chunk_left = None
        length = None if self.chunked else headers.get("content-length")
        self.length = None if length is None else int(length)
        self.will_close = self._check_close()  # type: ignore[attr-defined]
        if self.length is None and not self.chunked:
            self.will_close = True

    def _read_headers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for _ in range(_MOST_HEADERS):
            line = self.fp.readline(_LONGEST_LINE + 1)
            if line in (b"\r\n", b"\n"):
                return found
            if len(line) > _LONGEST_LINE:
                raise LineTooLong("header line")
            name, colon, text = line.decode("iso-8859-1").partition(":")
            if not colon:
                raise BadStatusLine(repr(line))
            found[name.lower()] = text.strip()
        raise BadStatusLine("too many headers")


class _Pooled(PooledResponse):
    """An answer that gives its connection back when its body is read: at once, not in pieces."""

    def stream(self, *_: Any, **__: Any) -> Generator[bytes]:
        """The whole body."""
        yield self.read()


class _LeanConnection:
    """Stands before a connection of botocore's."""

    def request(
        self: Any,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str | bytes],
        **_: Any,
    ) -> None:
        """Sends a request whose headers name its host and its length."""
        if self.sock is None:
            self.connect()
        else:
            self.sock.settimeout(self.timeout)
        lines = [f"{method} {url} HTTP/1.1".encode(), b"Accept-Encoding: identity"]
        for name, text in headers.items():
            lines.append(name.encode() + b": " + (text.encode() if isinstance(text, str) else text))
        self.sock.sendall(b"\r\n".join([*lines, b"", body]))

    def getresponse(self: Any) -> PooledResponse:
        """The answer, its body yet to be read; one that is cut off is an error to who reads it."""
        self.sock.settimeout(self.timeout)
        answer = _Answer(self.sock, method="POST")
        try:
            answer.begin()
        except BaseException:
            answer.close()
            raise
        if answer.will_close:
            self.close()
        return _Pooled(
            body=answer,
            headers=dict(answer.headers),
            status=answer.status,
            version=answer.version,
            reason=answer.reason,
            preload_content=False,
            decode_content=False,
            original_response=answer,
            enforce_content_length=True,
        )


class _Connection(_LeanConnection, AWSHTTPConnection):  # type: ignore[misc]
    pass


class _SecureConnection(_LeanConnection, AWSHTTPSConnection):  # type: ignore[misc]
    pass


class _Pool(AWSHTTPConnectionPool):  # type: ignore[misc]
    ConnectionCls = _Connection


class _SecurePool(AWSHTTPSConnectionPool):  # type: ignore[misc]
    ConnectionCls = _SecureConnection


POOLS = {"http": _Pool, "https": _SecurePool}
