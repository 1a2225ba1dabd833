"""Reads of tasks, and the writes by which they change."""

from collections.abc import Iterable
from typing import Any

from functions.identity.model import Principal
from functions.platform import task_keys
from functions.platform.errors import NotFound
from functions.platform.item_types import TASK
from functions.platform.keys import hash_agent
from functions.platform.limits import MAX_GRANTS
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import Write, check, put, update
from functions.tasks.intent_store import list_under_intent
from functions.tasks.mapper import grant_to_item, task_from_item, task_to_item, usage_to_item
from functions.tasks.model import Grant, Task, TaskUsage

IS_OPEN = "attribute_not_exists(ended)"
_NO_USAGE = TaskUsage()


class TaskStore:
    """Reads tasks and agents' task sets, and makes single changes of tasks."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, task_id: str) -> Task | None:
        """Read one task: one call."""
        return self.get_at(task_keys.build_task_key(tenant, task_id)[0])

    def get_at(self, partition: str) -> Task | None:
        """Read the task whose item is in this partition: one call."""
        item = self._table.get((partition, TASK.sort))
        return None if item is None else task_from_item(item)

    def get_existing(self, tenant: str, task_id: str) -> Task:
        """Read one task: one call.

        Raises:
            NotFound: there is no such task.
        """
        task = self.get(tenant, task_id)
        if task is None:
            raise NotFound("no task has this id")
        return task

    def get_many(self, tenant: str, task_ids: Iterable[str]) -> list[Task]:
        """Read the tasks that exist among these."""
        wanted = [task_keys.build_task_key(tenant, task_id) for task_id in task_ids]
        return [task_from_item(item) for item in self._table.get_many(wanted).values()]

    def list_of_agent(self, tenant: str, agent: str) -> list[Task]:
        """Read the tasks in which an agent is the assignee or holds memory."""
        item = self._table.get(task_keys.build_task_set_key(tenant, agent)) or {}
        return self.get_many(tenant, item.get("tasks", ()))

    def commit(self, changes: list[Write]) -> None:
        """Carry out all changes or none.

        Raises:
            functions.platform.table.TransactionConditionFailed: a condition didn't hold.
        """
        self._table.transact(changes)

    def restrict(self, tenant: str, old: Task, new: Task) -> Task:
        """Put an open task under its coordinator's guardrails.

        It is a new version, so that no change that was decided on the old one undoes it.

        Raises:
            functions.platform.table.ConditionFailed: the task has changed, or ended.
        """
        settings = ["version = :next", "archive_required = :must"]
        settings += ["entry_cap = :entry_cap"] if new.entry_cap is not None else []
        write = update(
            task_keys.build_task_key(tenant, old.id),
            f"SET {', '.join(settings)} ADD free_entries :more"
            + (" REMOVE entry_cap" if new.entry_cap is None else ""),
            f"version = :before AND {IS_OPEN}",
            before=old.version,
            next=old.version + 1,
            must=new.archive_required,
            more=new.max_entries - old.max_entries,
            **({} if new.entry_cap is None else {"entry_cap": new.entry_cap}),
        )
        return task_from_item(self._table.update(write))

    def set_grant(self, caller: Principal, task_id: str, grant: Grant) -> None:
        """Give a principal access to an open task's working memory.

        Raises:
            functions.platform.table.ConditionFailed: the caller is neither the task's assignee nor
                its coordinator, or the task isn't there, has ended or has all its grants.
        """
        path = f"grants.p{hash_agent(grant.principal)}"
        self._change_grants(
            caller,
            task_id,
            f"SET {path} = :grant",
            f"(size(grants) < :most OR attribute_exists({path}))",
            grant=grant_to_item(grant),
            most=MAX_GRANTS,
        )

    def remove_grant(self, caller: Principal, task_id: str, principal: str) -> None:
        """Take a grant on an open task back.

        Raises:
            functions.platform.table.ConditionFailed: as `set_grant`, or there is no such grant.
        """
        path = f"grants.p{hash_agent(principal)}"
        self._change_grants(caller, task_id, f"REMOVE {path}", f"attribute_exists({path})")

    def _change_grants(
        self, caller: Principal, task_id: str, expression: str, condition: str, **values: Any
    ) -> None:
        write = update(
            task_keys.build_task_key(caller.tenant, task_id),
            expression,
            f"{IS_OPEN} AND ({is_assignee_or_coordinator_condition(caller)}) AND {condition}",
            caller=caller.id,
            **values,
        )
        self._table.update(write)


def registration_writes(caller: Principal, old: Task | None, new: Task) -> list[Write]:
    """Register a task, or adopt `old`, with all that lists it."""
    tenant = caller.tenant
    changes = [add_task(tenant, new) if old is None else _replace_task(tenant, old, new)]
    if new.intent is not None:
        changes.append(list_under_intent(tenant, new, new.intent))
    if new.assignee is not None and new.ended is None:
        changes.append(add_to_task_set(tenant, new.assignee, new.id))
    if new.parent is not None and new.policy.inherit_from_parent:
        changes.append(_add_inheriting_task(caller, new.parent, new.id))
    elif new.parent is not None and not caller.may_coordinate:
        changes.append(_check_is_assignee_or_coordinator(caller, new.parent))
    return changes


def change_writes(caller: Principal, old: Task, new: Task) -> list[Write]:
    """Change a task, and what follows from the change elsewhere."""
    tenant = caller.tenant
    changes = [_replace_task(tenant, old, new)]
    if new.assignee is not None and new.assignee != old.assignee:
        changes.append(add_to_task_set(tenant, new.assignee, new.id))
    if new.policy.inherit_from_parent and not old.policy.inherit_from_parent:
        changes.append(_add_inheriting_task(caller, str(new.parent), new.id))
    if old.policy.inherit_from_parent and not new.policy.inherit_from_parent:
        changes.append(_remove_inheriting_task(tenant, str(new.parent), new.id))
    return changes


def completion_writes(tenant: str, task: Task, now: int) -> list[Write]:
    """Take an ended task out of its agents' task sets, and, last, mark it as archived."""
    mark = update(
        task_keys.build_task_key(tenant, task.id),
        f"SET archived = if_not_exists(archived, :now) REMOVE {DUE_ATTRIBUTE}, "
        f"{DUE_SHARD_ATTRIBUTE}",
        "attribute_exists(ended)",
        now=now,
    )
    return [*(_remove_from_task_set(tenant, agent, task.id) for agent in sorted(task.agents)), mark]


