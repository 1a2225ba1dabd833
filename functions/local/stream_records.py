"""Keeps the engine's change log small and quick.

The engine looks up the newest record of a table at each write, without an index, and never drops
one: after 40,000 records a write costs forty times what it did. Both are mended in its database.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from functions.local.failure import CannotServe

KEPT = 10_000  # the newest records of each table
_TRIMMED_EVERY = 100  # records, so that one write in a hundred pays for it


def bound(database: Path, kept: int = KEPT) -> None:
    """Indexes the change log of a database, and trims it from now on; the engine may be running.

    Raises:
        CannotServe: this is no database of an engine that is known here.
    """
    try:
        with closing(sqlite3.connect(database, timeout=10)) as connection:
            connection.executescript(f"BEGIN IMMEDIATE;{_cure(kept)}COMMIT;")
    except sqlite3.Error as error:
        raise CannotServe(f"the database {database} can't be prepared: {error}") from error


def _cure(kept: int) -> str:
    return f"""
        CREATE INDEX IF NOT EXISTS agent_memory_stream_order
            ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
        DROP TRIGGER IF EXISTS agent_memory_stream_trim;
        CREATE TRIGGER agent_memory_stream_trim AFTER INSERT ON _stream_records
        WHEN CAST(NEW.sequence_number AS INTEGER) % {_TRIMMED_EVERY} = 0
        BEGIN
            DELETE FROM _stream_records
            WHERE table_name = NEW.table_name
              AND CAST(sequence_number AS INTEGER)
                  <= CAST(NEW.sequence_number AS INTEGER) - {kept};
        END;
    """  # noqa: S608 - two numbers of our own
