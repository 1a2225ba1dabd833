"""Open the database: the embedded engine, moto with a journal, or the user's DynamoDB."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from functions.local import private_network
from functions.local.data_folder import DataFolder
from functions.local.engine import Engine, find_binary, index_stream, start, trim_stream
from functions.local.settings import REAL_AWS, LocalSettings, StartupError
from functions.platform.aws import create_client

_ENDPOINT = "AWS_ENDPOINT_URL_DYNAMODB"
_STREAMS_ENDPOINT = "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"
_OWN_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
_OWN_REGION = {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"}
_NO_PROXY = ("NO_PROXY", "no_proxy")
Trim = Callable[[str, int], None]
"""Drops a table's stream records before a number."""


@dataclass(frozen=True, slots=True)
class Database:
    """The DynamoDB that the environment's AWS variables select.

    Attributes:
        description: its location, for the user.
        engine: the child process; None if there is none.
        is_private: True if only this process and its children can reach the engine.
        is_simulated: True if moto serves, with a journal on disk.
        trim: drops a table's stream records before a number; None if the database does so itself.
    """

    description: str
    engine: Engine | None = None
    is_private: bool = True
    is_simulated: bool = False
    trim: Trim | None = None


@contextmanager
def open_database(settings: LocalSettings, folder: DataFolder, root: Path) -> Iterator[Database]:
    """Connect to the database that the settings select; stop an embedded one at the end.

    If the platform allows it, this process moves to a private network with the engine. Call this
    before any thread is started, and after the service's address is bound.

    Args:
        root: the project's folder; npm has installed the engine there.
    """
    if settings.dynamodb is not None:
        yield _use_named(settings.dynamodb)
        return
    binary = find_binary(root)
    if folder.journal.exists():  # the journal has the data, even if an engine was installed since
        binary = None
    _assert_readable(binary, folder)
    with _simulate(folder) if binary is None else _run_engine(binary, folder) as database:
        yield database


def _assert_readable(binary: Path | None, folder: DataFolder) -> None:
    if binary is None and folder.database.exists():
        raise StartupError(
            f"{folder.database} needs the embedded database, which is not installed for this "
            "platform; put `dynoxide` on the PATH, or choose another folder with AGENT_MEMORY_DATA"
        )
    if binary is None and not find_spec("moto"):
        raise StartupError(
            "the embedded database is not installed: in a checkout, run `make run`; otherwise run "
            f"`pip install 'agent-memory-runtime[local]'`, or set {_ENDPOINT} to the URL of "
            "another DynamoDB"
        )


def _use_named(dynamodb: str) -> Database:
    if dynamodb == REAL_AWS:
        os.environ.pop(_ENDPOINT, None)
        return Database("DynamoDB of your AWS account")
    os.environ.setdefault(_STREAMS_ENDPOINT, dynamodb)
    session = boto3.session.Session()
    if session.region_name is None:
        os.environ.update(_OWN_REGION)
    if session.get_credentials() is None:
        os.environ.update(_OWN_CREDENTIALS)
    return Database(dynamodb)


@contextmanager
def _run_engine(binary: Path, folder: DataFolder) -> Iterator[Database]:
    is_private = private_network.enter()
    engine = start(binary, folder.database, folder.engine_log)
    try:
        index_stream(folder.database)
        use_only(engine.url)
        trim = partial(trim_stream, folder.database)
        yield Database(str(folder.database), engine, is_private, trim=trim)
    finally:
        engine.stop()


@contextmanager
def _simulate(folder: DataFolder) -> Iterator[Database]:
    # moto is imported only on platforms without a build of the engine
    from functions.local.simulation import URL, Journal, Simulation  # noqa: PLC0415

    with closing(Journal(folder.journal)) as journal:
        simulation = Simulation(journal)
        with simulation.connect():
            use_only(URL)
            yield Database(str(folder.journal), is_simulated=True, trim=simulation.trim)


def use_only(endpoint: str) -> None:
    """Separate the AWS SDK from the user's accounts, profiles and proxies.

    Args:
        endpoint: the URL of the only DynamoDB that the SDK can reach.
    """
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= _OWN_CREDENTIALS | _OWN_REGION
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    os.environ["AWS_ACCOUNT_ID_ENDPOINT_MODE"] = "disabled"  # moto's streams know no such hosts
    os.environ[_ENDPOINT] = os.environ[_STREAMS_ENDPOINT] = endpoint
    for name in _NO_PROXY:
        others = os.environ.get(name)
        os.environ[name] = f"{others},127.0.0.1" if others else "127.0.0.1"


def ensure_tables(*tables: dict[str, Any]) -> None:
    """Create missing tables, and wait until all are active.

    Args:
        tables: arguments of CreateTable.
    """
    try:
        dynamodb = create_client("dynamodb")
        for table in tables:
            _ensure_table(dynamodb, table)
    except (BotoCoreError, ClientError) as error:
        raise StartupError(f"DynamoDB can't be used: {' '.join(str(error).split())}") from error


def _ensure_table(dynamodb: Any, table: dict[str, Any]) -> None:
    name = table["TableName"]
    try:
        dynamodb.describe_table(TableName=name)
    except dynamodb.exceptions.ResourceNotFoundException:
        dynamodb.create_table(**table)
    dynamodb.get_waiter("table_exists").wait(
        TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
    )
