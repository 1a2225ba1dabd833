"""Who may read and write an entry (RFC-0015 §2, §9.1; contract §4)."""

from collections.abc import Iterable

from functions.entries.model import Entry
from functions.identity.model import Principal
from functions.namespaces.model import Namespace
from functions.namespaces.rules import allows
from functions.platform.errors import AccessDenied
from functions.tasks.service import Tasks


class Access:
    """Decides on private memory; the tasks are asked only where the caller isn't the owner."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def assert_reads(self, caller: Principal, entry: Entry, namespace: Namespace | None) -> None:
        """Raises `AccessDenied` unless the caller may read the entry."""
        if not self._reads(caller, entry, namespace):
            raise AccessDenied("this memory isn't yours to read")

    def _reads(self, caller: Principal, entry: Entry, namespace: Namespace | None) -> bool:
        if entry.tier == "semantic":
            return allows(caller, namespace, "read")
        if entry.agent == caller.id:
            return True
        if entry.tier == "episodic":
            return self._tasks.oversees(caller, entry.agent)
        tasks = self._tasks.known(caller.tenant, {entry.task} if entry.task else set())
        return any(self._tasks.reads_memory(caller, task) for task in tasks)


def in_readable_tasks(tasks: Tasks, caller: Principal, entries: Iterable[Entry]) -> list[Entry]:
    """Of another's working memory, what the caller may read by its tasks (contract §4)."""
    found = list(entries)
    named = {entry.task for entry in found if entry.task is not None}
    known = tasks.known(caller.tenant, named)
    readable = {task.id for task in known if tasks.reads_memory(caller, task)}
    return [entry for entry in found if entry.task in readable]


def may_write(caller: Principal, entry: Entry, namespace: Namespace | None) -> bool:
    """Whether the caller may change or delete the entry."""
    if entry.tier == "semantic":
        return allows(caller, namespace, "write")
    return entry.agent == caller.id


def assert_writes(caller: Principal, entry: Entry, namespace: Namespace | None) -> None:
    """Raises `AccessDenied` unless the caller may change or delete the entry."""
    if not may_write(caller, entry, namespace):
        raise AccessDenied("this memory isn't yours to write")
