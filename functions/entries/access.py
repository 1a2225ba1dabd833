"""Who may read and write an entry (RFC-0015 §2, §9.1; contract §4)."""

from collections.abc import Iterable

from functions.authorization.rules import is_allowed
from functions.entries.model import Entry
from functions.identity.model import Principal
from functions.namespaces.authority import READ_MEMORY, WRITE_MEMORY
from functions.namespaces.model import NamespaceTarget
from functions.platform.errors import AccessDenied
from functions.tasks.access import TaskAccess


def assert_can_read(
    tasks: TaskAccess, caller: Principal, entry: Entry, namespace: NamespaceTarget | None
) -> None:
    """Raise `AccessDenied` when the caller may not read the entry.

    Args:
        tasks: asked only about another agent's private memory.
        namespace: the entry's; None for a private entry.
    """
    if not _can_read(tasks, caller, entry, namespace):
        raise AccessDenied("this memory isn't yours to read")


def _can_read(
    tasks: TaskAccess, caller: Principal, entry: Entry, namespace: NamespaceTarget | None
) -> bool:
    if not entry.policy.is_private:
        return namespace is not None and is_allowed(caller, READ_MEMORY, namespace)
    if entry.agent == caller.id:
        return True
    if entry.policy.is_task_bound:
        return bool(select_readable_by_task(tasks, caller, [entry]))
    return tasks.coordinates_agent(caller, entry.agent)


def select_readable_by_task(
    tasks: TaskAccess, caller: Principal, entries: Iterable[Entry]
) -> list[Entry]:
    """Return those of another agent's entries that the caller may read by their tasks."""
    found = list(entries)
    named = {each.task for each in found if each.task is not None}
    readable = {task.id for task in tasks.select_readable(caller, named)} if named else set()
    return [entry for entry in found if entry.task in readable]


def can_write(caller: Principal, entry: Entry, namespace: NamespaceTarget | None) -> bool:
    """Return whether the caller may change or delete the entry."""
    if entry.policy.is_private:
        return entry.agent == caller.id
    return namespace is not None and is_allowed(caller, WRITE_MEMORY, namespace)


def assert_can_write(caller: Principal, entry: Entry, namespace: NamespaceTarget | None) -> None:
    """Raise `AccessDenied` when the caller may not change or delete the entry."""
    if not can_write(caller, entry, namespace):
        raise AccessDenied("this memory isn't yours to write")
