"""Read what decides on access to an entry, and decide (RFC-0015 §2, §9.1)."""

from collections.abc import Iterable

from functions.authorization.rules import authorize, is_allowed
from functions.entries.authority import READ_ENTRY, EntryTarget
from functions.entries.model import Entry
from functions.identity.model import Principal
from functions.namespaces.model import NamespaceTarget
from functions.tasks.access import TaskAccess


def assert_can_read(
    tasks: TaskAccess, caller: Principal, entry: Entry, namespace: NamespaceTarget | None
) -> None:
    """Raise `AccessDenied` when the caller may not read the entry.

    Args:
        tasks: asked only about another agent's private memory.
        namespace: the entry's; None for a private entry.
    """
    if not is_allowed(caller, READ_ENTRY, EntryTarget(entry, namespace)):
        authorize(caller, READ_ENTRY, build_target(tasks, caller, entry, namespace))


def build_target(
    tasks: TaskAccess, caller: Principal, entry: Entry, namespace: NamespaceTarget | None
) -> EntryTarget:
    """Read all that decides on the caller's access to an entry, besides its namespace."""
    if not entry.policy.is_private:
        return EntryTarget(entry, namespace)
    if entry.policy.is_task_bound:
        task = None if entry.task_id is None else tasks.find_memory_target(caller, entry.task_id)
        return EntryTarget(entry, task=task)
    return EntryTarget(entry, is_overseen=tasks.coordinates_agent(caller, entry.agent_id))


def select_readable_by_task(
    tasks: TaskAccess, caller: Principal, entries: Iterable[Entry]
) -> list[Entry]:
    """Return those of another agent's entries that the caller may read by their tasks."""
    found = list(entries)
    named = {each.task_id for each in found if each.task_id is not None}
    readable = {task.id for task in tasks.select_readable(caller, named)} if named else set()
    return [entry for entry in found if entry.task_id in readable]
