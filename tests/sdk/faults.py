"""Faults of a call, of which a script of the proxy is made.

The worst faults are those after the server has acted: the client can't know that it did.
"""

import random
from collections.abc import Callable, Iterator

from tests.sdk.fault_proxy import Exchange, Fault, answer, passed


def dropped_before(exchange: Exchange) -> None:
    """The connection closes; the server never sees the request."""
    exchange.drop()


def dropped_after(exchange: Exchange) -> None:
    """The server acts; its answer is lost."""
    exchange.forward()
    exchange.drop()


def reset_after(exchange: Exchange) -> None:
    """The server acts; the connection is reset instead of an answer."""
    exchange.forward()
    exchange.reset()


def cut(exchange: Exchange) -> None:
    """The server acts; the connection closes in the middle of its answer."""
    head, end, body = exchange.forward().partition(b"\r\n\r\n")
    exchange.send(head + end + body[: len(body) // 2] if body else head)
    exchange.drop()


def garbage(exchange: Exchange) -> None:
    """The server acts; what comes back isn't HTTP."""
    exchange.forward()
    exchange.send(b"\x16\x03\x01\x02\x00\x01\x00 \x8f\x00no such thing\r\n\r\n")
    exchange.drop()


def not_json(exchange: Exchange) -> None:
    """The server acts; somebody on the way answers 200 with a page of their own."""
    exchange.forward()
    exchange.send(answer(200, b"<html>Sign in to the airport's WiFi</html>"))


def not_decodable(exchange: Exchange) -> None:
    """The server acts; its answer comes back damaged, and can't be unpacked."""
    exchange.forward()
    exchange.send(answer(200, b"no gzip at all", ("Content-Encoding", "gzip")))


def answered(status: int, body: bytes) -> Fault:
    """Something that isn't the service answers."""
    return lambda exchange: exchange.send(answer(status, body))


def html_502(exchange: Exchange) -> None:
    """The server acts, but a gateway on the way answers with 502."""
    exchange.forward()
    exchange.send(answer(502, b"<html><h1>502 Bad Gateway</h1></html>"))


def unavailable(exchange: Exchange) -> None:
    """The server acts, then says that it is unavailable."""
    exchange.forward()
    exchange.send(_refusal(503, "UNAVAILABLE", retry_after=0))


def throttled(retry_after: int = 0) -> Fault:
    refusal = _refusal(429, "THROTTLED", retry_after)
    return lambda exchange: exchange.send(refusal)


def stalled_before(exchange: Exchange) -> None:
    """The client receives nothing until its timeout; the server never sees the request."""
    exchange.await_hang_up()


def stalled_after(exchange: Exchange) -> None:
    """The server acts; the client receives nothing until its timeout."""
    exchange.forward()
    exchange.await_hang_up()


def interrupted(meanwhile: Callable[[], object]) -> Fault:
    """Something happens to the server while the request is in it."""

    def fault(exchange: Exchange) -> None:
        exchange.send(exchange.forward(meanwhile))

    return fault


def _refusal(status: int, code: str, retry_after: int) -> bytes:
    body = f'{{"status": {status}, "code": "{code}", "title": "-", "message": "later"}}'.encode()
    kind = ("Content-Type", "application/problem+json")
    return answer(status, body, kind, ("Retry-After", str(retry_after)))


FAULTS: dict[str, Fault] = {
    "dropped before": dropped_before,
    "dropped after": dropped_after,
    "reset after": reset_after,
    "cut": cut,
    "garbage": garbage,
    "not JSON": not_json,
    "not decodable": not_decodable,
    "HTML 502": html_502,
    "503": unavailable,
    "429": throttled(),
    "stalled before": stalled_before,
    "stalled after": stalled_after,
}
"""All of them, by name; none takes longer than the client waits."""


STALLS = (stalled_before, stalled_after)
"""Those that take as long as the client waits."""


def flakiness() -> Iterator[Fault]:
    """A script without end on which every third call goes wrong somehow, the same in each run."""
    chance = random.Random(47)  # noqa: S311 - no secret
    while True:
        yield passed if chance.random() < 2 / 3 else chance.choice(list(FAULTS.values()))
