"""Reads of tasks and intents, and the writes by which they change."""

from collections.abc import Iterable
from typing import Any

from functions.identity.model import Principal
from functions.platform import keys, task_keys
from functions.platform.errors import NotFound
from functions.platform.item_types import TASK
from functions.platform.limits import MAX_GRANTS
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import Write, update
from functions.tasks import writes
from functions.tasks.items import grant_attributes, intent_of, task_attributes, task_of
from functions.tasks.model import Grant, Intent, Task
from functions.tasks.requests import AclEntry


class TaskStore:
    """Reads and writes tasks, intents and task sets."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, task_id: str) -> Task | None:
        """Read one task: one call."""
        item = self._table.get(task_keys.build_task_key(tenant, task_id))
        return None if item is None else task_of(item)

    def existing(self, tenant: str, task_id: str) -> Task:
        """Read one task: one call.

        Raises:
            NotFound: there is no such task.
        """
        task = self.get(tenant, task_id)
        if task is None:
            raise NotFound("no task has this id")
        return task

    def at(self, partition: str) -> Task | None:
        """Read the task whose item is in this partition: one call."""
        item = self._table.get((partition, TASK.sort))
        return None if item is None else task_of(item)

    def get_many(self, tenant: str, task_ids: Iterable[str]) -> list[Task]:
        """Read the tasks that exist among these."""
        wanted = [task_keys.build_task_key(tenant, task_id) for task_id in task_ids]
        return [task_of(item) for item in self._table.get_many(wanted).values()]

    def of_intent(self, tenant: str, intent: str) -> list[Task]:
        """Read the tasks that an intent lists."""
        rows = self._table.query(*task_keys.build_intent_task_range(tenant, intent))
        return self.get_many(tenant, [row["task"] for row in rows])

    def of_agent(self, tenant: str, agent: str) -> list[Task]:
        """Read the tasks in which an agent is the assignee or holds memory."""
        item = self._table.get(task_keys.build_task_set_key(tenant, agent)) or {}
        return self.get_many(tenant, item.get("tasks", ()))

    def intent(self, tenant: str, intent: str) -> Intent | None:
        """Read one intent: one call."""
        item = self._table.get(task_keys.build_intent_key(tenant, intent))
        return None if item is None else intent_of(item)

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
        settings = ["version = :next", "must_archive = :must"]
        settings += ["cap = :cap"] if new.cap is not None else []
        write = update(
            task_keys.build_task_key(tenant, old.id),
            f"SET {', '.join(settings)} ADD room :more"
            + (" REMOVE cap" if new.cap is None else ""),
            f"version = :before AND {writes.OPEN}",
            before=old.version,
            next=old.version + 1,
            must=new.must_archive,
            more=new.most_entries - old.most_entries,
            **({} if new.cap is None else {"cap": new.cap}),
        )
        return task_of(self._table.update(write))

    def set_grant(self, caller: Principal, task_id: str, grant: Grant) -> None:
        """Give a principal access to an open task's working memory.

        Raises:
            functions.platform.table.ConditionFailed: the caller is neither the task's assignee nor
                its coordinator, or the task isn't there, has ended or has all its grants.
        """
        path = f"grants.p{keys.hash_agent(grant.principal)}"
        self._change_grants(
            caller,
            task_id,
            f"SET {path} = :grant",
            f"(size(grants) < :most OR attribute_exists({path}))",
            grant=grant_attributes(grant),
            most=MAX_GRANTS,
        )

    def remove_grant(self, caller: Principal, task_id: str, principal: str) -> None:
        """Take a grant on an open task back.

        Raises:
            functions.platform.table.ConditionFailed: as `set_grant`, or there is no such grant.
        """
        path = f"grants.p{keys.hash_agent(principal)}"
        self._change_grants(caller, task_id, f"REMOVE {path}", f"attribute_exists({path})")

    def _change_grants(
        self, caller: Principal, task_id: str, expression: str, condition: str, **values: Any
    ) -> None:
        write = update(
            task_keys.build_task_key(caller.tenant, task_id),
            expression,
            f"{writes.OPEN} AND ({writes.directors(caller)}) AND {condition}",
            caller=caller.id,
            **values,
        )
        self._table.update(write)

    def set_acl(self, caller: Principal, intent: str, acl: list[AclEntry]) -> Intent:
        """Replace the access list of an intent that exists."""
        lines = {f"p{keys.hash_agent(line.principal)}": line.model_dump() for line in acl}
        write = update(
            task_keys.build_intent_key(caller.tenant, intent),
            "SET acl = :acl ADD version :one",
            acl=lines,
            one=1,
        )
        return intent_of(self._table.update(write))


def registration_writes(caller: Principal, old: Task | None, new: Task) -> list[Write]:
    """Register a task, or adopt `old`, with all that lists it."""
    tenant = caller.tenant
    changes = [writes.add_task(tenant, new) if old is None else replace_task(tenant, old, new)]
    if new.intent is not None:
        changes.append(writes.use_intent(caller, new.intent, new.created, new.parties))
        changes.append(writes.list_under_intent(tenant, new, new.intent))
    if new.assignee is not None and new.ended is None:
        changes.append(writes.join(tenant, new.assignee, new.id))
    if new.parent is not None and new.policy.inherit_from_parent:
        changes.append(writes.inherit(caller, new.parent, new.id))
    elif new.parent is not None and not caller.may_coordinate:
        changes.append(writes.still_directed(caller, new.parent))
    return changes


def change_writes(caller: Principal, old: Task | None, new: Task) -> list[Write]:
    """Change a task, and what follows from the change elsewhere."""
    if old is None:
        raise ValueError("a task that isn't registered can't be changed")
    tenant = caller.tenant
    changes = [replace_task(tenant, old, new)]
    if new.assignee is not None and new.assignee != old.assignee:
        changes.append(writes.join(tenant, new.assignee, new.id))
        if new.intent is not None:
            parties = frozenset({new.assignee})
            changes.append(writes.use_intent(caller, new.intent, new.updated, parties))
    if new.policy.inherit_from_parent and not old.policy.inherit_from_parent:
        changes.append(writes.inherit(caller, str(new.parent), new.id))
    if old.policy.inherit_from_parent and not new.policy.inherit_from_parent:
        changes.append(writes.disinherit(tenant, str(new.parent), new.id))
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
    return [*(writes.leave(tenant, agent, task.id) for agent in sorted(task.joined)), mark]


def replace_task(tenant: str, old: Task, new: Task) -> Write:
    """Put a task's new state in the place of the version before it.

    Room is changed by the difference only, since entries are written all the while. The end of a
    task has its counters as a condition: what it holds then is known exactly.
    """
    attributes = task_attributes(new)
    for counted in ("room", "room_kb", "grants"):
        del attributes[counted]
    present = {name: value for name, value in attributes.items() if value is not None}
    settings = [f"{name} = :{name}" for name in present]
    if new.assignee is not None:
        zeros = writes.counters(new.assignee, 0, 0)
        settings += [f"{name} = if_not_exists({name}, :zero)" for name in zeros]
        present |= {"zero": 0, "joined": {new.assignee}}
    condition = f"version = :before AND {writes.OPEN}"
    if new.ended is not None:
        seen = "changes = :changes" if new.changes else "attribute_not_exists(changes)"
        condition += f" AND {seen}"
        present |= {"changes": new.changes} if new.changes else {}
    removed = ", ".join(attributes.keys() - present.keys())
    return update(
        task_keys.build_task_key(tenant, new.id),
        f"SET {', '.join(settings)} ADD room :more, room_kb :more_kb"
        + (", joined :joined" if new.assignee is not None else "")
        + (f" REMOVE {removed}" if removed else ""),
        condition,
        before=old.version,
        more=new.most_entries - old.most_entries,
        more_kb=new.policy.max_total_size_kb - old.policy.max_total_size_kb,
        **present,
    )
