"""A task, and who asks about it."""

from collections.abc import Iterable
from typing import Any

from functions.identity.model import WRITE, Kind, Principal
from functions.platform.idempotency import RequestToken
from functions.tasks.model import Policy, Task
from functions.tasks.requests import NewTask

NOW = 1_000_000
TOKEN = RequestToken.create()
TASK = Task(
    id="task_1",
    intent_id="intent_1",
    status="pending",
    version=3,
    created_at=100,
    updated_at=200,
    memory_policy=Policy(),
    assigned_agent="alice",
    coordinator="boss",
    free_entries=100,
    free_bytes=1024,
    registered_by="boss",
)


def principal(id: str, kind: Kind = "agent", permissions: Iterable[str] = (WRITE,)) -> Principal:
    return Principal("acme", id, kind, frozenset(permissions))


def new_task(**fields: Any) -> NewTask:
    return NewTask(intent_id="intent_1", **fields)
