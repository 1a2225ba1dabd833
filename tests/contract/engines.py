"""The DynamoDB engines that every contract test runs on."""

import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.platform.schema import log_table, memory_table

_ROOT = Path(__file__).parents[2]
_IN_PROJECT = _ROOT / "node_modules/@dynoxide/linux-x64/dynoxide"
_START_SECONDS = 10


@dataclass(frozen=True)
class Engine:
    """One running engine with the service's two tables.

    Attributes:
        name: `moto` or `dynoxide`.
        parallel: whether several threads may call it at once.
        takes_volume: whether its speed doesn't fall with what it holds.
        environment: what another process needs to reach it; empty where none can.
    """

    name: str
    parallel: bool
    takes_volume: bool
    environment: dict[str, str]
    memory: str
    log: str
    client: Any

    def make_tables(self) -> None:
        """Makes both tables."""
        self.client.create_table(**memory_table(self.memory))
        self.client.create_table(**log_table(self.log))

    def drop_tables(self) -> None:
        """Drops both tables with all they hold."""
        for name in (self.memory, self.log):
            self.client.delete_table(TableName=name)

    def items(self) -> list[dict[str, Any]]:
        """Every stored item of both tables, in DynamoDB's typed form."""
        pages = self.client.get_paginator("scan")
        return [
            item
            for name in (self.memory, self.log)
            for page in pages.paginate(TableName=name)
            for item in page["Items"]
        ]


def _engine(name: str, *, simulated: bool, environment: dict[str, str]) -> Engine:
    mark = uuid.uuid4().hex[:8]
    client = boto3.client("dynamodb")
    tables = f"memory-{mark}", f"log-{mark}"
    return Engine(name, not simulated, not simulated, environment, *tables, client)


@contextmanager
def moto() -> Iterator[Engine]:
    """moto in this process; nothing else may call AWS meanwhile."""
    with mock_aws():
        yield _engine("moto", simulated=True, environment={})


@contextmanager
def dynoxide() -> Iterator[Engine]:
    """dynoxide in memory, as a child process on a free loopback port."""
    binary = _IN_PROJECT if _IN_PROJECT.exists() else shutil.which("dynoxide")
    if binary is None:
        pytest.skip(f"dynoxide is neither at {_IN_PROJECT.relative_to(_ROOT)} nor on PATH")
    port = free_port()
    command = [str(binary), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            await_port(port, child)
            where = {"AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{port}"}
            with pytest.MonkeyPatch.context() as patch:
                for variable, value in where.items():
                    patch.setenv(variable, value)
                yield _engine("dynoxide", simulated=False, environment=where)
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
