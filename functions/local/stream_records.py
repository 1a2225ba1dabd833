"""Keeps the engine's change log small and quick.

The engine looks up the newest record of a table at each write, without an index, and never drops
one: after 40,000 records a write costs forty times what it did. Both are mended in its database.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from functions.local.failure import CannotServe

_PATIENCE = 10.0  # seconds to wait for the engine's own writes

_INDEX = """
    CREATE INDEX IF NOT EXISTS agent_memory_stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
    DROP TRIGGER IF EXISTS agent_memory_stream_trim;
"""  # an earlier release trimmed by a trigger, whether the records had been read or not
_TRIM = """
    DELETE FROM _stream_records
    WHERE table_name = ? AND CAST(sequence_number AS INTEGER) < ?
"""


def index(database: Path) -> None:
    """Indexes the change log of a database; the engine may be running.

    Raises:
        CannotServe: this is no database of an engine that is known here.
    """
    try:
        with _connected(database) as connection:
            connection.executescript(f"BEGIN IMMEDIATE;{_INDEX}COMMIT;")
    except sqlite3.Error as error:
        raise CannotServe(f"the database {database} can't be prepared: {error}") from error


def trim(database: Path, table: str, passed: int) -> None:
    """Drops a table's records before number `passed`, which must have been worked off.

    That one stays: the engine numbers the next record after the newest that it finds.

    Raises:
        sqlite3.Error: not now.
    """
    with _connected(database) as connection, connection:
        connection.execute(_TRIM, (table, passed))


@contextmanager
def _connected(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=_PATIENCE)) as connection:
        yield connection
