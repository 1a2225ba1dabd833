"""The API function in this process, on an engine in memory, with every DynamoDB call in sight."""

import base64
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.capacity import Call, recorded
from functions.api.handler import build
from functions.local import engine
from functions.local.context import LocalContext
from functions.local.gateway import to_event
from functions.platform import aws
from functions.platform.observability import logger
from functions.platform.schema import log_table, memory_table
from functions.platform.settings import ApiSettings

_ROOT = Path(__file__).parents[1]


class RequestError(RuntimeError):
    """The function refused a request that the benchmark needs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The parsed body of an answer (None if there is none) and the DynamoDB calls behind it."""

    body: Any
    calls: list[Call]


@dataclass(frozen=True, slots=True)
class Function:
    """The API function; `root_key` is its operator's."""

    handler: Callable[[dict[str, Any], object], dict[str, Any]]
    client: Any
    root_key: str

    def call(
        self, method: str, target: str, key: str, body: object = None, **headers: str
    ) -> Answer:
        """One request; `if_match` names the header If-Match. Raises `RequestError`."""
        path, _, query = target.partition("?")
        sent = {name.replace("_", "-"): text for name, text in headers.items()} | {"x-api-key": key}
        content = b"" if body is None else json.dumps(body).encode()
        event = to_event(method, path, query, sent.items(), content, "127.0.0.1")
        with recorded(self.client) as calls:
            answer = self.handler(event, LocalContext("benchmark"))
        if answer["statusCode"] >= 400:
            raise RequestError(f"{method} {target}: {answer['statusCode']} {answer['body']}")
        return Answer(json.loads(answer["body"]) if answer.get("body") else None, calls)


@contextmanager
def function() -> Iterator[Function]:
    """The function on empty tables. Raises `CannotServe` where the engine has no build."""
    with TemporaryDirectory() as folder, _engine(Path(folder)) as url:
        credentials = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
        place = {"AWS_ENDPOINT_URL_DYNAMODB": url, "AWS_REGION": "eu-central-1"}
        place["AWS_DEFAULT_REGION"] = place["AWS_REGION"]
        with patch.dict(os.environ, credentials | place):
            yield _built(Path(folder))


@contextmanager
def _engine(folder: Path) -> Iterator[str]:
    binary = engine.find_binary(_ROOT)
    if binary is None:
        raise RequestError("the costs are read from the embedded database, which is not here")
    running = engine.start(binary, None, folder / "engine.log")
    try:
        yield running.url
    finally:
        running.stop()


def _built(folder: Path) -> Function:
    key_file, root_key = folder / "encryption.key", secrets.token_urlsafe(24)
    key_file.write_bytes(base64.b64encode(secrets.token_bytes(32)))
    client = aws.client("dynamodb")
    table = memory_table("memory")
    del table["StreamSpecification"]  # nobody reads it here, and the engine never trims it
    client.create_table(**table)
    client.create_table(**log_table("log"))
    settings = ApiSettings(
        memory_table="memory",
        log_table="log",
        root_key=root_key,
        encryption_key_file=str(key_file),
    )
    logger.setLevel("ERROR")  # a line a request would bury the table
    with patch("functions.api.services.client", return_value=client):
        return Function(build(settings), client, root_key)
