"""A pytest plugin that notes which AWS actions each function calls, in IAM's words.

Loaded by `-p tests.infra.recording`, before the functions are imported; the environment's
`CALLS_FILE` is where the notes go, one line for each action.
"""

import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import FrameType
from typing import Any

from functions.platform import aws
from functions.platform.item_types import ITEM_TYPES
from tests.e2e.emulator.partitions import find_partitions
from tests.infra.template import PARTITION

FUNCTIONS = {
    "ApiSettings": "api",
    "ScheduleSettings": "schedule",
    "StreamSettings": "stream",
    "TaskEventSettings": "task_events",
}
_PATTERNS = sorted({re.sub(r"\{[^}]*\}", "*", each.partition) for each in ITEM_TYPES})
_VERBS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
_NAMES = {
    "HeadObject": "GetObject",
    "ListObjectsV2": "ListBucket",
}  # where IAM has another word than the call
_make_client = aws.create_client
_noted: set[tuple[str, str, str]] = set()


def _client(service: str, **options: Any) -> Any:
    client = _make_client(service, **options)
    function = _door()
    if function is not None:

        def note(params: dict[str, Any], model: Any, **_event: Any) -> None:
            for action, resource in actions(service, model.name, params):
                _noted.add((function, action, resource))
            if service == "dynamodb" and "IndexName" not in params:
                _noted.update(
                    (function, f"{PARTITION}{action}", to_pattern(partition))
                    for action, call in _split(model.name, params)
                    for table, partition in find_partitions(call)
                    if _table(table) == "memory"
                )

        client.meta.events.register("before-parameter-build", note)
    return client


aws.create_client = _client


def _door() -> str | None:
    """Which function is being built: the nearest caller that belongs to one."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - there is no other way to the callers' modules
    while frame is not None:
        root, _, module = str(frame.f_globals.get("__name__")).partition(".")
        if (root, module) == ("functions", "container"):
            made_of = frame.f_locals.get("c") or frame.f_locals["self"]
            found = frame.f_locals.get("settings") or made_of.settings
            return FUNCTIONS[type(found).__name__]
        if (root, module) == ("tests", "contract.service"):  # makes the API's client by itself
            return "api"
        package = module.partition(".")[0]
        if root == "functions" and package in FUNCTIONS.values():
            return package
        frame = frame.f_back
    return None


def actions(service: str, operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The actions of IAM that a call needs, each with the resource that it needs it on."""
    if service != "dynamodb":
        yield f"{service}:{_NAMES.get(operation, operation)}", service
    elif operation == "TransactWriteItems":
        for verb, write in (pair for item in params["TransactItems"] for pair in item.items()):
            yield f"dynamodb:{_VERBS[verb]}", _table(write["TableName"])
    elif "RequestItems" in params:
        for name in params["RequestItems"]:
            yield f"dynamodb:{operation}", _table(name)
    else:
        index = params.get("IndexName")
        yield f"dynamodb:{operation}", index or _table(params["TableName"])


def _split(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if operation != "TransactWriteItems":
        yield operation, params
        return
    for item in params["TransactItems"]:
        for verb, write in item.items():
            yield _VERBS[verb], write


def to_pattern(partition: str) -> str:
    """Find the pattern of a partition, as in `*#a#*`; the partition itself if there is none."""
    found = (each for each in _PATTERNS if fnmatchcase(partition, each))
    return next(found, partition)


def _table(name: str) -> str:
    """`memory` or `log`: what the tests' tables are called before the dash."""
    return name.partition("-")[0]


def pytest_sessionfinish() -> None:
    """Writes the notes."""
    lines = sorted(" ".join(each) for each in _noted)
    Path(os.environ["CALLS_FILE"]).write_text("\n".join(lines), encoding="utf-8")
