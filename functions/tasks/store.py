"""Reads of tasks and grants, the writes by which they change, and the conditions of roles in them.

An entry is written in one call, which doesn't read its task: the caller's role is a condition of
the write. `functions.tasks.authority` has the rules; each condition here names its action.

A task's item counts down what still fits (`free_entries`, `free_bytes`) and counts up what each
agent holds (`n_…`, `bytes_…`). An agent that has such a counter and isn't the assignee lists the
task among those with memory of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.item_types import GRANT, PROCESSED_EVENT, TASK
from functions.platform.items import Item
from functions.platform.keys import Key, hash_agent
from functions.platform.limits import MAX_GRANTS
from functions.platform.newest_first import build_list_attributes, iterate_items
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store, TimedStore
from functions.platform.writes import (
    ABSENT,
    Write,
    build_set_expression,
    check,
    delete,
    put,
    update,
)
from functions.tasks.mapper import grant_from_item, grant_to_item, task_from_item, usage_to_item
from functions.tasks.model import Grant, Membership, Task, TaskUsage
from functions.tasks.rules import task_not_found

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
            raise task_not_found()
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


class GrantStore(Store):
    """Reads and writes the grants of tasks."""

    def get(self, tenant: str, task_id: str, principal: str) -> Grant | None:
        """Read a principal's grant: one call."""
        item = self._table.get(
            item_types.GRANT.build_key(tenant, task=task_id, principal=principal)
        )
        return None if item is None else grant_from_item(item)

    def list_all(self, tenant: str, task_id: str) -> list[Grant]:
        """Read all grants of a task: a call per megabyte."""
        partition = item_types.TASK.build_key(tenant, task=task_id)[0]
        return [grant_from_item(item) for item in self._table.query(partition, GRANT.sort_prefix)]

    def iterate(self, tenant: str, task_id: str, before: str | None, count: int) -> Iterator[Grant]:
        """Read a task's grants, newest first, before a position: two calls for each `count`."""
        partition = item_types.TASK.build_key(tenant, task=task_id)[0]
        return map(grant_from_item, iterate_items(self._table, partition, before, count))


def replace_grant(tenant: str, task: Task, old: Grant | None, new: Grant | None) -> Iterator[Write]:
    """Put a grant in the place of the one that was read; None is no grant.

    The task has to be open, with the assignee and coordinator that it was read with. It counts the
    grants that its assignee makes.
    """
    principal = (new or old or Grant("", "read", 0)).principal
    key = item_types.GRANT.build_key(tenant, task=task.id, principal=principal)
    condition, values = ABSENT, Item()
    if old is not None:
        # A grant has no version: it is replaced as a whole, so its time says which one was read.
        condition, values = "created_at = :before", {"before": old.created_at}
    if new is None:
        yield delete(key, condition, **values)
    else:
        listed = build_list_attributes(key[0], new.created_at, new.principal)
        yield put(key, grant_to_item(new) | listed, condition, **values)
    yield _count_grants(tenant, task, count_granted(task, old, new))


def count_granted(task: Task, old: Grant | None, new: Grant | None) -> int:
    """Count by how many grants that its assignee made in the present term a task has more."""
    before, after = (int(each is not None and each.term == task.term) for each in (old, new))
    return after - before


def _count_grants(tenant: str, task: Task, more: int) -> Write:
    """Check that a task has the same assignee and coordinator, and count its grants."""
    key = item_types.TASK.build_key(tenant, task=task.id)
    condition, values = f"{IS_OPEN} AND term = :term", Item(term=task.term)
    if task.coordinator is None:
        condition += " AND attribute_not_exists(coordinator)"
    else:
        condition += " AND coordinator = :coordinator"
        values["coordinator"] = task.coordinator
    if more == 0:
        return check(key, condition, **values)
    if more > 0:
        condition += " AND (attribute_not_exists(granted) OR granted < :max)"
        values["max"] = MAX_GRANTS
    return update(key, "ADD granted :more", condition, more=more, **values)


def check_grant(tenant: str, task_id: str, grant: Grant, now: int) -> Write:
    """Check that a principal still has a grant to write."""
    condition, values = "access = :write AND expires_at > :now", Item(write="write", now=now)
    if grant.term is None:
        condition += " AND attribute_not_exists(term)"
    else:
        condition += " AND term = :term"
        values["term"] = grant.term
    return check(
        item_types.GRANT.build_key(tenant, task=task_id, principal=grant.principal),
        condition,
        **values,
    )


