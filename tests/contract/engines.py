"""The DynamoDB engines that contract tests run on."""

import base64
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from functions.local import engine
from functions.platform.schema import build_log_table, build_memory_table

_ROOT = Path(__file__).parents[2]
_IN_PROJECT = _ROOT / "node_modules/@dynoxide/linux-x64/dynoxide"
_START_SECONDS = 60  # far more than it takes
_ALL_ITEMS = 'SELECT item_json FROM "{}" ORDER BY pk, sk'
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder is made in it


@dataclass(frozen=True)
class Engine:
    """One running engine with the service's two tables.

    Attributes:
        name: `moto` or `dynoxide`.
        parallel: whether several threads may call it at once.
        takes_volume: whether its speed doesn't fall with what it holds.
        environment: what another process needs to reach it; empty where none can.
        database: the file that it keeps everything in, if that is ours.
        kept: what stays in the memory table when it is emptied, as rows of the file or as items.
    """

    name: str
    parallel: bool
    takes_volume: bool
    environment: dict[str, str]
    memory: str
    log: str
    client: Any
    database: Path | None = None
    kept: list[Any] = field(default_factory=list)

    def make_tables(self) -> None:
        self.client.create_table(**build_memory_table(self.memory))
        self.client.create_table(**build_log_table(self.log))

    def empty_tables(self) -> None:
        """Empties both tables and their stream: in the file, which takes a tenth of remaking."""
        if self.database is not None:
            _empty_file(self.database, (self.memory, self.log), self.kept)
            return
        for name in (self.memory, self.log):
            self.client.delete_table(TableName=name)
        self.make_tables()
        for item in self.kept:
            self.client.put_item(TableName=self.memory, Item=item)

    def keep_items(self) -> None:
        """Have what is stored now stay when the tables are emptied."""
        stored = self.items() if self.database is None else _read_rows(self.database, self.memory)
        self.kept.extend(stored)

    def items(self) -> list[dict[str, Any]]:
        """Every stored item of both tables, in DynamoDB's typed form.

        They are read from the file where there is one: that takes a tenth of a scan's CPU.
        """
        if self.database is not None:
            return _read_file(self.database, (self.memory, self.log))
        pages = self.client.get_paginator("scan")
        return [
            item
            for name in (self.memory, self.log)
            for page in pages.paginate(TableName=name)
            for item in page["Items"]
        ]


def _engine(name: str, *, environment: dict[str, str], database: Path | None = None) -> Engine:
    mark = uuid.uuid4().hex[:8]
    client = boto3.client("dynamodb", config=Config(parameter_validation=False))
    tables, real = (f"memory-{mark}", f"log-{mark}"), database is not None
    return Engine(name, real, real, environment, *tables, client, database)


def _empty_file(database: Path, tables: tuple[str, ...], kept: list[Any]) -> None:
    """Delete the rows of tables, of their indexes and of their streams from the engine's file.

    What is kept is put back into the first table.
    """
    with closing(sqlite3.connect(database, timeout=_START_SECONDS)) as connection, connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        for (name,) in found:
            if name.partition("::")[0] in tables:
                connection.execute(f'DELETE FROM "{name}"')  # noqa: S608 - the engine's own names
        connection.execute("DELETE FROM _stream_records")
        for row in kept:
            places = ", ".join("?" * len(row))
            connection.execute(f'INSERT INTO "{tables[0]}" VALUES ({places})', row)  # noqa: S608


def _read_rows(database: Path, table: str) -> list[Any]:
    """Read the rows of a table from the engine's file."""
    with closing(sqlite3.connect(database, timeout=_START_SECONDS)) as connection:
        return connection.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608


def _read_file(database: Path, tables: tuple[str, ...]) -> list[dict[str, Any]]:
    """Read all items of tables from the engine's file."""
    with closing(sqlite3.connect(database, timeout=_START_SECONDS)) as connection:
        return [
            json.loads(text, object_hook=_decode_binary)
            for table in tables
            for (text,) in connection.execute(_ALL_ITEMS.format(table))
        ]


def _decode_binary(attribute: dict[str, Any]) -> dict[str, Any]:
    """Decode a typed attribute that is binary; a map may have a field of the type's name."""
    binary = attribute.get("B")
    return {"B": base64.b64decode(binary)} if isinstance(binary, str) else attribute


def find_dynoxide() -> str | None:
    """Find the embedded engine's binary: the project's own, or one on the PATH."""
    return str(_IN_PROJECT) if _IN_PROJECT.exists() else shutil.which("dynoxide")


@contextmanager
def moto() -> Iterator[Engine]:
    with mock_aws():
        yield _engine("moto", environment={})


@contextmanager
def dynoxide() -> Iterator[Engine]:
    """A dynoxide with a new file, as a child process on a free loopback port."""
    binary = find_dynoxide()
    if binary is None:
        pytest.skip(f"dynoxide is neither at {_IN_PROJECT.relative_to(_ROOT)} nor on PATH")
    port = free_port()
    with TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as folder:
        database = Path(folder) / "engine.db"
        with _serving(binary, port, database):
            engine.index_stream(database)
            where = {"AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{port}"}
            with pytest.MonkeyPatch.context() as patch:
                for variable, value in where.items():
                    patch.setenv(variable, value)
                yield _engine("dynoxide", environment=where, database=database)


@contextmanager
def _serving(binary: str, port: int, database: Path) -> Iterator[None]:
    where = ["--host", "127.0.0.1", "--port", str(port), "--db-path", str(database)]
    command = [binary, "serve", *where]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            await_port(port, child)
            yield
        finally:
            child.terminate()


def free_port() -> int:
    """A loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_port(port: int, child: "subprocess.Popen[Any]") -> None:
    """Returns as soon as `child` listens on `port`.

    Raises:
        RuntimeError: it ended, or didn't listen in time.
    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.005)
    raise RuntimeError(f"{child.args!r} does not listen on port {port}")
