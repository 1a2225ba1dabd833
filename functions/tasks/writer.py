"""Write a task, with all that follows from it: guardrails, the archive, fences, its intent."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, cast

from functions.audit.service import AuditTrail
from functions.authorization.model import Action
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.errors import Throttled
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks import rules
from functions.tasks.guardrail_service import GuardedTask, GuardrailService
from functions.tasks.intent_store import join_intent
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Intent, Task
from functions.tasks.store import TaskStore

WritesOf = Callable[[Principal, Task | None, Task], list[Write]]
_ATTEMPTS = 20  # one agent may be assigned many tasks at once, and be restricted by each


class MemoryArchive(Protocol):
    """Tells what archives the memory of ended tasks: `functions.entries.archive.TaskArchive`."""

    def list_keys(self, tenant: str, task: Task) -> Sequence[Key]:
        """Return the keys of the entries that end with a task, by an index."""

    def archive(self, tenant: str, ended: Task, item_keys: Sequence[Key]) -> None:
        """Archive the entries of a task that has just ended."""

    def resume(self, tenant: str, task_id: str) -> bool:
        """Finish what an earlier request left."""


@dataclass(eq=False)
class TaskWriter:
    """Writes the tasks of all tenants.

    Args:
        archive: takes over the memory of those that end.
        fence_entries: keeps those that left a task from writing for it, by tenant and task.
    """

    _store: TaskStore
    _guardrails: GuardrailService
    _archive: MemoryArchive
    _fence_entries: Callable[[str, str], None]

    def save(self, caller: Principal, old: Task, new: Task, writes_of: WritesOf) -> Task:
        """Write a task that exists; if it ends, archive its memory.

        Beside the write of an end, the index says what there is to read. The archive reads again
        what the index misses.
        """
        tenant = caller.tenant
        if new.completed_at is None:
            return self._finish(tenant, self.commit(caller, old, new, writes_of))
        new = replace(new, ender=caller.actor)
        steps: list[Callable[[], Any]] = [
            partial(self.commit, caller, old, new, writes_of),
            partial(self._archive.list_keys, tenant, old),
        ]
        ended, item_keys = run_parallel(steps)
        self._archive.archive(tenant, ended, item_keys)
        return cast("Task", ended)

    def commit(self, caller: Principal, old: Task | None, new: Task, writes_of: WritesOf) -> Task:
        """Write a task under its coordinator's guardrails; returns it as it was written."""
        backoff = Backoff("others are changing this task", attempts=_ATTEMPTS, longest_wait=0.1)
        while True:
            guarded = self._guardrails.guard(caller.tenant, old, new)
            try:
                self._store.commit([*writes_of(caller, old, guarded.task), *guarded.writes])
                return guarded.task
            except ConditionFailed as refused:
                old, new = _prepare_retry(caller.tenant, old, new, guarded, refused)
                backoff.wait()

    def resume(self, tenant: str, task: Task) -> Task:
        """Finish what an earlier request left of a registration or change; returns the task."""
        return self._finish(tenant, task)

    def _finish(self, tenant: str, task: Task) -> Task:
        if task.awaits_archive:
            self._archive.resume(tenant, task.id)
        elif task.leaving:
            self._fence_entries(tenant, task.id)
        return task

    def finish_archive(self, tenant: str, task: Task) -> Task:
        """Finish archiving the memory of a task that its assignee ended, before it opens again."""
        if task.awaits_archive and not self._archive.resume(tenant, task.id):
            raise Throttled("the task's memory is being archived; try again")
        return self._store.get_existing(tenant, task.id) if task.awaits_archive else task


def _prepare_retry(
    tenant: str, old: Task | None, new: Task, guarded: GuardedTask, refused: ConditionFailed
) -> tuple[Task | None, Task]:
    """Return the task as it is and as it is to be, for another attempt.

    Guardrails, intent or counters have changed. The next attempt doesn't depend on the counters:
    entries may be written all the while that a task is to end.
    """
    key = item_types.TASK.build_key(tenant, task=new.id)
    item = refused.failed.get(key)
    retried = guarded.keys | {item_types.INTENT.build_key(tenant, intent=str(new.intent_id))}
    conflicts = refused.failed.keys() - retried
    if old is not None and item is not None:
        present = task_from_item(item)
        if rules.is_same_version(old, present):
            new = replace(rules.with_present_state(new, present), counter_changes=None)
            old = present
            conflicts -= {key}
    if conflicts:
        raise refused
    return old, new


def add_to_intent(
    tenant: str, intent: Intent, owner: str | None, joining: frozenset[str], now: int
) -> Iterator[Write]:
    """Add participants to an intent, if it has an owner."""
    created, version = intent.created_at or now, intent.version or 1
    joined = replace(intent, owner=owner, created_at=created, version=version)
    return join_intent(tenant, intent, joined, joining)


def record_change(
    audit: AuditTrail, caller: Principal, action: Action[Any], old: Task | None, new: Task
) -> Write:
    """Record a registration, or a change of assignee, coordinator or end."""
    before = None if old is None else _describe(old)
    return audit.record(caller, action, f"task:{new.id}", before, _describe(new))


def _describe(task: Task) -> dict[str, Any]:
    return {
        "assigned_agent": task.assigned_agent,
        "coordinator": task.coordinator,
        "status": task.status,
    }
