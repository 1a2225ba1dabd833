"""The API function in this process, on an engine in memory, with every DynamoDB call in sight."""

import base64
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.capacity import Call, recorded
from benchmarks.imports import import_items
from benchmarks.seeding_client import SeedingClient
from functions.api.app import App
from functions.container import Container
from functions.local import engine
from functions.local.gateway import Handler, LocalContext, to_event
from functions.platform import aws
from functions.platform.observability import logger
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ApiSettings
from functions.platform.writes import Write

_ROOT = Path(__file__).parents[1]
_KEY_CACHE_SECONDS = 86_400


class RequestError(RuntimeError):
    """The function refused a request that the benchmark needs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The parsed body of an answer (None if there is none) and the DynamoDB calls behind it."""

    body: Any
    calls: list[Call]


@dataclass(frozen=True, slots=True)
class Function:
    """The API function.

    Attributes:
        root_key: its operator's.
        encryption_key: the content of its file.
        seeder: the same function, but with a client that gathers what is written.
    """

    handler: Handler
    client: Any
    root_key: str
    encryption_key: bytes
    seeder: tuple[Handler, SeedingClient]

    @contextmanager
    def seeding(self) -> Iterator["Function"]:
        """The function for requests that make elements fast; they are stored when it ends."""
        handler, client = self.seeder
        client.load("memory")
        yield replace(self, handler=handler)
        client.flush()

    def call(
        self, method: str, target: str, key: str, body: object = None, **headers: str
    ) -> Answer:
        """One request; `if_match` names the header If-Match. Raises `RequestError`."""
        with recorded(self.client) as calls:
            parsed = self.send(request_event(method, target, key, body, **headers))
        return Answer(parsed, calls)

    def send(self, event: dict[str, Any]) -> Any:
        """The parsed answer to an event, unrecorded. Raises `RequestError`."""
        answer = self.answer(event)
        return json.loads(answer["body"]) if answer.get("body") else None

    def answer(self, event: dict[str, Any]) -> dict[str, Any]:
        """The answer to an event as Lambda hands it on. Raises `RequestError`."""
        answer = self.handler(event, LocalContext())
        if answer["statusCode"] >= 400:
            raise RequestError(f"{event['rawPath']}: {answer['statusCode']} {answer['body']}")
        return answer

    def new_tenant(self, name: str) -> "Caller":
        """A new tenant's administrator."""
        made = self.call("POST", "/api/v1/tenants", self.root_key, {"id": name}).body["admin"]
        return Caller(self, made["id"], made["api_key"])

    def new_agent(self, admin: "Caller", name: str) -> "Caller":
        """A new agent of the administrator's tenant."""
        made = admin.send("POST", "/api/v1/principals", {"id": name, "kind": "agent"})
        return Caller(self, name, made["api_key"])


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls the function: a principal's id and key."""

    function: Function
    id: str
    key: str

    @contextmanager
    def seeding(self) -> Iterator["Caller"]:
        """The same caller of `Function.seeding`."""
        with self.function.seeding() as function:
            yield replace(self, function=function)
        self.get("/api/v1/principals?limit=1")  # has the function remember the key

    def call(self, method: str, target: str, body: object = None, **headers: str) -> Answer:
        """One recorded request; as `Function.call`."""
        return self.function.call(method, target, self.key, body, **headers)

    def get(self, target: str) -> list[Call]:
        """The calls behind one GET."""
        return self.call("GET", target).calls

    def send(self, method: str, target: str, body: object = None) -> Any:
        """The parsed answer to a request that is not measured. Raises `RequestError`."""
        return self.function.send(request_event(method, target, self.key, body))


def request_event(
    method: str, target: str, key: str, body: object = None, **headers: str
) -> dict[str, Any]:
    """What an HTTP API sends the function for a request."""
    path, _, query = target.partition("?")
    sent = {name.replace("_", "-"): text for name, text in headers.items()} | {"x-api-key": key}
    content = b"" if body is None else json.dumps(body).encode()
    return to_event(method, path, query, sent.items(), content, "127.0.0.1")


@contextmanager
def function(stored: Iterable[Write] | None = None) -> Iterator[Function]:
    """The function on empty tables, or on one that holds what is put by `stored`.

    Raises `RequestError` where the engine has no build.
    """
    with (
        TemporaryDirectory() as folder,
        running_engine(Path(folder), stored) as url,
        patch.dict(os.environ, local_aws(url)),
    ):
        yield built_here()


@contextmanager
def running_engine(folder: Path, stored: Iterable[Write] | None = None) -> Iterator[str]:
    """The address of an engine in memory, or on a file of the folder that holds what is stored.

    Raises `RequestError` where it has no build.
    """
    binary = engine.find_binary(_ROOT)
    if binary is None:
        raise RequestError("the costs are read from the embedded database, which is not here")
    table = _build_memory_table()
    database = None if stored is None else import_items(binary, folder, table, stored)
    running = engine.start(binary, database, folder / "engine.log")
    try:
        yield running.url
    finally:
        running.stop()


def local_aws(url: str) -> dict[str, str]:
    """The environment that leads AWS clients to an engine."""
    return {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ENDPOINT_URL_DYNAMODB": url,
    }


def built_here() -> Function:
    """The function on new tables of the DynamoDB that the environment names."""
    with TemporaryDirectory() as folder:
        return _built(Path(folder))


def _built(folder: Path) -> Function:
    key_file, root_key = folder / "encryption.key", secrets.token_urlsafe(24)
    encryption_key = base64.b64encode(secrets.token_bytes(32))
    key_file.write_bytes(encryption_key)
    client = aws.create_client("dynamodb")
    existing = client.list_tables()["TableNames"]
    for table in (_build_memory_table(), build_log_table("log")):
        if table["TableName"] not in existing:
            client.create_table(**table)
    # a key that is read again after a minute would be a call more, wherever that falls
    with patch("functions.platform.limits.MAX_KEY_CACHE_SECONDS", _KEY_CACHE_SECONDS):
        settings = ApiSettings(
            memory_table="memory",
            log_table="log",
            root_key=root_key,
            encryption_key_file=str(key_file),
            key_cache_seconds=_KEY_CACHE_SECONDS,
        )
    logger.setLevel("ERROR")  # a line a request would bury the table
    app, seeder = _start(settings, client), SeedingClient(client)
    seeder.load("memory")  # the app has made the deployment's secret
    handlers = (_start(settings, seeder), seeder)
    return Function(app, client, root_key, encryption_key, handlers)


def _start(settings: ApiSettings, client: Any) -> App:
    with patch("functions.common_services.create_client", return_value=client):
        return App(Container(settings))


def _build_memory_table() -> dict[str, Any]:
    table = build_memory_table("memory")
    del table["StreamSpecification"]  # nobody reads it here, and the engine never trims it
    return table
