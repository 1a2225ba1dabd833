"""The tasks room's reads and single writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.errors import NotFound
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import Write, update
from functions.tasks import writes
from functions.tasks.items import intent_of, task_attributes, task_of
from functions.tasks.model import Intent, Task

if TYPE_CHECKING:
    from functions.tasks.requests import AclEntry


class TaskStore:
    """Reads and writes tasks, intents and task sets."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, task_id: str) -> Task | None:
        """One task: one read."""
        item = self._table.get(keys.task_item(tenant, task_id))
        return None if item is None else task_of(item)

    def existing(self, tenant: str, task_id: str) -> Task:
        """One task: one read. Raises `NotFound`."""
        task = self.get(tenant, task_id)
        if task is None:
            raise NotFound("no task has this id")
        return task

    def at(self, partition: str) -> Task | None:
        """The task whose item stands in this partition: one read."""
        item = self._table.get((partition, keys.TASK_SORT))
        return None if item is None else task_of(item)

    def get_many(self, tenant: str, task_ids: Iterable[str]) -> list[Task]:
        """The tasks that exist among these."""
        places = [keys.task_item(tenant, task_id) for task_id in task_ids]
        return [task_of(item) for item in self._table.get_many(places).values()]

    def of_intent(self, tenant: str, intent: str) -> list[Task]:
        """The tasks that an intent lists."""
        partition = keys.intent_item(tenant, intent)[0]
        rows = self._table.query(partition, "t#")
        return self.get_many(tenant, [row["task"] for row in rows])

    def of_agent(self, tenant: str, agent: str) -> list[Task]:
        """The tasks in which an agent is the assignee or holds memory."""
        item = self._table.get(writes.task_set(tenant, agent)) or {}
        return self.get_many(tenant, item.get("tasks", ()))

    def intent(self, tenant: str, intent: str) -> Intent | None:
        """One intent: one read."""
        item = self._table.get(keys.intent_item(tenant, intent))
        return None if item is None else intent_of(item)

    def commit(self, changes: list[Write]) -> None:
        """Carries out all changes or none.

        Raises:
            functions.platform.table.Refused: a condition did not hold.
        """
        self._table.transact(changes)

    def change(self, write: Write) -> Task:
        """Carries out one update of a task.

        Raises:
            functions.platform.table.ConditionFailed: the condition did not hold.
        """
        return task_of(self._table.update(write))

    def close(self, tenant: str, task: Task, now: int) -> None:
        """Marks an ended task as archived, and takes it out of its agents' task sets."""
        for agent in task.joined:
            self._table.update(writes.leave(tenant, agent, task.id))
        write = update(
            keys.task_item(tenant, task.id),
            f"SET archived = if_not_exists(archived, :now) REMOVE {DUE_ATTRIBUTE}, "
            f"{DUE_SHARD_ATTRIBUTE}",
            "attribute_exists(ended)",
            now=now,
        )
        self._table.update(write)

    def set_acl(self, caller: Principal, intent: str, acl: list[AclEntry]) -> Intent:
        """Replaces the access list of an intent that exists."""
        lines = {f"p{keys.agent_digest(line.principal)}": line.model_dump() for line in acl}
        write = update(
            keys.intent_item(caller.tenant, intent),
            "SET acl = :acl ADD version :one",
            acl=lines,
            one=1,
        )
        return intent_of(self._table.update(write))


def replace_task(tenant: str, old: Task, new: Task) -> Write:
    """Puts a task's new state in the place of the version before it.

    Room is changed by the difference only, since entries are written all the while.
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
    gone = ", ".join(attributes.keys() - present.keys())
    return update(
        keys.task_item(tenant, new.id),
        f"SET {', '.join(settings)} ADD room :more, room_kb :more_kb"
        + (", joined :joined" if new.assignee is not None else "")
        + (f" REMOVE {gone}" if gone else ""),
        "version = :before AND attribute_not_exists(ended)",
        before=old.version,
        more=new.most_entries - old.most_entries,
        more_kb=new.policy.max_total_size_kb - old.policy.max_total_size_kb,
        **present,
    )
