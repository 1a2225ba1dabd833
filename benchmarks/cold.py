"""Cold starts: from the start of a process to a function's first answer.

Beside bare Python, Python with botocore (the one import that can't be avoided: it signs, retries
and renews credentials), and a typical function: boto3, Powertools with its resolver, pydantic.
"""

import base64
import json
import os
import platform
import resource
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.inprocess import Caller, Function, function, request_event
from benchmarks.tables import text_table
from benchmarks.workload import entry
from infra.asset.build import build
from infra.asset.target import Target

GOAL = 0.45  # of the typical function, from start to first GET
_ROUNDS = 9
_ROOT = Path(__file__).parents[1]
_NOTES = (
    "From the start of a process to the first answer, the engine's included; medians of",
    f"{_ROUNDS} interleaved rounds. The functions are the asset's, as it is built for the cloud.",
    f"Goal: the API function at most {GOAL:g} of the typical one.",
)
_CALL = """
import json, sys
from types import SimpleNamespace
from functions.{door}.main import handler
left = lambda: 60_000
context = SimpleNamespace(function_name="f", get_remaining_time_in_millis=left)
answer = handler(json.loads(sys.stdin.read()), context)
assert answer.get("statusCode", 200) == 200, answer
"""
_TYPICAL = """
import json, os, sys
import boto3
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import BaseModel
logger, metrics = Logger(service="s"), Metrics(namespace="n", service="s")
app = APIGatewayHttpResolver()
table = boto3.resource("dynamodb").Table("memory")
class Entry(BaseModel):
    pk: str
    sk: str
@app.get("/api/v1/memory/<entry>")
def get(entry: str) -> dict:
    found = table.get_item(Key=json.loads(os.environ["KEY"]), ConsistentRead=True)["Item"]
    return Entry.model_validate(found).model_dump()
answer = app.resolve(json.loads(sys.stdin.read()), None)
assert answer["statusCode"] == 200, answer
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One start: milliseconds of wall and of CPU, and the CPU's above bare Python as a share of the
    typical one's."""

    start: str
    ms: float
    cpu_ms: float
    ratio: float


@dataclass(frozen=True, slots=True)
class _Start:
    name: str
    code: str
    event: str
    folder: Path = _ROOT


def measure() -> list[Row]:
    """Every start, on tables in memory. Raises `RequestError`, `CalledProcessError`."""
    with function() as running, TemporaryDirectory() as folder:
        admin = running.new_tenant("bench")
        starts = _starts(admin)
        key_file = Path(folder) / "key"
        key_file.write_bytes(base64.b64encode(secrets.token_bytes(32)))
        settings = {"ENCRYPTION_KEY_FILE": str(key_file), "ROOT_KEY": running.root_key}
        environment = _environment(running) | settings
        rounds = [[_took(start, environment) for start in starts] for _ in range(_ROUNDS + 1)]
    return _rows([start.name for start in starts], rounds[1:])


def _rows(names: Sequence[str], rounds: Sequence[Sequence[tuple[float, float]]]) -> list[Row]:
    times = [
        tuple(median(each) for each in zip(*runs, strict=True))
        for runs in zip(*rounds, strict=True)
    ]
    bare, typical = times[0][1], times[-1][1]
    return [
        Row(name, ms, cpu_ms, (cpu_ms - bare) / (typical - bare))
        for name, (ms, cpu_ms) in zip(names, times, strict=True)
    ]


def _starts(admin: Caller) -> list[_Start]:
    made = admin.send("POST", "/api/v1/memory", entry(admin.id, "kept", "working", []))
    get = json.dumps(request_event("GET", f"/api/v1/memory/{made['id']}", admin.key))
    scheduled = (_ROOT / "events" / "schedule.json").read_text()
    asset = build(Target("python{}.{}".format(*sys.version_info), platform.machine())).folder
    return [
        _Start("bare Python", "pass", ""),
        _Start("Python and botocore", "import botocore.session", ""),
        _Start("API function, first GET", _CALL.format(door="api"), get, asset),
        _Start(
            "stream function, first batch", _CALL.format(door="lifecycle"), '{"Records": []}', asset
        ),
        _Start(
            "scheduled function, first sweep", _CALL.format(door="maintenance"), scheduled, asset
        ),
        _Start("typical function, first GET", _TYPICAL, get),
    ]


def _environment(running: Function) -> dict[str, str]:
    """What the functions and the typical one need; the item is any that is there."""
    items = running.client.scan(TableName="memory", Limit=1)["Items"]
    key = {name: items[0][name]["S"] for name in ("pk", "sk")}
    names = {"MEMORY_TABLE": "memory", "LOG_TABLE": "log", "KEY": json.dumps(key)}
    return {**os.environ, **names, "POWERTOOLS_DEV": "false"}


def _took(start: _Start, environment: Mapping[str, str]) -> tuple[float, float]:
    """Milliseconds of wall and of CPU."""
    began, used = time.perf_counter(), _children_seconds()
    subprocess.run(  # noqa: S603 - code of this module
        [sys.executable, "-c", start.code],
        input=start.event,
        env={**environment, "PYTHONPATH": str(start.folder)},
        check=True,
        text=True,
        stdout=subprocess.DEVNULL,
        cwd=start.folder,
    )
    wall, cpu = time.perf_counter() - began, _children_seconds() - used
    return wall * 1000, cpu * 1000


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def as_data(rows: Sequence[Row]) -> list[dict[str, object]]:
    """All figures."""
    return [
        {
            "start": row.start,
            "ms": round(row.ms, 1),
            "cpu_ms": round(row.cpu_ms, 1),
            "ratio": round(row.ratio, 2),
        }
        for row in rows
    ]


def as_text(rows: Sequence[Row]) -> str:
    """The table."""
    heads = ["start", "ms", "CPU ms", "CPU above bare, of the typical one"]
    cells = [[row.start, f"{row.ms:.0f}", f"{row.cpu_ms:.0f}", f"{row.ratio:.2f}"] for row in rows]
    return "\n".join([text_table(heads, cells), *_NOTES])
