"""This service beside other memories on DynamoDB: same run, same engine, same entries."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.inprocess import local_aws, running_engine
from benchmarks.servers import environment_with, prepare
from benchmarks.tables import text_table

ENTRIES = (1_000, 10_000)
PEERS = {
    "langgraph-checkpoint-aws": ("langgraph-checkpoint-aws==1.2.6", "boto3==1.44.5"),
    "langgraph-store-dynamodb": ("langgraph-store-dynamodb==0.1.3", "langgraph==1.2.22"),
}
_ROOT = Path(__file__).parents[1]
_NOTES = (
    "Each in a process of its own, called in 1 and 8 threads, on an embedded engine of its own.",
    "Ours is the whole API function, on semantic memory: key, permissions, versions, tags' rows.",
    "LangGraph's stores have no versions: their patch is a blind put, their get eventually",
    "consistent. A tag is a field; found: of the 10 entries that have both.",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One case of one library, of `entries` stored; `found` counts the matches of a query."""

    library: str
    entries: int
    case: str
    clients: int
    calls: int
    write: float
    read: float
    found: int | None
    rate: float
    p50_ms: float
    p99_ms: float


def measure(bench: Path, sizes: Sequence[int], seconds: float) -> list[Row]:
    """Every library at each size. Raises `CalledProcessError` if one fails."""
    prepare(bench)
    pythons = {"ours": Path(sys.executable)}
    for name, packages in PEERS.items():
        pythons[name] = environment_with(bench / name, packages) / "bin" / "python"
    return [
        Row(library=name, entries=entries, **figures)
        for entries in sizes
        for name, python in pythons.items()
        for figures in _run(python, name, entries, seconds)
    ]


def _run(python: Path, name: str, entries: int, seconds: float) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder, running_engine(Path(folder)) as url:
        settings = {**os.environ, **local_aws(url), "PYTHONPATH": str(_ROOT)}
        command = [str(python), "-m", "benchmarks.libraries", name, str(entries), str(seconds)]
        ended = subprocess.run(  # noqa: S603 - a module of this project
            command, env=settings, stdout=subprocess.PIPE, check=True, text=True, cwd=_ROOT
        )
    found: list[dict[str, Any]] = json.loads(ended.stdout[ended.stdout.index("[{") :])
    return found


def as_data(rows: Sequence[Row]) -> list[dict[str, object]]:
    """All figures."""
    return [asdict(row) for row in rows]


def as_text(rows: Sequence[Row]) -> str:
    """The table."""
    heads = ["library", "entries", "case", "clients", "requests/s", "p50 ms", "p99 ms"]
    heads += ["calls", "write units", "read units", "found"]
    return "\n".join([text_table(heads, [_cells(row) for row in rows]), *_NOTES])


def _cells(row: Row) -> list[str]:
    times = (f"{row.rate:.0f}", f"{row.p50_ms:.2f}", f"{row.p99_ms:.2f}")
    found = "" if row.found is None else f"{row.found} of 10"
    units = (f"{row.calls}", f"{row.write:g}", f"{row.read:g}", found)
    return [row.library, f"{row.entries:,}", row.case, str(row.clients), *times, *units]
