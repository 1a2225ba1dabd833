"""Simulate DynamoDB in this process: moto answers at a separate address.

moto's `mock_aws` replaces all clients and the environment, and entering it again drops all data.
A user's tests may use it beside this service. Therefore only clients of this address get moto's
answers here, from separate backends. moto has no public interface for that, so its version is
pinned, and only this module uses its classes.

A journal keeps the tables in a SQLite file: a write is on disk before its response, so no
acknowledged write is lost. The file has the present items, not the history of writes, so the time
of a start depends on the number of items. Stream records stay until they are processed.
"""

import json
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from threading import Lock
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.handlers import BUILTIN_HANDLERS
from moto.core.botocore_stubber import MockRawResponse
from moto.core.model_instances import reset_model_data
from moto.core.request import normalize_request
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import StreamRecord, Table
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.models import DynamoDBStreamsBackend
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

from functions.local.settings import StartupError

URL = "http://dynamodb.agent-memory.invalid"  # RFC 2606: this host never exists
_REGION, _ACCOUNT = "us-east-1", "000000000000"
_SCHEMA = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS streams (name TEXT PRIMARY KEY, label TEXT);
    CREATE TABLE IF NOT EXISTS items
        (name TEXT, pk TEXT, sk TEXT, item TEXT, PRIMARY KEY (name, pk, sk)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS records
        (name TEXT, number INTEGER, record TEXT, PRIMARY KEY (name, number)) WITHOUT ROWID;
"""
_PUT = "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)"
_REMOVE = "DELETE FROM items WHERE name = ? AND pk = ? AND sk = ?"

Document = dict[str, Any]


class _Tables(DynamoDBBackend):
    """moto's tables, with cheaper transactions: moto would copy all items."""

    def create_table(self, name: str, *arguments: Any, **options: Any) -> Table:
        table = super().create_table(name, *arguments, **options)
        vars(table)["__deepcopy__"] = lambda _memo: table
        if table.stream_shard is not None:
            table.stream_shard.starting_sequence_number = 1  # SQLite stores no larger integers
        return table

    def transact_write_items(self, transact_items: list[dict[str, Any]]) -> None:
        operations = [next(iter(each.values())) for each in transact_items]
        touched = [(each["TableName"], each.get("Key") or each["Item"]) for each in operations]
        before = [(name, key, deepcopy(self.get_item(name, key))) for name, key in touched]
        shards = {self.get_table(name).stream_shard for name, _ in touched} - {None}
        lengths = [(shard, len(shard.items)) for shard in shards if shard is not None]
        try:
            super().transact_write_items(transact_items)
        except Exception:
            for name, key, item in before:
                self._restore(self.get_table(name), key, item)
            for shard, length in lengths:
                del shard.items[length:]
            raise

    def _restore(self, table: Table, key: dict[str, Any], item: Any) -> None:
        hash_key, range_key = self.get_keys_value(table, key)
        if item is None:
            table.items[hash_key].pop(range_key, None)
        else:
            table.items[hash_key][range_key] = item


class Journal:
    """The journal's file. Only one thread may use it at a time.

    Raises:
        StartupError: the file is not such a journal.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._connection = sqlite3.connect(file, check_same_thread=False)
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise StartupError(f"the database {file} can't be used: {error}") from error

    def close(self) -> None:
        self._connection.close()

    def name_stream(self, table: str, label: str) -> str:
        """Return the stored label of a table's stream; store this new one if there is none."""
        with self._connection as connection:
            connection.execute("INSERT OR IGNORE INTO streams VALUES (?, ?)", (table, label))
        query = "SELECT label FROM streams WHERE name = ?"
        return str(self._connection.execute(query, (table,)).fetchone()[0])

    def write(
        self,
        items: Iterable[tuple[tuple[str, str, str], Document | None]],
        records: Iterable[tuple[str, int, Document]],
    ) -> None:
        """Store in one transaction what a request changed.

        Args:
            items: the present items by table and key; None if an item was deleted.
            records: new stream records, each with its table and its number.
        """
        with self._connection as connection:
            for key, item in items:
                if item is None:
                    connection.execute(_REMOVE, key)
                else:
                    connection.execute(_PUT, (*key, _encode(item)))
            rows = ((name, number, _encode(record)) for name, number, record in records)
            connection.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)

    def trim(self, table: str, number: int) -> None:
        """Drop a table's stream records before this number."""
        with self._connection as connection:
            statement = "DELETE FROM records WHERE name = ? AND number < ?"
            connection.execute(statement, (table, number))

    def read_items(self, table: str) -> Iterator[Document]:
        """Yield the items of a table."""
        rows = self._connection.execute("SELECT item FROM items WHERE name = ?", (table,))
        return (_decode(item) for (item,) in rows)

    def read_records(self, table: str) -> list[tuple[int, Document]]:
        """Return the stream records of a table with their numbers, the oldest first."""
        statement = "SELECT number, record FROM records WHERE name = ? ORDER BY number"
        rows = self._connection.execute(statement, (table,))
        return [(number, _decode(record)) for number, record in rows]


