"""Run the whole service in this process, for users' tests: without ports, AWS or waiting."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import Any
from unittest.mock import patch

from functions.api.app import App
from functions.identity.store import create_api_key
from functions.local import bootstrap, gateway
from functions.local.background_tasks import remove_expired_items, run_schedule
from functions.local.data_folder import DataFolder, open_data_folder
from functions.local.database import use_only
from functions.local.file_server import FileServer
from functions.local.gateway import GatewayResponse, Headers
from functions.local.settings import LocalSettings
from functions.local.simulation import URL, Simulation
from functions.local.stream_mapping import DEAD_LETTERS, StreamMapping, StreamReader, find_stream
from functions.platform.archive_storage import FILES_PATH
from functions.platform.aws import create_client
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError
from functions.platform.observability import logger
from functions.platform.schema import build_log_table, build_memory_table
from functions.schedule.handler import build_handler as build_schedule_handler
from functions.stream.handler import build_handler as build_stream_handler

_LOCALHOST = "127.0.0.1"
_TASKS = "/api/v1/tasks/"


def to_request_event(method: str, target: bytes, headers: Headers, body: bytes) -> dict[str, Any]:
    """Build the event that an HTTP API sends for a request.

    Args:
        method: in uppercase.
        target: path and query, percent-encoded.
        headers: names in any case.
    """
    gateway.check_body_size(len(body))
    path, _, query = target.partition(b"?")
    return gateway.to_event(
        method, gateway.decode_path(path), query.decode("latin-1"), headers, body, _LOCALHOST
    )


class InProcess:
    """The three functions on a simulated DynamoDB. Safe for use by several threads.

    Attributes:
        dynamodb: a client that sees the tables as they are stored.
    """

    def __init__(self, folder: DataFolder, simulation: Simulation) -> None:
        self._folder = folder
        self._simulation = simulation
        self._root_key = create_api_key()
        self._delivering = Lock()
        self.dynamodb, self._streams = create_client("dynamodb"), create_client("dynamodbstreams")

    def begin(self, clock: Clock) -> str:
        """Drop all data, build new functions, and return the API key of the tenant's admin.

        The functions are new because the old ones cache data of the dropped tables.
        """
        self._clock = clock
        self._simulation.clear()
        shutil.rmtree(self._folder.archive, ignore_errors=True)
        for table in (
            build_memory_table(bootstrap.MEMORY_TABLE),
            build_log_table(bootstrap.LOG_TABLE),
        ):
            self.dynamodb.create_table(**table)
        reader = StreamReader(
            self._streams, find_stream(self.dynamodb, bootstrap.MEMORY_TABLE), self._folder
        )
        container = bootstrap.build_container(
            LocalSettings(root_key=self._root_key),
            self._folder,
            clock=clock,
            log_wait_seconds=0,
            dynamodb=self.dynamodb,
        )
        self._api, self._files = App(container), FileServer(container.folder_storage)
        self._schedule = build_schedule_handler(container)
        self._mapping = StreamMapping(build_stream_handler(container), reader, self._folder)
        body = json.dumps({"id": bootstrap.TENANT}).encode()
        response = self.call("POST", b"/api/v1/tenants", [("x-api-key", self._root_key)], body)
        return str(json.loads(response.body)["admin"]["api_key"])

    def call(self, method: str, target: bytes, headers: Headers, body: bytes) -> GatewayResponse:
        """Answer one HTTP request; the arguments are those of `to_request_event`."""
        path = target.partition(b"?")[0].decode("latin-1")
        if path.startswith(FILES_PATH):
            return self._files.handle(method, path, headers, body)
        try:
            event = to_request_event(method, target, headers, body)
        except ServiceError as error:
            return gateway.render_error(error)
        if method == "PATCH" and path.startswith(_TASKS):
            self._deliver()  # so that logs have the end of a task after earlier events
        return gateway.invoke(self._api, event)

    def settle(self) -> None:
        """Do all background work now: log events, expire, evict and archive."""
        self._deliver()
        swept = run_schedule(self._schedule, self._clock(), Event())
        if swept.get("failed"):
            raise RuntimeError(f"the sweep failed: {swept}; see the errors that are logged above")
        for table in (bootstrap.MEMORY_TABLE, bootstrap.LOG_TABLE):
            remove_expired_items(self.dynamodb, table, self._clock, Event())
        self._deliver()

    def _deliver(self) -> None:
        with self._delivering:
            self._mapping.run_once(Event())
        file = self._folder.path / DEAD_LETTERS
        if file.exists():
            letters = file.read_text()
            file.unlink()
            raise RuntimeError(f"the stream function failed to process: {letters}")


@contextmanager
def start_in_process() -> Iterator[InProcess]:
    """Start the service; call `begin` next.

    The environment is changed only during this call. Until the context ends, the service logs only
    warnings and errors.
    """
    level = logger.log_level
    logger.setLevel("WARNING")
    simulation = Simulation()
    try:
        with TemporaryDirectory() as path, open_data_folder(Path(path)) as folder:
            with patch.dict(os.environ), simulation.connect():
                use_only(URL)
                service = InProcess(folder, simulation)
            yield service
    finally:
        logger.setLevel(level)
