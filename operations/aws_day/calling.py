"""Call a deployed API, and measure how long it takes."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_PATIENCE = 35.0  # seconds; the API answers within 30
MEMORY = "/api/v1/memory"


class Answer(NamedTuple):
    """The response of an API, and its latency in seconds."""

    status: int
    body: bytes
    headers: dict[str, str]
    seconds: float

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Caller:
    """Calls an API as a principal; each thread has a connection."""

    def __init__(self, address: str, key: str) -> None:
        self._address = urlsplit(address)
        self._key = key
        self._own = threading.local()

    def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request; a body that isn't bytes is sent as JSON."""
        sent = {"X-API-Key": self._key, **(headers or {})}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not body:
            sent["Content-Type"] = "application/json"
        began = time.monotonic()
        is_new = getattr(self._own, "connection", None) is None
        try:
            return self._send(method, path, data, sent)
        except (OSError, http.client.HTTPException) as error:
            self._own.connection = None
            if is_new:
                return Answer(0, str(error).encode(), {}, time.monotonic() - began)
        return self.call(method, path, body, headers)  # the server had closed the connection

    def _send(self, method: str, path: str, data: bytes | None, sent: dict[str, str]) -> Answer:
        connection, began = self._connect(), time.monotonic()
        connection.request(method, self._address.path.rstrip("/") + path, data, sent)
        response = connection.getresponse()
        content = response.read()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, content, found, time.monotonic() - began)

    def expect(self, status: int, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request, and return the JSON of the response; fail if it has another status."""
        answer = self.call(method, path, body, headers)
        if answer.status != status:
            raise UnexpectedAnswer(f"{method} {path}: {answer.status} {answer.body[:300]!r}")
        return answer.json if answer.body else None

    def create(self, key: str, value: Any = None, **more: Any) -> Any:
        """Create an entry of episodic memory."""
        body = {"namespace": "day", "key": key, "value": value or {"n": 1}, **more}
        return self.expect(201, "POST", MEMORY, {"memory_type": "episodic"} | body)

    def _connect(self) -> http.client.HTTPSConnection:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            host, port = self._address.hostname or "", self._address.port
            connection = http.client.HTTPSConnection(host, port, timeout=_PATIENCE)
            self._own.connection = connection
        return connection


class UnexpectedAnswer(Exception):
    """The API's response differs from the expected one."""


def send(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Answer:
    """Send a request to a signed address, without a key."""
    place = urlsplit(url)
    connection = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=_PATIENCE)
    began = time.monotonic()
    connection.request(method, f"{place.path}?{place.query}", body, headers)
    response = connection.getresponse()
    return Answer(response.status, response.read(), {}, time.monotonic() - began)


def measure(threads: int, calls: Iterable[Callable[[], Answer]]) -> dict[str, Any]:
    """Make calls in parallel; return the number of failures, and the others' latency in ms."""
    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(lambda call: call(), calls))
    seconds = sorted(each.seconds for each in answers if 200 <= each.status < 300)
    failed = [each.status for each in answers if not 200 <= each.status < 300]
    return {
        "calls": len(answers),
        "failed": {str(status): failed.count(status) for status in sorted(set(failed))},
        "p50_ms": find_percentile(seconds, 50),
        "p99_ms": find_percentile(seconds, 99),
    }


def find_percentile(seconds: list[float], percent: int) -> float | None:
    """Find a percentile of sorted seconds, in ms."""
    if not seconds:
        return None
    return round(1000 * seconds[min(len(seconds) - 1, len(seconds) * percent // 100)], 1)


class Writer:
    """Writes an entry five times a second, and records the number and duration of failures."""

    def __init__(self, caller: Caller, name: str) -> None:
        self._caller, self._name, self._stop = caller, name, threading.Event()
        self.accepted = 0
        self.refused: dict[str, int] = {}
        self.longest = 0.0

    def run(self) -> None:
        """Write until `stop`."""
        last, number = time.monotonic(), 0
        while not self._stop.wait(0.2):
            number += 1
            body = {"namespace": "day", "key": f"{self._name}-{number}", "value": {"n": number}}
            answer = self._caller.call("POST", MEMORY, body | {"memory_type": "episodic"})
            if answer.status == 201:
                self.accepted += 1
                self.longest, last = max(self.longest, time.monotonic() - last), time.monotonic()
            else:
                status = str(answer.status)
                self.refused[status] = self.refused.get(status, 0) + 1

    def stop(self) -> None:
        self._stop.set()

    @property
    def report(self) -> dict[str, Any]:
        """The number of writes, and the rejections."""
        gap = round(self.longest, 1)
        return {"writes": self.accepted, "refused": self.refused, "longest_gap_seconds": gap}


@contextmanager
def writing(caller: Caller, name: str) -> Iterator[Writer]:
    """Write in the background."""
    writer = Writer(caller, name)
    thread = threading.Thread(target=writer.run, daemon=True)
    thread.start()
    try:
        yield writer
    finally:
        writer.stop()
        thread.join()