def _encode(document: Document) -> str:
    return json.dumps(document, default=_encode_value)


def _encode_value(value: Any) -> str | float:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return float(value.timestamp())


def _decode(text: str) -> Document:
    decoded: Document = json.loads(text, object_hook=_decode_binary)
    return decoded


def _decode_binary(value: Document) -> Document:
    """Decode a binary attribute; in a map, a member named `B` is an object."""
    match value:
        case {"B": str(text), **others} if not others:
            return {"B": b64decode(text)}
        case {"BS": [*texts], **others} if not others:
            return {"BS": [b64decode(each) for each in texts]}
    return value


class Simulation:
    """Tables in memory. Safe for use by several threads, which moto itself isn't.

    Args:
        journal: keeps the tables; None drops them at the end.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        self._lock = Lock()
        self._journal = journal
        self.clear()

    def clear(self) -> None:
        """Drop all tables from memory."""
        reset_model_data()  # moto keeps deleted items, too, for its dashboard
        self._tables = _Tables(_REGION, _ACCOUNT)
        streams = _with(DynamoDBStreamsBackend, dynamodb=self._tables)(_REGION, _ACCOUNT)
        self._dynamodb = _with(DynamoHandler, dynamodb_backend=self._tables)
        self._dynamodb_streams = _with(DynamoDBStreamsHandler, backend=streams)

    @contextmanager
    def connect(self) -> Iterator[None]:
        """Answer the requests of all AWS clients for `URL` that are created in this context."""
        registration = ("before-send", self._answer)
        BUILTIN_HANDLERS.append(registration)
        try:
            yield
        finally:
            BUILTIN_HANDLERS.remove(registration)

    def trim(self, name: str, number: int) -> None:
        """Drop a table's stream records before this number; all of them must be processed."""
        with self._lock:
            shard = self._tables.get_table(name).stream_shard
            if shard is not None and number > shard.starting_sequence_number:
                del shard.items[: number - shard.starting_sequence_number]
                shard.starting_sequence_number = number
            if self._journal is not None:
                self._journal.trim(name, number)

    def _answer(self, request: AWSPreparedRequest, **_event: Any) -> AWSResponse | None:
        if not request.url.startswith(URL):
            return None
        normal = normalize_request(request)
        service, _, operation = normal.headers["X-Amz-Target"].partition(".")
        is_stream = service.startswith("DynamoDBStreams_")
        with self._lock:
            shards = ((name, each.stream_shard) for name, each in self._tables.tables.items())
            lengths = {name: len(shard.items) for name, shard in shards if shard is not None}
            handler = self._dynamodb_streams if is_stream else self._dynamodb
            status, headers, body = handler.dispatch(normal, normal.raw_url, normal.headers)
            if status == 200 and self._journal is not None:
                self._record(self._journal, operation, json.loads(normal.data), lengths)
        return AWSResponse(request.url, status, headers, MockRawResponse(body))

    def _record(
        self, journal: Journal, operation: str, request: dict[str, Any], lengths: dict[str, int]
    ) -> None:
        if operation == "CreateTable":
            _fill(self._tables.get_table(request["TableName"]), journal)
        elif keys := list(_list_keys(operation, request)):
            items = [(key, self._find(*key)) for key in keys]
            journal.write(items, self._list_new_records(lengths))

    def _find(self, name: str, pk: str, sk: str) -> dict[str, Any] | None:
        item = self._tables.get_item(name, {"pk": {"S": pk}, "sk": {"S": sk}})
        return None if item is None else dict(item.to_json()["Attributes"])

    def _list_new_records(
        self, lengths: dict[str, int]
    ) -> Iterator[tuple[str, int, dict[str, Any]]]:
        for name, length in lengths.items():
            shard: Any = self._tables.get_table(name).stream_shard
            for place in range(length, len(shard.items)):
                yield name, shard.starting_sequence_number + place, shard.items[place].to_json()


def _list_keys(operation: str, request: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    changes: list[dict[str, Any]] = []
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            changes = [request]
        case "BatchWriteItem":
            changes = [
                {"TableName": table} | next(iter(each.values()))
                for table, requests in request["RequestItems"].items()
                for each in requests
            ]
        case "TransactWriteItems":
            changes = [next(iter(each.values())) for each in request["TransactItems"]]
    for change in changes:
        key = change.get("Key") or change["Item"]
        yield change["TableName"], key["pk"]["S"], key["sk"]["S"]


def _fill(table: Table, journal: Journal) -> None:
    for item in journal.read_items(table.name):
        table.put_item(item)
    if (shard := table.stream_shard) is not None:
        table.latest_stream_label = journal.name_stream(table.name, str(table.latest_stream_label))
        records = journal.read_records(table.name)
        shard.items = [_restore_record(record) for _, record in records]
        shard.starting_sequence_number = records[0][0] if records else 1


def _restore_record(stored: dict[str, Any]) -> StreamRecord:
    record: StreamRecord = object.__new__(StreamRecord)
    record.record = stored
    return record


def _with(base: type, **backends: object) -> Any:
    return type(base.__name__, (base,), backends)
