"""Measure INIT and the first invocation of the deployed package.

Each figure is the CPU of a new process minus that of bare Python. The functions are compared with a
typical one, which uses boto3, the resolver of Powertools, and pydantic.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.inprocess import Caller, Function, function, request_event
from benchmarks.tables import text_table
from infra.asset.build import build
from infra.asset.target import Target

GOAL = 0.5  # INIT and first GET, as a share of the typical function's
GOAL_FIRST_MS = 15.0  # CPU of the first GET, PATCH or POST
_ROUNDS = 9
_ROOT = Path(__file__).parents[1]
_NOTES = (
    "CPU of a fresh process, the median of interleaved rounds; INIT is all that Lambda runs before",
    f"the first event. Goals: a first request {GOAL_FIRST_MS:g} ms; INIT and first GET {GOAL:g} of",
    "the typical function's.",
)
_TIMED = """
import json, sys, time
started = time.process_time()
{init}
initialized = time.process_time()
event = json.loads(sys.stdin.read())
began = time.process_time()
answer = {call}
ended = time.process_time()
assert answer.get("statusCode", 200) < 300, answer
print(json.dumps([initialized - started, ended - began]))
"""
_INIT = "from functions.{package}.main import handler"
_CONTEXT = "__import__('types').SimpleNamespace(function_name='f', {left})"
_LEFT = "get_remaining_time_in_millis=lambda: 60_000"
_CALL = f"handler(event, {_CONTEXT.format(left=_LEFT)})"
_TYPICAL = """
import os
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
"""


class ColdStart(NamedTuple):
    """One cold start: CPU of INIT and of the first event; `ratio` compares with the typical one."""

    name: str
    init_ms: float
    first_ms: float
    ratio: float


class _Case(NamedTuple):
    name: str
    init: str
    call: str
    event: Callable[[int], Any]
    folder: Path = _ROOT


def measure() -> list[ColdStart]:
    """Measure all starts on tables in memory. Raises `RequestError`, `CalledProcessError`."""
    with function() as running, TemporaryDirectory() as folder:
        cases = _cases(running.new_tenant("bench"))
        key_file = Path(folder) / "key"
        key_file.write_bytes(running.encryption_key)
        settings = {"ENCRYPTION_KEY_FILE": str(key_file), "ROOT_KEY": running.root_key}
        environment = _environment(running) | settings
        rounds = [
            [_run(case, number, environment) for case in cases] for number in range(_ROUNDS + 1)
        ]
    return _summarize(cases, rounds[1:])


def _summarize(
    cases: Sequence[_Case], rounds: Sequence[Sequence[tuple[float, float]]]
) -> list[ColdStart]:
    columns = (zip(*runs, strict=True) for runs in zip(*rounds, strict=True))
    times = [(median(inits), median(firsts)) for inits, firsts in columns]
    return [
        ColdStart(case.name, init * 1000, first * 1000, (init + first) / sum(times[-1]))
        for case, (init, first) in zip(cases, times, strict=True)
    ]


def _cases(admin: Caller) -> list[_Case]:
    made = [admin.send("POST", "/api/v1/memory", _entry(f"kept-{n}")) for n in range(2)]
    targets = [f"/api/v1/memory/{each['id']}" for each in made]
    asset = build(Target("python{}.{}".format(*sys.version_info), platform.machine())).folder

    def get(_number: int) -> Any:
        return request_event("GET", targets[0], admin.key)

    def patch(number: int) -> Any:
        changed, version = {"value": {"number": number}}, str(number + 1)
        return request_event("PATCH", targets[1], admin.key, changed, if_match=version)

    def post(number: int) -> Any:
        return request_event("POST", "/api/v1/memory", admin.key, _entry(f"new-{number}"))

    api, stream, schedule = (_INIT.format(package=each) for each in ("api", "stream", "schedule"))
    return [
        _Case("API function, first GET", api, _CALL, get, asset),
        _Case("API function, first PATCH", api, _CALL, patch, asset),
        _Case("API function, first POST", api, _CALL, post, asset),
        _Case("stream function, first batch", stream, _CALL, lambda _: {"Records": []}, asset),
        _Case("scheduled function, first sweep", schedule, _CALL, lambda _: {}, asset),
        _Case("typical function, first GET", _TYPICAL, "app.resolve(event, None)", get),
    ]


def _entry(key: str) -> dict[str, Any]:
    return {"namespace": "bench", "key": key, "memory_type": "working", "value": {"number": 0}}


def _environment(running: Function) -> dict[str, str]:
    """Build the environment variables of all functions; KEY selects any stored item.

    Pydantic's search for plugins is off. It would read the metadata of 140 packages here (8 ms of
    CPU), but a function has only 18.
    """
    items = running.client.scan(TableName="memory", Limit=1)["Items"]
    key = {name: items[0][name]["S"] for name in ("pk", "sk")}
    names = {"MEMORY_TABLE": "memory", "LOG_TABLE": "log", "KEY": json.dumps(key)}
    libraries = {"POWERTOOLS_DEV": "false", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
    return {**os.environ, **names, **libraries}


def _run(case: _Case, number: int, environment: Mapping[str, str]) -> tuple[float, float]:
    """Run one start in a new process; return CPU seconds of INIT and of the first event."""
    ran = subprocess.run(  # noqa: S603 - code of this module
        [sys.executable, "-c", _TIMED.format(init=case.init, call=case.call)],
        input=json.dumps(case.event(number)),
        env={**environment, "PYTHONPATH": str(case.folder)},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        cwd=case.folder,
    )
    init, first = json.loads(ran.stdout.splitlines()[-1])
    return init, first


def as_text(rows: Sequence[ColdStart]) -> str:
    """Render the table."""
    heads = ["cold start, CPU ms", "INIT", "first event", "both, of the typical one"]
    cells = [
        [row.name, f"{row.init_ms:.0f}", f"{row.first_ms:.1f}", f"{row.ratio:.2f}"] for row in rows
    ]
    return "\n".join([text_table(heads, cells), *_NOTES])
