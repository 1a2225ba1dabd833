"""Reads of tasks, the writes by which they change, and the conditions of roles in them.

An entry is written in one call, which doesn't read its task: the caller's role is a condition of
the write. `functions.tasks.authority` has the rules; each condition here names its action.
"""

from collections.abc import Iterable
from contextlib import suppress

from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.errors import NotFound
from functions.platform.item_types import TASK
from functions.platform.items import Item
from functions.platform.keys import hash_agent
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store
from functions.platform.writes import build_set_expression, update
from functions.tasks.mapper import grant_from_item, task_from_item
from functions.tasks.model import Grant, Membership, Task, TaskUsage

IS_OPEN = "attribute_not_exists(completed_at)"
_NO_USAGE = TaskUsage()


class TaskStore(Store):
    """Reads tasks and who takes part in them, and makes single changes of tasks."""

    def get(self, tenant: str, task_id: str) -> Task | None:
        """Read one task: one call."""
        item = self._table.get(item_types.TASK.build_key(tenant, task=task_id))
        return None if item is None else task_from_item(item)

    def get_at(self, partition: str) -> Task | None:
        """Read the task whose item is in this partition: one call."""
        item = self._table.get((partition, TASK.sort))
        return None if item is None else task_from_item(item)

    def get_existing(self, tenant: str, task_id: str) -> Task:
        """Read one task: one call."""
        task = self.get(tenant, task_id)
        if task is None:
            raise NotFound("no task has this id")
        return task

    def get_many(self, tenant: str, task_ids: Iterable[str]) -> list[Task]:
        """Read the tasks that exist among these."""
        wanted = [item_types.TASK.build_key(tenant, task=task_id) for task_id in task_ids]
        return [task_from_item(item) for item in self._table.get_many(wanted).values()]

    def get_with_grants(
        self, tenant: str, task_ids: Iterable[str], principal: str
    ) -> list[tuple[Task, Grant | None]]:
        """Read the tasks that exist among these, each with a principal's grant on it.

        A call for each fifty.
        """
        keys = {
            item_types.TASK.build_key(tenant, task=task_id): item_types.GRANT.build_key(
                tenant, task=task_id, principal=principal
            )
            for task_id in task_ids
        }
        found = self._table.get_many([key for pair in keys.items() for key in pair])
        return [
            (task_from_item(found[task]), _to_grant(found.get(grant)))
            for task, grant in keys.items()
            if task in found
        ]

    def get_membership(self, tenant: str, task_id: str, principal: str) -> Membership:
        """Read a principal's grant on a task, and whether it had a role in it: one call."""
        grant = item_types.GRANT.build_key(tenant, task=task_id, principal=principal)
        assignee, coordinator = (
            item_types.FORMER_MEMBER.build_key(tenant, task=task_id, role=role, principal=principal)
            for role in ("assignee", "coordinator")
        )
        found = self._table.get_many((grant, assignee, coordinator))
        return Membership(
            grant=_to_grant(found.get(grant)),
            was_assignee=assignee in found,
            was_coordinator=coordinator in found,
        )

    def is_inherited_by(self, tenant: str, parent: Task, agent: str) -> bool:
        """Tell whether an open sub-task of an agent inherits from a task: one call."""
        partition, prefix = item_types.INHERITING_TASK.build_range(
            tenant, task=parent.id, agent=agent
        )
        rows = self._table.query(partition, prefix)
        # A sub-task that the parent's assignee registered for itself inherits until the parent is
        # handed over. One that the coordinator registered has no term.
        return any(row.get("term", parent.term) == parent.term for row in rows)

    def finish_hand_over(self, tenant: str, task: Task) -> None:
        """Note that the entries of former members are fenced, unless another one has left since."""
        write = update(
            item_types.TASK.build_key(tenant, task=task.id),
            f"REMOVE leaving, {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}",
            f"leaving = :leaving AND {IS_OPEN}",
            leaving=list(task.leaving),
        )
        with suppress(ConditionFailed):
            self._table.update(write)

    def restrict(self, tenant: str, old: Task, new: Task) -> Task:
        """Put an open task under guardrails. The version stays, since no reader sees a change."""
        condition, seen = build_unchanged_condition(old)
        changes = {"archive_required": new.archive_required or None, "entry_cap": new.entry_cap}
        room = "free_entries = free_entries + :more"
        expression, present = build_set_expression(changes, room)
        write = update(
            item_types.TASK.build_key(tenant, task=old.id),
            expression,
            f"{condition} AND {IS_OPEN}",
            more=new.max_entries - old.max_entries,
            **seen | present,
        )
        return task_from_item(self._table.update(write))


def build_unchanged_condition(read: Task) -> tuple[str, Item]:
    """Build the condition that neither a request nor guardrails have changed a task since."""
    seen: Item = {"before": read.version}
    condition = "version = :before"
    for name, value in (
        ("entry_cap", read.entry_cap),
        ("archive_required", read.archive_required or None),
    ):
        if value is None:
            condition += f" AND attribute_not_exists({name})"
        else:
            condition += f" AND {name} = :{name}_before"
            seen[f"{name}_before"] = value
    return condition, seen


def _to_grant(item: Item | None) -> Grant | None:
    return None if item is None else grant_from_item(item)


def build_member_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.rules.is_assignee_or_coordinator`."""
    if caller.may_coordinate:
        return "(assigned_agent = :caller OR coordinator = :caller)", {"caller": caller.id}
    return "assigned_agent = :caller", {"caller": caller.id}


def build_registrar_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition that the caller is a member of a task, or has registered it."""
    condition, values = build_member_condition(caller)
    return f"({condition} OR registered_by = :caller)", values


def build_use_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.authority.USE_INTENT` on the intent."""
    access = f"acl.p{hash_agent(caller.id)}.#access"
    condition = f"attribute_not_exists(owner_id) OR owner_id = :caller OR {access} = :write"
    return f"({condition})", {"caller": caller.id, "write": "write"}