def reserve_usage(
    caller: Principal,
    task_id: str,
    intent: str | None,
    now: int,
    usage: TaskUsage,
    grant: Grant | None,
    *,
    is_counted: bool,
    is_coordinated: bool,
    replaced: Mapping[str, TaskUsage],
) -> Iterator[Write]:
    """Count new entries of the caller, if task, role and limits allow.

    Args:
        intent: the intent in their scope; None if they name none.
        grant: by which the caller writes; None if it is the assignee or coordinator.
        is_counted: whether the task has counters of the caller already.
        replaced: by how much predecessors hold more, by their ids: less than nothing.
    """
    role, values = _build_role_condition(caller, grant)
    condition = f"attribute_exists(pk) AND {IS_OPEN} AND {role}"
    condition += f" AND attribute_{'' if is_coordinated else 'not_'}exists(coordinator)"
    expression, counted = _count(caller.id, usage, replaced)
    for limit, less in (("free_entries", "less"), ("free_bytes", "less_bytes")):
        if counted.get(less, 0) < 0:
            condition += f" AND {limit} >= :needed_{limit}"
            values[f"needed_{limit}"] = -counted[less]
    if usage.is_working and is_counted:
        # The agent's first entry in a task fails here, and lists the task under the agent in its
        # second attempt (`hold_task`). All later entries need no such row.
        condition += f" AND attribute_exists({next(iter(usage_to_item(caller.id, 0, 0)))})"
    if intent is not None:
        condition += " AND intent_id = :intent"
        values["intent"] = intent
    key = item_types.TASK.build_key(caller.tenant, task=task_id)
    yield update(key, expression, condition, **counted, **values)
    yield from _check_grant(caller, task_id, grant, now)


def change_usage(
    caller: Principal, task_id: str, now: int, usage: TaskUsage, grant: Grant | None
) -> Iterator[Write]:
    """Count that working entries of the caller grow, shrink or are deleted, if its role allows.

    Only growth needs an open task: what changes while an ended one is archived is archived so.
    """
    condition, values = _build_role_condition(caller, grant)
    if usage.size > 0:
        condition += f" AND {IS_OPEN} AND free_bytes >= :size"
    key = item_types.TASK.build_key(caller.tenant, task=task_id)
    if usage == TaskUsage():
        yield check(key, condition, **values)
    else:
        expression, counted = _count(caller.id, usage)
        yield update(key, expression, condition, **counted, **values)
    yield from _check_grant(caller, task_id, grant, now)


def adjust_usage(tenant: str, agent: str, task_id: str, usage: TaskUsage) -> Write:
    """Count entries that the service removes, or of other tiers; only an ended task can't grow."""
    is_more = usage.size > 0 or usage.attached > 0
    condition = IS_OPEN if is_more else "attribute_exists(pk)"
    expression, counted = _count(agent, usage)
    return update(item_types.TASK.build_key(tenant, task=task_id), expression, condition, **counted)


def check_participation(
    caller: Principal, task_id: str, intent: str | None, *, takes_part: bool
) -> Write:
    """Check that a task exists, and that the caller is its assignee, coordinator or registrar.

    Args:
        caller: owns new entries that don't end with the task.
        intent: the intent in their scope; None if they name none.
        takes_part: whether the caller is known to take or have taken part otherwise.
    """
    conditions, values = ["attribute_exists(pk)"], Item()
    if not takes_part:
        role, values = build_registrar_condition(caller)
        conditions.append(role)
    if intent is not None:
        conditions.append("intent_id = :intent")
        values["intent"] = intent
    key = item_types.TASK.build_key(caller.tenant, task=task_id)
    return check(key, " AND ".join(conditions), **values)


def _build_role_condition(caller: Principal, grant: Grant | None) -> tuple[str, Item]:
    """Build the task's part of the condition of `functions.tasks.authority.WRITE_MEMORY`."""
    if grant is None:
        return build_member_condition(caller)
    if grant.term is None:
        return "attribute_exists(pk)", {}
    return "term = :term", {"term": grant.term}


def _check_grant(caller: Principal, task_id: str, grant: Grant | None, now: int) -> Iterator[Write]:
    if grant is not None:
        yield check_grant(caller.tenant, task_id, grant, now)


def _count(
    agent: str, usage: TaskUsage, others: Mapping[str, TaskUsage] | None = None
) -> tuple[str, Item]:
    """Build the expression that counts, with its values; agents count working memory alone."""
    expression = "ADD changes :one, attached :attached"
    values: Item = {"one": 1, "attached": usage.attached}
    counted = {agent: usage, **(others or {})}
    if not any(each.is_working for each in counted.values()):
        return expression, values
    expression += ", free_entries :less, free_bytes :less_bytes"
    for number, (each, held) in enumerate(counted.items()):
        entries, size = usage_to_item(each, 0, 0)
        suffix = number or ""
        expression += f", {entries} :n{suffix}, {size} :size{suffix}"
        values |= {f"n{suffix}": held.entries, f"size{suffix}": held.size}
    more = sum(held.entries for held in counted.values())
    more_bytes = sum(held.size for held in counted.values())
    values |= {"less": -more, "less_bytes": -more_bytes}
    return expression, values


_LIFETIME = 15 * 86_400  # seconds; queues of failed events keep them for 14 days


class ProcessedEvents(TimedStore):
    """The events of all tenants that were processed in the last 15 days."""

    def contains(self, tenant: str, source: str, event_id: str) -> bool:
        """Tell whether an event was processed: one read."""
        return self._table.get(_build_key(tenant, source, event_id)) is not None

    def add(self, tenant: str, source: str, event_id: str) -> None:
        """Note that an event was processed: one write."""
        key = _build_key(tenant, source, event_id)
        self._table.put(put(key, {TTL_ATTRIBUTE: self._clock() // 1000 + _LIFETIME}))


def _build_key(tenant: str, source: str, event_id: str) -> Key:
    return PROCESSED_EVENT.build_key(tenant, event=f"{len(source)}:{source}{event_id}")
