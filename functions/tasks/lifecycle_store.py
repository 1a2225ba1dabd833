"""Writes that register, change and complete tasks, and the rows that list them.

An assignment has a row exactly while the task is open and assigned to the agent. So one query finds
an agent's tasks, and whether it works for a coordinator.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from functions.identity.model import Principal
from functions.namespaces.store import bind_agent
from functions.platform import item_types
from functions.platform.bounded_pages import WantedPage, sort_newest
from functions.platform.errors import CapacityExceeded
from functions.platform.item_types import COORDINATED_TASK, HELD_TASK
from functions.platform.items import Item, from_attributes
from functions.platform.keys import HIGHEST, Key, hash_agent
from functions.platform.limits import MAX_OWN_TASKS, MAX_SUB_TASKS
from functions.platform.newest_first import build_list_attributes, list_listings
from functions.platform.table import Store
from functions.platform.writes import (
    Write,
    build_set_expression,
    build_unchanged_condition,
    check,
    delete,
    put,
    put_new,
    replace_rows,
    update,
)
from functions.tasks.intent_store import list_under_intent, unlist_under_intent
from functions.tasks.model import ANYBODY, Assignment, Task, TaskUsage
from functions.tasks.store import (
    IS_OPEN,
    build_member_condition,
    build_same_task_condition,
    hold_task,
    release_task,
    task_to_item,
    usage_to_item,
)

_PAGE = 1_000  # tasks that a call reads


class AssignmentStore(Store):
    """Reads the tasks that agents work on."""

    def list_of_agent(self, tenant: str, agent: str) -> list[Assignment]:
        """Read an agent's open tasks, newest first: a call per some thousands."""
        rows = self._table.query(*item_types.ASSIGNMENT.build_range(tenant, agent=agent))
        assigned = (
            from_attributes(Assignment, row, coordinator=row.get("coordinator")) for row in rows
        )
        return sort_newest(assigned)

    def list_rows(self, tenant: str, agent: str, wanted: WantedPage) -> Iterator[list[Item]]:
        """List the rows of an agent's open tasks, newest first.

        The index may still list a task that has ended or was handed over.
        """
        return list_listings(self._table, item_types.ASSIGNMENT, wanted, tenant, agent=agent)

    def list_task_ids(self, tenant: str, agent: str) -> list[str]:
        """Read the ids of the tasks that an agent works on, or that hold memory of it."""
        partition, first = item_types.ASSIGNMENT.build_range(tenant, agent=agent)
        last = HELD_TASK.sort_prefix + HIGHEST
        return [row["task_id"] for row in self._table.query(partition, first, last, _PAGE)]

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
        rows = self._table.query(partition, prefix, f"{prefix}~", 1)
        return next(rows, None) is not None


