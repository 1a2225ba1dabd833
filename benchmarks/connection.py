"""One kept-alive HTTP/1.1 connection that reads as little of an answer as it must.

Only the status and where the answer ends matter to a measurement, so bodies are drained into one
buffer that every connection shares and are never copied out of it.
"""

import socket
import struct

_BUFFER_BYTES = 1 << 20
_HEAD_END = b"\r\n\r\n"
_NO_BODY = frozenset({204, 304})

Address = tuple[str, int]


class AnswerError(RuntimeError):
    """The server answered what HTTP/1.1 does not allow, too late, or not at all."""


def _timeout(seconds: float) -> bytes:
    whole = int(seconds)
    return struct.pack("ll", whole, int((seconds - whole) * 1_000_000))


class Connection:
    """A connection to `address` (host, port) that waits at most `timeout` seconds for bytes.

    The wait is the kernel's (SO_RCVTIMEO): Python's own timeouts cost a poll for every read.
    """

    _buffer = bytearray(_BUFFER_BYTES)
    _view = memoryview(_buffer)

    def __init__(self, address: Address, timeout: float = 30.0) -> None:
        self._socket = socket.create_connection(address)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeout(timeout))
        self._filled = 0

    def fileno(self) -> int:
        """The descriptor, for a selector."""
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, request: bytes) -> None:
        """Send one whole pre-rendered request."""
        self._socket.sendall(request)

    def receive(self) -> int:
        """Read one whole answer and give its status. Raises `AnswerError`."""
        self._filled = 0
        body_at = self._read_head() + len(_HEAD_END)
        head = bytes(self._view[: body_at - 2]).lower()
        status = int(head[9:12])
        if status in _NO_BODY:
            return status
        if b"\r\ntransfer-encoding: chunked\r\n" in head:
            self._drain_chunks(body_at)
        else:
            self._drain(_content_length(head) - (self._filled - body_at))
        return status

    def sample(self) -> str:
        """The beginning of the latest answer, to show in an error."""
        return bytes(self._view[: min(self._filled, 1000)]).decode(errors="replace")

    def _read_head(self) -> int:
        while (end := self._buffer.find(_HEAD_END, 0, self._filled)) < 0:
            self._read_more()
        return end

    def _read_more(self) -> None:
        if self._filled == _BUFFER_BYTES:
            raise AnswerError(f"no end of head or of chunks within {_BUFFER_BYTES} bytes")
        self._filled += self._read_into(self._view[self._filled :], 0)

    def _read_into(self, space: memoryview, flags: int) -> int:
        try:
            count = self._socket.recv_into(space, 0, flags)
        except BlockingIOError as late:
            raise AnswerError("no answer within the connection's timeout") from late
        if count == 0:
            raise AnswerError("the server closed a connection that it should have kept")
        return count

    def _drain(self, remaining: int) -> None:
        if remaining < 0:
            raise AnswerError(f"{-remaining} bytes more than the announced Content-Length")
        while remaining > 0:
            if self._filled == _BUFFER_BYTES:
                self._filled = 0
            space = self._view[self._filled : self._filled + remaining]
            count = self._read_into(space, socket.MSG_WAITALL)
            self._filled += count
            remaining -= count

    def _drain_chunks(self, at: int) -> None:
        while (size := self._chunk_size(at)) > 0:
            at = self._buffer.find(b"\r\n", at) + 2 + size + 2
        self._line_end(self._line_end(at) + 2)

    def _chunk_size(self, at: int) -> int:
        end = self._line_end(at)
        return int(bytes(self._view[at:end]).split(b";", 1)[0], 16)

    def _line_end(self, at: int) -> int:
        while (end := self._buffer.find(b"\r\n", at, self._filled)) < 0:
            self._read_more()
        return end


def _content_length(head: bytes) -> int:
    start = head.find(b"\r\ncontent-length:")
    if start < 0:
        raise AnswerError("neither Content-Length nor chunks: the answer's end is unknown")
    return int(head[start + 17 : head.find(b"\r\n", start + 2)])
