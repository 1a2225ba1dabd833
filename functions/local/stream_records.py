"""Keep the engine's change stream small and fast, in the engine's SQLite file.

On each write, the engine searches a table's newest stream record without an index, and it never
drops records: after 40,000 records, a write costs forty times as much. The engine has no option
for either. Therefore this module adds an index and deletes processed records.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from functions.local.settings import StartupError

_LOCK_TIMEOUT = 10.0  # seconds to wait for the engine's own writes

_INDEX = """
    CREATE INDEX IF NOT EXISTS agent_memory_stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER))
"""
_TRIM = """
    DELETE FROM _stream_records
    WHERE table_name = ? AND CAST(sequence_number AS INTEGER) < ?
"""


def create_index(database: Path) -> None:
    """Index the stream records of a database; the engine may be running."""
    try:
        with _connect(database) as connection, connection:
            connection.execute(_INDEX)
    except sqlite3.Error as error:
        raise StartupError(f"the database {database} can't be prepared: {error}") from error


def trim(database: Path, table: str, sequence: int) -> None:
    """Drop a table's records before number `sequence`; all of them must be processed.

    The record `sequence` stays, because the engine numbers the next record after the newest one.
    """
    with _connect(database) as connection, connection:
        connection.execute(_TRIM, (table, sequence))


@contextmanager
def _connect(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=_LOCK_TIMEOUT)) as connection:
        yield connection
