"""Keeps tasks and assignees under their coordinators' guardrails (RFC-0015 §6.6; contract §5).

A guardrail bites at once. What comes under one, comes under it in its own transaction: a task that
is registered or adopted, and an agent that is assigned. A changed guardrail is then carried to the
coordinator's open tasks and their assignees, one by one. What takes a bar away comes afterwards, so
that a crash in between leaves an agent barred too much, never too little.
"""

from collections.abc import Callable
from dataclasses import replace

from functions.namespaces.bars import Bars, bars_attributes, bars_of, together
from functions.platform import guard_keys, keys
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Refused, Table
from functions.platform.writes import Write, check, delete, put, update
from functions.tasks.guardrails import (
    CoordinatorGuardrails,
    governed,
    guardrails_attributes,
    guardrails_of,
)
from functions.tasks.model import Task
from functions.tasks.store import TaskStore

_BUSY = "others are changing the same tasks and guardrails"
LimitEpisodic = Callable[[str, str, int | None, int], None]


class Governance:
    """Guardrails, and what comes under them.

    `limit_episodic(tenant, agent, most, version)` bounds an agent's capacity; an older version
    than the last changes nothing.
    """

    def __init__(self, table: Table, store: TaskStore, limit_episodic: LimitEpisodic) -> None:
        self._table = table
        self._store = store
        self._limit_episodic = limit_episodic

    def of(self, tenant: str, coordinator: str) -> CoordinatorGuardrails:
        """A coordinator's guardrails: one read."""
        item = self._table.get(guard_keys.guardrails_item(tenant, coordinator))
        return guardrails_of(coordinator, item)

    def replace(self, tenant: str, new: CoordinatorGuardrails) -> None:
        """Puts guardrails in the place of the version before.

        Raises:
            functions.platform.table.ConditionFailed: another version is there.
        """
        key = guard_keys.guardrails_item(tenant, new.coordinator)
        self._table.put(_versioned(key, guardrails_attributes(new), new.version))

    def commit(
        self, tenant: str, old: Task | None, new: Task, writes_of: Callable[[Task], list[Write]]
    ) -> Task:
        """Carries out a task's registration or change, under the guardrails of its coordinator.

        `writes_of` gives the writes for the task as the guardrails leave it, which is the result.

        Raises:
            functions.platform.table.Refused: one of those writes found its condition broken.
        """
        backoff = Backoff(_BUSY)
        while True:
            task, own = self._governed(tenant, old, new)
            try:
                self._store.commit([*writes_of(task), *own])
            except Refused as refused:
                if not refused.failed.keys() <= {write.key for write in own}:
                    raise
                backoff.wait()  # the guardrails have changed meanwhile
                continue
            self._settle_after(tenant, old, task)
            return task

    def _governed(self, tenant: str, old: Task | None, new: Task) -> tuple[Task, list[Write]]:
        """The task under its coordinator's guardrails, and what has to be written for that."""
        if new.coordinator is None or (new.ended is not None and old is None):
            return new, []
        row = guard_keys.coordinated_row(tenant, new.coordinator, new.id)
        if new.ended is not None:
            return new, [delete(row)]
        adopted = old is None or old.coordinator != new.coordinator
        if not adopted and old is not None and old.assignee == new.assignee:
            return new, []
        own = guard_keys.guardrails_item(tenant, new.coordinator)
        assigned = guard_keys.bars_item(tenant, new.assignee or "")
        found = self._table.get_many((own, assigned))
        standing = guardrails_of(new.coordinator, found.get(own))
        writes = [_unchanged(own, standing.version)]
        if adopted:
            writes.append(put(row, {"task": new.id}))
        if new.assignee is not None and standing.version:
            writes.append(_barring(assigned, bars_of(found.get(assigned)), standing.bars))
        return governed(new, standing.guardrails), writes

    def _settle_after(self, tenant: str, old: Task | None, new: Task) -> None:
        """Brings up to date whoever a change of assignment or a task's end concerns."""
        if new.coordinator is None:
            return
        concerned = {new.assignee} if new.ended is not None or old is None else set()
        if old is not None and old.assignee != new.assignee:
            concerned = {old.assignee, new.assignee}
        for agent in concerned:
            # where nothing bars an agent, a change of its tasks has nothing to lift or to bound
            if agent is not None and self._table.get(guard_keys.bars_item(tenant, agent)):
                self._settle(tenant, agent)

    def carry_out(self, tenant: str, coordinator: str) -> None:
        """Brings a coordinator's open tasks and their assignees under its present guardrails."""
        partition = guard_keys.guardrails_item(tenant, coordinator)[0]
        rows = self._table.query(partition, guard_keys.TASK_PREFIX)
        tasks = [self._govern(tenant, coordinator, row["task"]) for row in rows]
        present = [task for task in tasks if task is not None and task.ended is None]
        for agent in {task.assignee for task in present if task.assignee is not None}:
            self._settle(tenant, agent)

    def _govern(self, tenant: str, coordinator: str, task_id: str) -> Task | None:
        backoff = Backoff(_BUSY)
        while True:
            # in this order: guardrails that are read after the task are never older than its own
            task = self._store.get(tenant, task_id)
            rules = self.of(tenant, coordinator).guardrails
            if task is None or task.ended is not None:
                return task
            right = governed(task, rules)
            if (right.cap, right.must_archive) == (task.cap, task.must_archive):
                return task
            try:
                return self._store.change(_governing(tenant, task, right))
            except ConditionFailed:
                backoff.wait()

    def _settle(self, tenant: str, agent: str) -> None:
        """Makes what bars an agent follow from its open tasks.

        Looks again after each write, so that the last one to look has seen every change.
        """
        place = guard_keys.bars_item(tenant, agent)
        backoff = Backoff(_BUSY)
        while True:
            present = bars_of(self._table.get(place))
            right = self._right(tenant, agent)
            if present.says_as(right):
                if present.version:
                    self._limit_episodic(tenant, agent, present.episodic, present.version)
                return
            try:
                self._table.put(_next(place, present, right))
            except ConditionFailed:
                backoff.wait()

    def _right(self, tenant: str, agent: str) -> Bars:
        tasks = self._store.of_agent(tenant, agent)
        open_ones = [task for task in tasks if task.ended is None and task.assignee == agent]
        names = {task.coordinator for task in open_ones if task.coordinator is not None}
        places = {guard_keys.guardrails_item(tenant, name): name for name in names}
        items = self._table.get_many(places) if places else {}
        return together(guardrails_of(places[at], item).bars for at, item in items.items())


