"""The rows by which an agent lists tasks: those assigned to it, and those with memory of it.

A row of an assignment is there exactly while the task is open and assigned to the agent. So one
query finds whose tasks an agent works on, and whether a certain coordinator's are among them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from functions.namespaces.restriction_store import bind_agent
from functions.platform import item_types
from functions.platform.errors import CapacityExceeded
from functions.platform.item_types import COORDINATED_TASK
from functions.platform.items import Item, from_attributes
from functions.platform.keys import Digest, Key
from functions.platform.limits import MAX_OWN_TASKS
from functions.platform.newest_first import build_list_attributes, iterate_item_groups
from functions.platform.table import Store
from functions.platform.writes import Write, delete, put, replace_rows, update
from functions.tasks.model import Assignment, Task


class AssignmentStore(Store):
    """Reads which tasks agents work on."""

    def list_of_agent(self, tenant: str, agent: str) -> list[Assignment]:
        """Read an agent's open tasks, newest first: a call per some thousands."""
        rows = self._table.query(*item_types.ASSIGNMENT.build_range(tenant, agent=agent))
        found = map(_to_assignment, rows)
        return sorted(found, key=lambda each: (each.created_at, each.task_id), reverse=True)

    def iterate_of_agent(
        self, tenant: str, agent: str, before: str | None, count: int
    ) -> Iterator[list[Assignment]]:
        """Read an agent's open tasks, newest first, before a position: two calls a group."""
        partition = item_types.ASSIGNMENT.build_partition(tenant, agent=agent)
        for rows in iterate_item_groups(self._table, partition, before, count):
            yield list(map(_to_assignment, rows))

    def list_task_ids(self, tenant: str, agent: str) -> list[str]:
        """Read the ids of the tasks that an agent works on, or that hold memory of it."""
        ranges = (
            item_types.ASSIGNMENT.build_range(tenant, agent=agent),
            item_types.HELD_TASK.build_range(tenant, agent=agent),
        )
        return [row["task_id"] for each in ranges for row in self._table.query(*each)]

    def list_coordinated(self, tenant: str, coordinator: str) -> list[str]:
        """Read the ids of a coordinator's open tasks: a call per some thousands."""
        partition = item_types.GUARDRAILS.build_key(tenant, agent=coordinator)[0]
        rows = self._table.query(partition, COORDINATED_TASK.sort_prefix)
        return [row["task_id"] for row in rows]

    def is_coordinated_by(self, tenant: str, agent: str, coordinator: str) -> bool:
        """Tell whether an agent works on an open task of a coordinator: one call."""
        partition, prefix = item_types.ASSIGNMENT.build_range(
            tenant, agent=agent, coordinator=coordinator
        )
        rows = self._table.query_from(partition, prefix, f"{prefix}~", 1)
        return next(rows, None) is not None


def _to_assignment(row: Item) -> Assignment:
    return from_attributes(Assignment, row, coordinator=row.get("coordinator"))


def list_assignments(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """List a task under its assignee, and remove it from the list of the one before."""
    return replace_rows(_build_assignments(tenant, old), _build_assignments(tenant, new))


def _build_assignments(tenant: str, task: Task | None) -> dict[Key, Item]:
    if task is None or task.assigned_agent is None or task.completed_at is not None:
        return {}
    key = item_types.ASSIGNMENT.build_key(
        tenant, agent=task.assigned_agent, coordinator=task.coordinator or "", task=task.id
    )
    return {
        key: {
            "task_id": task.id,
            "coordinator": task.coordinator,
            "created_at": task.created_at,
            "inherits_from": task.inherits_from,
            "guarded_by": list(task.guarded_by) or None,
            **build_list_attributes(key[0], task.created_at, task.id),
        }
    }


def bind_assignees(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """Count the coordinators whose guardrails bind the assignee, and no longer the one before."""
    changes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for task, sign in ((old, -1), (new, 1)):
        if task is not None and task.completed_at is None and task.assigned_agent is not None:
            names = dict.fromkeys(task.guarding_coordinators, sign)
            changes[task.assigned_agent].update(names)
    counted = {agent: {name: n for name, n in more.items() if n} for agent, more in changes.items()}
    return [bind_agent(tenant, agent, more) for agent, more in counted.items() if more]


def count_own_tasks(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """Count open tasks without a coordinator, and bound how many an agent registers.

    What `memory.admin` assigns is counted, too, but isn't bounded.
    """
    before, after = None if old is None else old.own_of, new.own_of
    if before == after:
        return []
    writes: list[Write] = []
    if before is not None:
        key = item_types.OWN_TASKS.build_key(tenant, agent=before)
        writes.append(update(key, "ADD open_tasks :less", less=-1))
    if after is not None and old is None:
        writes.append(reserve_own_tasks(tenant, after, 1))
    elif after is not None:
        key = item_types.OWN_TASKS.build_key(tenant, agent=after)
        writes.append(update(key, "ADD open_tasks :one", one=1))
    return writes


def reserve_own_tasks(tenant: str, agent: str, count: int) -> Write:
    """Count tasks that an agent registers for itself, if it may have as many more open ones."""
    return update(
        item_types.OWN_TASKS.build_key(tenant, agent=agent),
        "ADD open_tasks :count",
        "attribute_not_exists(open_tasks) OR open_tasks <= :free",
        count=count,
        free=MAX_OWN_TASKS - count,
    )


def build_own_tasks_error() -> CapacityExceeded:
    """Build the error of an agent that has all the open tasks that it may register for itself."""
    remedy = "end some of them, or have a coordinator adopt them"
    return CapacityExceeded("own_tasks", MAX_OWN_TASKS, MAX_OWN_TASKS, remedy)


def hold_task(tenant: str, agent: str, task: str) -> Write:
    """List a task under an agent that holds memory of it, and isn't its assignee."""
    return put(
        item_types.HELD_TASK.build_key(tenant, agent=agent, task=task),
        {"task_id": task},
    )


def release_task(tenant: str, agent: Digest, task: str) -> Write:
    """Take a task off the list of those with memory of an agent."""
    return delete(item_types.HELD_TASK.build_key(tenant, agent=agent, task=task))