def list_task(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """List a task under its assignee, under its guardrails' coordinators, and in its parent.

    The parent lists tasks that inherit its memory. Earlier rows that no longer apply are removed.
    """
    return replace_rows(_build_rows(tenant, old), _build_rows(tenant, new))


def _build_rows(tenant: str, task: Task | None) -> dict[Key, Item]:
    if task is None or task.completed_at is not None:
        return {}
    rows: dict[Key, Item] = {
        COORDINATED_TASK.build_key(tenant, agent=name, task=task.id): {"task_id": task.id}
        for name in task.guarding_coordinators
    }
    if task.assigned_agent is None:
        return rows
    agent, parent = task.assigned_agent, task.inherits_from
    key = item_types.ASSIGNMENT.build_key(
        tenant, agent=agent, coordinator=task.coordinator or "", task=task.id
    )
    rows[key] = {
        "task_id": task.id,
        "coordinator": task.coordinator,
        "created_at": task.created_at,
        "inherits_from": parent,
        "guarded_by": list(task.guarded_by) or None,
        **build_list_attributes(key[0], task.created_at, task.id),
    }
    if parent is not None:
        inheriting = item_types.INHERITING_TASK.build_key(
            tenant, task=parent, agent=agent, sub_task=task.id
        )
        rows[inheriting] = {"task_id": task.id, "term": task.parent_term}
    return rows


def bind_assignees(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """Move the counts of binding coordinators from the earlier assignee to the present one."""
    changes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for task, sign in ((old, -1), (new, 1)):
        if task is not None and task.completed_at is None and task.assigned_agent is not None:
            names = dict.fromkeys(task.guarding_coordinators, sign)
            changes[task.assigned_agent].update(names)
    counted = {agent: {name: n for name, n in more.items() if n} for agent, more in changes.items()}
    return [bind_agent(tenant, agent, more) for agent, more in counted.items() if more]


def count_own_tasks(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """Count open tasks without a coordinator, and limit those that an agent registers.

    Tasks that `memory.admin` assigns are counted, too, but not limited.
    """
    before, after = None if old is None else old.own_of, new.own_of
    if before == after:
        return []
    build_key = item_types.OWN_TASKS.build_key
    writes = [update(build_key(tenant, agent=before), "ADD open_tasks :n", n=-1)] if before else []
    if after and old is None:
        return [*writes, reserve_own_tasks(tenant, after, 1)]
    if after:
        writes.append(update(build_key(tenant, agent=after), "ADD open_tasks :n", n=1))
    return writes


def reserve_own_tasks(tenant: str, agent: str, count: int) -> Write:
    """Count tasks that an agent registers for itself, up to the limit of open ones."""
    return update(
        item_types.OWN_TASKS.build_key(tenant, agent=agent),
        "ADD open_tasks :count",
        "attribute_not_exists(open_tasks) OR open_tasks <= :free",
        count=count,
        free=MAX_OWN_TASKS - count,
    )


def build_own_tasks_error() -> CapacityExceeded:
    """Build the error of an agent that has the maximum of open tasks without a coordinator."""
    remedy = "end some of them, or have a coordinator adopt them"
    return CapacityExceeded("own_tasks", MAX_OWN_TASKS, MAX_OWN_TASKS, remedy)


_NO_USAGE = TaskUsage()


def registration_writes(caller: Principal, old: Task | None, new: Task) -> list[Write]:
    """Register a task, or adopt `old`, with all rows that list it."""
    tenant = caller.tenant
    changes = _replace_listed(tenant, old, new)
    if new.intent_id is not None:
        changes.append(list_under_intent(tenant, new, new.intent_id))
    if new.parent_task_id is not None and (
        new.memory_policy.inherit_from_parent or not caller.may_coordinate
    ):
        changes.append(_check_parent(caller, new, new.parent_task_id))
    return changes


def change_writes(caller: Principal, old: Task, new: Task) -> list[Write]:
    """Change a task, and the items that depend on it."""
    tenant = caller.tenant
    changes = _replace_listed(tenant, old, new)
    if new.assigned_agent != old.assigned_agent:
        changes += _hand_over(tenant, old, new)
    if new.coordinator != old.coordinator and old.coordinator is not None:
        changes.append(_add_former_member(tenant, new.id, old.coordinator, "coordinator"))
    if new.memory_policy.inherit_from_parent and not old.memory_policy.inherit_from_parent:
        changes.append(_check_parent(caller, new, str(new.parent_task_id)))
    return changes


def _replace_listed(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """Write a task, with its assignee's rows and counts; it may leave its intent."""
    left = None if old is None else old.intent_id
    return [
        add_task(tenant, new) if old is None else _replace_task(tenant, old, new),
        *list_task(tenant, old, new),
        *bind_assignees(tenant, old, new),
        *count_own_tasks(tenant, old, new),
        *([unlist_under_intent(tenant, new.id, left)] if left and left != new.intent_id else ()),
    ]


def _hand_over(tenant: str, old: Task, new: Task) -> list[Write]:
    """Remove the assignee's rights in a task, and record that it was the assignee."""
    changes: list[Write] = []
    if old.assigned_agent is not None:
        changes += [
            _add_former_member(tenant, new.id, old.assigned_agent, "assignee"),
            delete(item_types.GRANT.build_key(tenant, task=new.id, principal=old.assigned_agent)),
            hold_task(tenant, old.assigned_agent, new.id),
        ]
    if new.assigned_agent is not None:
        changes.append(release_task(tenant, hash_agent(new.assigned_agent), new.id))
    return changes


def _add_former_member(tenant: str, task: str, principal: str, role: str) -> Write:
    key = item_types.FORMER_MEMBER.build_key(tenant, task=task, role=role, principal=principal)
    return put(key, {"principal": principal})


def _replace_task(tenant: str, old: Task, new: Task) -> Write:
    """Replace the earlier version of a task.

    Room changes only by the difference, since entries are written at the same time. The end of a
    task has its counters as a condition, if they were known, so the counts are exact. An ended task
    is opened again by its adoption, after its memory was archived.
    """
    attributes = task_to_item(new)
    for counted in ("free_entries", "free_bytes"):
        del attributes[counted]
    if new.term != old.term:
        attributes |= {"granted": None, "sub_tasks": None}
    settings: list[str] = []
    is_open = IS_OPEN if old.completed_at is None else "attribute_exists(archived_at)"
    unchanged, values = build_same_task_condition(old)
    condition = f"{unchanged} AND {is_open}"
    if new.assigned_agent is not None:
        zeros = usage_to_item(new.assigned_agent, 0, 0)
        # An assignee always has counters, so that its first entry needs no second attempt.
        settings += [f"{name} = if_not_exists({name}, :zero)" for name in zeros]
        values["zero"] = 0
    if new.completed_at is not None and new.counter_changes is not None:
        # `counter_changes` counts every change of the counters. If it is unchanged, the ended task
        # has exact counts of what has to be archived. A second attempt omits this condition:
        # entries may be written at the same time.
        is_same, seen = build_unchanged_condition({"counter_changes": new.counter_changes or None})
        condition += f" AND {is_same}"
        values |= seen
    expression, present = build_set_expression(attributes, *settings)
    return update(
        item_types.TASK.build_key(tenant, task=new.id),
        f"{expression} ADD free_entries :more, free_bytes :more_bytes",
        condition,
        more=new.max_entries - old.max_entries,
        more_bytes=new.memory_policy.max_bytes - old.memory_policy.max_bytes,
        **values | present,
    )


def add_task(tenant: str, task: Task, usage: TaskUsage = _NO_USAGE) -> Write:
    """Put a new task; `usage` is its assignee's initial usage."""
    item = task_to_item(task) | {"attached": usage.attached}
    if task.assigned_agent is not None:
        item |= usage_to_item(task.assigned_agent, usage.entries, usage.size)
    key = item_types.TASK.build_key(tenant, task=task.id)
    return put_new(key, item)


def _check_parent(caller: Principal, new: Task, parent: str) -> Write:
    """Check that an open parent permits the caller's new or inheriting sub-task.

    It is the condition of `functions.tasks.authority.LET_INHERIT` or, for an agent, of its
    `REGISTER_TASK`. The parent counts the sub-tasks that its assignee registers.
    """
    role, values = build_member_condition(caller)
    condition = f"{IS_OPEN} AND {role}"
    if new.parent_term is not None:
        condition += " AND term = :term"
        values["term"] = new.parent_term
    if not caller.may_coordinate and new.coordinator is None:
        condition += " AND attribute_not_exists(coordinator)"
    elif not caller.may_coordinate:
        condition += " AND coordinator = :coordinator"
        values["coordinator"] = new.coordinator
    if not caller.may_coordinate and new.assigned_agent != caller.id:
        condition += " AND (contains(delegates, :assignee) OR contains(delegates, :anybody))"
        values |= {"assignee": new.assigned_agent, "anybody": ANYBODY}
    key = item_types.TASK.build_key(caller.tenant, task=parent)
    if caller.may_coordinate or new.coordinator is None:
        return check(key, condition, **values)
    condition += " AND (attribute_not_exists(sub_tasks) OR sub_tasks < :max)"
    values |= {"one": 1, "max": MAX_SUB_TASKS}
    return update(key, "ADD sub_tasks :one", condition, **values)
