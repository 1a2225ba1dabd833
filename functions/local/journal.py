"""Keep a simulated DynamoDB's tables in a SQLite file, so that no acknowledged write is lost.

A write is on disk before its answer is sent. The file has the present items, not the history of
writes, so a start takes as long as there are items. Stream records stay until they are processed.
"""

import json
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from functions.local.settings import StartupError

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


class Place(NamedTuple):
    """A table and the key of an item in it."""

    table: str
    pk: str
    sk: str


class Journal:
    """The file. Only one thread may use it at a time.

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
        """Close the file."""
        self._connection.close()

    def name_stream(self, table: str, label: str) -> str:
        """Return the label of a table's stream: the stored one, or else this new one."""
        with self._connection as connection:
            connection.execute("INSERT OR IGNORE INTO streams VALUES (?, ?)", (table, label))
        query = "SELECT label FROM streams WHERE name = ?"
        return str(self._connection.execute(query, (table,)).fetchone()[0])

    def write(
        self,
        items: Iterable[tuple[Place, Document | None]],
        records: Iterable[tuple[str, int, Document]],
    ) -> None:
        """Store in one transaction what a request changed.

        Args:
            items: the present items; None if an item was deleted.
            records: new stream records, each with its table and its number.
        """
        with self._connection as connection:
            for place, item in items:
                if item is None:
                    connection.execute(_REMOVE, place)
                else:
                    connection.execute(_PUT, (*place, _encode(item)))
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
    """Decode a binary attribute; a member named `B` of a map is an object."""
    match value:
        case {"B": str(text), **others} if not others:
            return {"B": b64decode(text)}
        case {"BS": [*texts], **others} if not others:
            return {"BS": [b64decode(each) for each in texts]}
    return value
