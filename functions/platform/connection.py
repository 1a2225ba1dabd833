"""HTTP to DynamoDB: a request in one write, an answer in one piece.

Stands where botocore has its `URLLib3Session`, which takes four times the CPU for a request; and
keeps to what botocore knows of that: its settings, its answers, and the errors that retries go by.
"""

import socket
from collections import defaultdict, deque
from collections.abc import Iterable
from functools import cached_property
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from ssl import PROTOCOL_TLS_CLIENT, SSLContext, SSLError
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from botocore import exceptions
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from botocore.httpsession import URLLib3Session, get_cert_path
from urllib3.util.wait import wait_for_read

_AT_ONCE = 65_536  # bytes
_LONGEST_HEAD = 65_536
_MOST_HEADERS = 100
_END = b"\r\n"


class Headers(dict[str, str]):
    """Headers under their names in any case; they are kept in lower case, and so made."""

    def __missing__(self, name: str) -> str:
        lower = name.lower()
        if lower not in self:
            raise KeyError(name)
        return self[lower]

    def __setitem__(self, name: str, text: str) -> None:
        dict.__setitem__(self, name.lower(), text)

    def __delitem__(self, name: str) -> None:
        dict.__delitem__(self, name.lower())

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, str(name).lower())

    def get(self, name: str, default: Any = None) -> Any:
        return dict.get(self, name.lower(), default)

    replace_header = __setitem__


class Answer(NamedTuple):
    """A whole answer."""

    status_code: int
    headers: Headers
    content: bytes


class Connections:
    """Kept connections, for many threads; behind no proxy.

    Args:
        replaced: what botocore made, for its certificates and socket options.
        config: of the client.
    """

    def __init__(self, replaced: URLLib3Session, config: Config) -> None:
        self._verify = replaced._verify  # noqa: SLF001 - nothing else says it
        self._options = replaced._socket_options  # noqa: SLF001 - as above
        self._config = config
        self._idle: defaultdict[str, deque[_Connection]] = defaultdict(deque)

    def send(self, request: AWSPreparedRequest) -> Answer:
        """Asks, and gives the answer, whatever it says.

        Raises:
            botocore.exceptions.HTTPClientError: there is no whole one.
            botocore.exceptions.ConnectionError: there is no connection.
        """
        url = request.url
        connection = self._kept(url) or self._opened(url)
        try:
            answer = connection.ask(request)
        except TimeoutError as error:
            connection.close()
            raise exceptions.ReadTimeoutError(endpoint_url=url, error=error) from error
        except (OSError, HTTPException, ValueError) as error:
            connection.close()
            raise exceptions.ConnectionClosedError(
                error=error, request=request, endpoint_url=url
            ) from error
        self._keep(url, connection)
        return answer

    def close(self) -> None:
        """Closes those that are not in use."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def _kept(self, url: str) -> "_Connection | None":
        """The one that was used last; one that was hung up meanwhile is none."""
        idle = self._idle[url]
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                return None
            if connection.quiet:
                return connection
            connection.close()

    def _keep(self, url: str, connection: "_Connection") -> None:
        idle = self._idle[url]
        if connection.lasts and len(idle) < self._config.max_pool_connections:
            idle.append(connection)
        else:
            connection.close()

    def _opened(self, url: str) -> "_Connection":
        try:
            return _Connection(self._connected(url), urlsplit(url).path)
        except SSLError as error:
            raise exceptions.SSLError(endpoint_url=url, error=error) from error
        except TimeoutError as error:
            raise exceptions.ConnectTimeoutError(endpoint_url=url, error=error) from error
        except OSError as error:
            raise exceptions.EndpointConnectionError(endpoint_url=url, error=error) from error

    def _connected(self, url: str) -> socket.socket:
        place = urlsplit(url)
        secure = place.scheme == "https"
        address = place.hostname, place.port or (443 if secure else 80)
        plain = socket.create_connection(address, self._config.connect_timeout)
        try:
            for option in self._options:
                plain.setsockopt(*option)
            tls = self._tls.wrap_socket(plain, server_hostname=place.hostname) if secure else plain
        except BaseException:
            plain.close()
            raise
        tls.settimeout(self._config.read_timeout)
        return tls

    @cached_property
    def _tls(self) -> SSLContext:
        context = SSLContext(PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(get_cert_path(self._verify))
        return context


class _Connection:
    """One, for one thread at a time; `lasts` is whether another request may follow."""

    def __init__(self, connected: socket.socket, target: str) -> None:
        self._socket = connected
        self._start = f"POST {target} HTTP/1.1\r\nAccept-Encoding: identity".encode()
        self._came = b""
        self.lasts = True

    @property
    def quiet(self) -> bool:
        """Whether nothing has come since the last answer, an end neither."""
        return not self._came and not wait_for_read(self._socket, timeout=0)

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: AWSPreparedRequest) -> Answer:
        """Sends a request, whose headers name its host and its length, and reads the answer.

        Raises:
            http.client.HTTPException: it is cut off, or none of HTTP/1.
            ValueError: as before.
            OSError: the connection is lost; TimeoutError: nothing comes.
        """
        lines = [f"{name}: {text}".encode() for name, text in request.headers.items()]
        self._socket.sendall(_END.join([self._start, *lines, b"", request.body]))
        first, *rest = self._until(_END + _END).decode("iso-8859-1").split("\r\n")
        version, _, status = first.partition(" ")
        if not version.startswith("HTTP/1.") or len(rest) > _MOST_HEADERS:
            raise BadStatusLine(first)
        headers = _headers(rest)
        said = headers.get("connection", "").lower()
        self.lasts = said == "keep-alive" if version == "HTTP/1.0" else said != "close"
        return Answer(int(status[:3]), headers, self._body(headers))

    def _body(self, headers: Headers) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks()
        if "content-length" in headers:
            return self._exactly(int(headers["content-length"]))
        return self._all()

    def _chunks(self) -> bytes:
        chunks: list[bytes] = []
        while size := int(self._until(_END).partition(b";")[0], 16):
            chunks.append(self._exactly(size))
            self._until(_END)
        while self._until(_END):  # what trails behind the last one
            pass
        return b"".join(chunks)

    def _until(self, mark: bytes) -> bytes:
        while (end := self._came.find(mark)) < 0 and len(self._came) <= _LONGEST_HEAD:
            self._came += self._more()
        if not 0 <= end <= _LONGEST_HEAD:
            raise BadStatusLine("too long")
        found, self._came = self._came[:end], self._came[end + len(mark) :]
        return found

    def _exactly(self, size: int) -> bytes:
        if size < 0:
            raise BadStatusLine(f"{size} bytes")
        came, missing = [self._came], size - len(self._came)
        while missing > 0:
            came.append(self._more())
            missing -= len(came[-1])
        whole = b"".join(came)
        self._came = whole[size:]
        return whole[:size]

    def _all(self) -> bytes:
        self.lasts = False
        came = [self._came]
        while piece := self._socket.recv(_AT_ONCE):
            came.append(piece)
        return b"".join(came)

    def _more(self) -> bytes:
        piece = self._socket.recv(_AT_ONCE)
        if not piece:
            raise RemoteDisconnected("in the midst of an answer")
        return piece


def _headers(lines: Iterable[str]) -> Headers:
    found = {}
    for line in lines:
        name, colon, text = line.partition(":")
        if not colon:
            raise BadStatusLine(line)
        found[name.lower()] = text.strip()
    return Headers(found)