def _replace_task(tenant: str, old: Task, new: Task) -> Write:
    """Put a task's new state in the place of the version before it.

    Room is changed by the difference only, since entries are written all the while. The end of a
    task has its counters as a condition: what it holds then is known exactly.
    """
    attributes = task_to_item(new)
    for counted in ("free_entries", "free_bytes", "grants"):
        del attributes[counted]
    present = {name: value for name, value in attributes.items() if value is not None}
    settings = [f"{name} = :{name}" for name in present]
    if new.assignee is not None:
        zeros = usage_to_item(new.assignee, 0, 0)
        settings += [f"{name} = if_not_exists({name}, :zero)" for name in zeros]
        present |= {"zero": 0, "agents": {new.assignee}}
    condition = f"version = :before AND {IS_OPEN}"
    if new.ended is not None:
        seen = "changes = :changes" if new.counter_changes else "attribute_not_exists(changes)"
        condition += f" AND {seen}"
        present |= {"changes": new.counter_changes} if new.counter_changes else {}
    removed = ", ".join(attributes.keys() - present.keys())
    return update(
        task_keys.build_task_key(tenant, new.id),
        f"SET {', '.join(settings)} ADD free_entries :more, free_bytes :more_bytes"
        + (", agents :agents" if new.assignee is not None else "")
        + (f" REMOVE {removed}" if removed else ""),
        condition,
        before=old.version,
        more=new.max_entries - old.max_entries,
        more_bytes=new.policy.max_bytes - old.policy.max_bytes,
        **present,
    )


def add_task(tenant: str, task: Task, usage: TaskUsage = _NO_USAGE) -> Write:
    """Put a new task; `usage` is what its assignee holds from the start."""
    item = task_to_item(task) | {"attached": usage.attached}
    if task.assignee is not None:
        item |= usage_to_item(task.assignee, usage.entries, usage.size) | {
            "agents": {task.assignee}
        }
    key = task_keys.build_task_key(tenant, task.id)
    return put(key, item, "attribute_not_exists(pk)")


def add_to_task_set(tenant: str, agent: str, *tasks: str) -> Write:
    """Add tasks to an agent's task set."""
    return update(
        task_keys.build_task_set_key(tenant, agent),
        "SET agent_id = :agent ADD tasks :tasks",
        agent=agent,
        tasks=set(tasks),
    )


def _remove_from_task_set(tenant: str, agent: str, task: str) -> Write:
    return update(task_keys.build_task_set_key(tenant, agent), "DELETE tasks :task", task={task})


def _add_inheriting_task(caller: Principal, parent: str, sub_task: str) -> Write:
    """Let a sub-task read an open parent's working memory, if the caller may let it."""
    return update(
        task_keys.build_task_key(caller.tenant, parent),
        "ADD inheriting_tasks :sub_task",
        f"{IS_OPEN} AND ({is_assignee_or_coordinator_condition(caller)})",
        sub_task={sub_task},
        caller=caller.id,
    )


def _remove_inheriting_task(tenant: str, parent: str, sub_task: str) -> Write:
    return update(
        task_keys.build_task_key(tenant, parent),
        "DELETE inheriting_tasks :sub_task",
        "attribute_exists(pk)",
        sub_task={sub_task},
    )


def _check_is_assignee_or_coordinator(caller: Principal, task: str) -> Write:
    condition = f"{IS_OPEN} AND ({is_assignee_or_coordinator_condition(caller)})"
    return check(task_keys.build_task_key(caller.tenant, task), condition, caller=caller.id)


def is_assignee_or_coordinator_condition(caller: Principal) -> str:
    """Return the condition of `functions.tasks.rules.is_assignee_or_coordinator`."""
    return "assignee = :caller" + (" OR coordinator = :caller" if caller.may_coordinate else "")
