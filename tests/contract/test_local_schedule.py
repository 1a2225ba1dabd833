"""Locally the scheduled function runs by itself."""

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from functions.local.engine import find_binary
from functions.platform.entry_keys import parse_entry_id
from tests.contract.bodies import create, entry
from tests.contract.local_server import PATIENCE, ROOT, running

pytestmark = pytest.mark.skipif(
    find_binary(ROOT) is None, reason="no embedded database for this platform"
)


def is_stored(database: Path, entry_id: str) -> bool:
    partition, sort = parse_entry_id("default", entry_id)[0].item_key
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute(
            'SELECT COUNT(*) FROM "agent-memory" WHERE pk = ? AND sk = ?',
            (f"S:{partition}", f"S:{sort}"),
        ).fetchone()
        return bool(found[0])


def await_removal(database: Path, entry_id: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while is_stored(database, entry_id):
        assert time.monotonic() < deadline, "the entry was never removed from storage"
        time.sleep(0.02)


def test_expired_entries_are_removed_and_those_that_expired_while_it_was_off(
    tmp_path: Path,
) -> None:
    database = tmp_path / "memory.db"
    with running(tmp_path) as server, server.client() as client:
        before = create(client, entry(key="before", ttl="duration:PT1S"))
        server.end(signal.SIGKILL)
    assert is_stored(database, before["id"])
    with running(tmp_path, AGENT_MEMORY_SWEEP_SECONDS="0.2") as server, server.client() as client:
        kept = create(client, entry(key="kept"))
        made = create(client, entry(ttl="duration:PT1S"))
        assert is_stored(database, kept["id"])
        await_removal(database, before["id"])
        await_removal(database, made["id"])
        assert is_stored(database, kept["id"])
        assert server.end(signal.SIGTERM) == 0
