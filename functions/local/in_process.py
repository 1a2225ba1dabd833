"""The whole service in this process, for tests of what uses it: no port, no AWS, no time passes."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any
from unittest.mock import patch

from functions.local import data_folder, ttl
from functions.local.answer import Answer, Refused, problem
from functions.local.bootstrap import LOG_TABLE, MEMORY_TABLE, TENANT, prepare
from functions.local.context import LocalContext
from functions.local.data_folder import DataFolder
from functions.local.database import Database, point_only_at
from functions.local.gateway import check_size, decoded_path, invoke, to_event
from functions.local.schedule import to_event as to_scheduled_event
from functions.local.settings import LocalSettings
from functions.local.shards import Shards
from functions.local.simulation import URL, Simulation
from functions.local.streams import DEAD_LETTERS, StreamMapping
from functions.platform.aws import create_client
from functions.platform.clock import Clock, now_ms
from functions.platform.identity_keys import new_api_key
from functions.platform.observability import logger
from functions.platform.schema import log_table, memory_table

_LOCALHOST = "127.0.0.1"
Headers = Iterable[tuple[str, str]]


def request_event(method: str, target: bytes, headers: Headers, body: bytes) -> dict[str, Any]:
    """The event that an HTTP API sends for a request.

    Args:
        method: in capitals.
        target: path and query, percent-encoded.
        headers: names in any case.
        body: as it came.

    Raises:
        Refused: the gateway doesn't let it through.
    """
    check_size(len(body))
    path, _, query = target.partition(b"?")
    return to_event(method, decoded_path(path), query.decode("latin-1"), headers, body, _LOCALHOST)


class InProcess:
    """The three functions on a simulated DynamoDB. Safe for use by several threads.

    Attributes:
        dynamodb: a client that sees the tables as they are stored.
    """

    def __init__(self, folder: DataFolder, simulation: Simulation) -> None:
        self._folder = folder
        self._simulation = simulation
        self._clock: Clock = now_ms
        self._root_key = new_api_key()
        self.dynamodb, self._streams = create_client("dynamodb"), create_client("dynamodbstreams")
        settings = LocalSettings(root_key=self._root_key)
        database = Database("moto, in memory")
        self._service = prepare(settings, folder, database, self._now)
        self._mapping = self._new_mapping()

    def _now(self) -> int:
        return self._clock()

    def begin(self, clock: Clock) -> str:
        """Forgets everything and starts anew; the API key of an all-permission user.

        Args:
            clock: what the time is from now on, in epoch milliseconds.
        """
        self._clock = clock
        self._simulation.clear()
        for table in (memory_table(MEMORY_TABLE), log_table(LOG_TABLE)):
            self.dynamodb.create_table(**table)
        self._mapping = self._new_mapping()
        asked = json.dumps({"id": TENANT}).encode()
        answer = self.answer("POST", b"/api/v1/tenants", [("x-api-key", self._root_key)], asked)
        return str(json.loads(answer.body)["admin"]["api_key"])

    def _new_mapping(self) -> StreamMapping:
        table = self.dynamodb.describe_table(TableName=MEMORY_TABLE)["Table"]
        shards = Shards(self._streams, table["LatestStreamArn"], self._folder)
        return StreamMapping(self._service.lifecycle, shards, self._folder, None)

    def answer(self, method: str, target: bytes, headers: Headers, body: bytes) -> Answer:
        """Carries out one HTTP request; the arguments are those of `request_event`."""
        try:
            event = request_event(method, target, headers, body)
        except Refused as refused:
            return problem(refused)
        return invoke(self._service.handler, event)

    def settle(self) -> None:
        """Does at once what time would bring: events into logs, expiry, eviction, archival.

        Raises:
            RuntimeError: the service itself failed at it.
        """
        self._deliver()
        context = LocalContext("settle", function_name="agent-memory-sweep")
        swept = self._service.maintenance(to_scheduled_event(self._clock()), context)
        if swept.get("failed"):
            raise RuntimeError(f"the sweep failed: {swept}; what is logged above says where")
        for table in (MEMORY_TABLE, LOG_TABLE):
            ttl.remove_outlived(self.dynamodb, table, self._clock, Event())
        self._deliver()

    def _deliver(self) -> None:
        self._mapping.turn(Event())
        letters = self._folder.path / DEAD_LETTERS
        if letters.exists():
            told = letters.read_text()
            letters.unlink()
            raise RuntimeError(f"the stream function gave up on: {told}")


@contextmanager
def started() -> Iterator[InProcess]:
    """The service, before `begin`. The environment is as before as soon as this has been entered.

    Meanwhile the service logs warnings and errors only.
    """
    level = logger.log_level
    logger.setLevel("WARNING")
    simulation = Simulation()
    try:
        with TemporaryDirectory() as path, data_folder.opened(Path(path)) as folder:
            with patch.dict(os.environ), simulation.connected():
                point_only_at(URL)
                service = InProcess(folder, simulation)
            yield service
    finally:
        logger.setLevel(level)