def _versioned(key: Key, item: Item, version: int) -> Write:
    """Puts an item of this version in the place of the one before."""
    if version == 1:
        return put(key, item, "attribute_not_exists(pk)")
    return put(key, item, "version = :before", before=version - 1)


def _unchanged(key: Key, version: int) -> Write:
    if version == 0:
        return check(key, "attribute_not_exists(pk)")
    return check(key, "version = :version", version=version)


def _next(place: Key, present: Bars, right: Bars) -> Write:
    new = replace(right, version=present.version + 1)
    return _versioned(place, bars_attributes(new), new.version)


def _barring(place: Key, present: Bars, more: Bars) -> Write:
    """What bars an agent that comes under one more coordinator's guardrails."""
    return _next(place, present, together((present, more)))


def _governing(tenant: str, old: Task, new: Task) -> Write:
    """Puts a task under guardrails. It is a new version, so that no earlier change undoes it."""
    settings = ["version = :next", "must_archive = :must"]
    settings += ["cap = :cap"] if new.cap is not None else []
    return update(
        keys.task_item(tenant, old.id),
        f"SET {', '.join(settings)} ADD room :more" + (" REMOVE cap" if new.cap is None else ""),
        "version = :before AND attribute_not_exists(ended)",
        before=old.version,
        next=old.version + 1,
        must=new.must_archive,
        more=new.most_entries - old.most_entries,
        **({} if new.cap is None else {"cap": new.cap}),
    )
