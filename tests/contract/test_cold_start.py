"""What each function imports from its start to its first answer, since a cold start is import time.

Sets and numbers, never a time: what needs one more package or room at each cold start says so here.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from functions.local.gateway import to_event
from tests.contract.bodies import create, entry
from tests.contract.service import Tenant

pytestmark = pytest.mark.in_process
_ROOT = Path(__file__).parents[2]
_CODE = """
import sys
before = set(sys.modules)
import json
from types import SimpleNamespace
from functions.{door}.handler import handler
context = SimpleNamespace(function_name="f", get_remaining_time_in_millis=lambda: 60_000)
answer = handler(json.loads(sys.stdin.read()), context)
print(json.dumps([answer, sorted(set(sys.modules) - before)]))
"""
_NOT_IN_THE_ASSET = {"certifi"}  # botocore takes it where it is installed
CLIENTS = {"botocore", "dateutil", "jmespath", "six", "urllib3"}
ALL = CLIENTS | {"aws_lambda_powertools", "orjson", "typing_extensions"}


@dataclass(frozen=True)
class Start:
    """A first answer, the packages that were imported for it, and our own modules."""

    answer: Any
    packages: set[str]
    modules: set[str]

    @property
    def rooms(self) -> set[str]:
        """The rooms and doors among the modules."""
        return {name.split(".")[1] for name in self.modules if "." in name}


def start(tenant: Tenant, door: str, event: Any) -> Start:
    """A new process's start, on the tenant's tables."""
    if not tenant.service.engine.environment:
        pytest.skip("the engine is in this process")
    ran = subprocess.run(
        [sys.executable, "-c", _CODE.format(door=door)],
        input=json.dumps(event),
        env=os.environ | tenant.service.environment(),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    answer, imported = json.loads(ran.stdout.splitlines()[-1])
    packages = {name.partition(".")[0] for name in imported} - _NOT_IN_THE_ASSET
    return Start(
        answer,
        packages - sys.stdlib_module_names - {"functions"},
        {name for name in imported if name.partition(".")[0] == "functions"},
    )


def test_a_get_of_an_entry_imports_its_room_alone(tenant: Tenant) -> None:
    made, key = create(tenant.admin, entry()), tenant.admin.headers["x-api-key"]
    path = f"/api/v1/memory/{made['id']}"
    event = to_event("GET", path, "", [("x-api-key", key)], b"", "127.0.0.1")
    started = start(tenant, "api", event)
    assert started.answer["statusCode"] == 200
    assert started.packages == ALL
    assert started.rooms == {"api", "entries", "identity", "namespaces", "platform", "tasks"}
    assert len(started.modules) <= 86


def test_a_batch_of_the_stream_imports_no_bodies(tenant: Tenant) -> None:
    event = json.loads((_ROOT / "events/stream-deleted.json").read_text("utf-8"))
    started = start(tenant, "lifecycle", event)
    assert started.answer == {"batchItemFailures": []}
    assert started.packages == ALL | {"pydantic_core"}  # which writes the events
    assert not {name for name in started.modules if name.endswith(".bodies")}
    assert len(started.modules) <= 74


def test_a_sweep_imports_no_bodies(tenant: Tenant) -> None:
    event = json.loads((_ROOT / "events/schedule.json").read_text("utf-8"))
    started = start(tenant, "maintenance", event)
    assert started.answer["lag_ms"] == 0
    assert started.packages == ALL
    assert not {name for name in started.modules if name.endswith(".bodies")}
    assert len(started.modules) <= 103
