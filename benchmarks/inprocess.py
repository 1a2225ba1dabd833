"""Run the API function in this process on an engine in memory, and record its DynamoDB calls."""

import base64
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.capacity import Call, recorded
from functions.api.app import App
from functions.container import Container
from functions.local import engine
from functions.local.gateway import Handler, LocalContext, to_event
from functions.platform import aws
from functions.platform.observability import logger
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ApiSettings

_ROOT = Path(__file__).parents[1]
_KEY_CACHE_SECONDS = 86_400
_LIFETIMES = (  # of what a function remembers for some seconds
    *("usage.admission.LIMITS_REMEMBERED", "usage.admission._FLUSH_SECONDS"),
    "namespaces.store.RULES_REMEMBERED",
)


class RequestError(RuntimeError):
    """The function rejected a request that the benchmark needs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The parsed body of an answer (None if there is none) and the DynamoDB calls behind it."""

    body: Any
    calls: list[Call]


@dataclass(frozen=True, slots=True)
class Function:
    """The API function."""

    handler: Handler
    container: Container
    client: Any
    root_key: str  # the operator's key
    encryption_key: bytes  # the content of the key file

    def call(
        self, method: str, target: str, key: str, body: object = None, **headers: str
    ) -> Answer:
        """Send and record a request; `if_match` is the header If-Match. Raises `RequestError`."""
        with recorded(self.client) as calls:
            parsed = self.send(request_event(method, target, key, body, **headers))
        return Answer(parsed, calls)

    def send(self, event: dict[str, Any]) -> Any:
        """Return the parsed answer to an event, without recording. Raises `RequestError`."""
        answer = self.handler(event, LocalContext())
        if answer["statusCode"] >= 400:
            raise RequestError(f"{event['rawPath']}: {answer['statusCode']} {answer['body']}")
        return json.loads(answer["body"]) if answer.get("body") else None

    def new_tenant(self, name: str) -> "Caller":
        """Create a tenant, and return its administrator."""
        made = self.call("POST", "/api/v1/tenants", self.root_key, {"id": name}).body["admin"]
        return Caller(self, made["id"], made["api_key"])

    def new_agent(self, admin: "Caller", name: str) -> "Caller":
        """Create an agent in the administrator's tenant."""
        made = admin.send("POST", "/api/v1/principals", {"id": name, "kind": "agent"})
        return Caller(self, name, made["api_key"])


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal that calls the function."""

    function: Function
    id: str
    key: str

    def call(self, method: str, target: str, body: object = None, **headers: str) -> Answer:
        """Send and record a request, as `Function.call` does."""
        return self.function.call(method, target, self.key, body, **headers)

    def calls(self, method: str, target: str, body: object = None, **headers: str) -> list[Call]:
        """Return the DynamoDB calls behind one request."""
        return self.call(method, target, body, **headers).calls

    def get(self, target: str) -> list[Call]:
        """Return the DynamoDB calls behind a GET."""
        return self.call("GET", target).calls

    def send(self, method: str, target: str, body: object = None) -> Any:
        """Return the parsed answer to a request, without recording. Raises `RequestError`."""
        return self.function.send(request_event(method, target, self.key, body))


def request_event(
    method: str, target: str, key: str, body: object = None, **headers: str
) -> dict[str, Any]:
    """Build the event that an HTTP API sends for a request."""
    path, _, query = target.partition("?")
    sent = {name.replace("_", "-"): text for name, text in headers.items()} | {"x-api-key": key}
    content = b"" if body is None else json.dumps(body).encode()
    return to_event(method, path, query, sent.items(), content, "127.0.0.1")


@contextmanager
def function() -> Iterator[Function]:
    """Run the function on empty tables in memory. Raises `RequestError` without an engine."""
    binary = engine.find_binary(_ROOT)
    if binary is None:
        raise RequestError("install the embedded database (npm ci): it counts the costs")
    with TemporaryDirectory() as name:
        running = engine.start(binary, None, Path(name) / "engine.log")
        try:
            with ExitStack() as kept:
                kept.enter_context(patch.dict(os.environ, local_aws(running.url)))
                for each in _LIFETIMES:  # reading it again would add a call to some request
                    kept.enter_context(patch(f"functions.{each}", 1000 * _KEY_CACHE_SECONDS))
                yield _build(Path(name))
        finally:
            running.stop()


def local_aws(url: str) -> dict[str, str]:
    """Return the environment variables that direct AWS clients to an engine."""
    return {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ENDPOINT_URL_DYNAMODB": url,
    }


def _build(folder: Path) -> Function:
    key_file, root_key = folder / "encryption.key", secrets.token_urlsafe(24)
    encryption_key = base64.b64encode(secrets.token_bytes(32))
    key_file.write_bytes(encryption_key)
    client = aws.create_client("dynamodb")
    memory = build_memory_table("memory")
    del memory["StreamSpecification"]  # no consumer reads it, and the engine never trims it
    for table in (memory, build_log_table("log")):
        client.create_table(**table)
    # A cached key expires after a minute, and reading it again would add a call to some request.
    ranges = {"key_cache_seconds": (0, _KEY_CACHE_SECONDS)}
    with patch.dict("functions.platform.settings._RANGES", ranges):
        settings = ApiSettings(
            memory_table="memory",
            log_table="log",
            root_key=root_key,
            encryption_key_file=str(key_file),
            key_cache_seconds=_KEY_CACHE_SECONDS,
        )
    logger.setLevel("ERROR")  # log lines would hide the table
    container = Container(settings, dynamodb=client)
    return Function(App(container), container, client, root_key, encryption_key)
