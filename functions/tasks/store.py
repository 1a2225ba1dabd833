"""Reads of tasks, writes of their counters and ends, and the conditions of roles.

An entry is written in one call, which doesn't read its task: the caller's role is a condition of
the write. `functions.tasks.authority` has the rules; each condition here names its action.

A task's item counts down the room (`free_entries`, `free_bytes`) and counts up each agent's usage
(`n_…`, `bytes_…`). If an agent has such a counter and isn't the assignee, a row lists the task
under the agent.
"""

from collections.abc import Iterable, Iterator, Mapping

from functions.identity.model import SERVICE, Actor, Principal
from functions.platform import item_types
from functions.platform.item_types import PROCESSED_EVENT, TASK
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import dumps, loads
from functions.platform.keys import REMOVE_DUE, Digest, build_due_attributes, hash_agent
from functions.platform.limits import PROCESSED_EVENT_LIFETIME
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Store, TimedStore
from functions.platform.writes import (
    Write,
    build_set_expression,
    build_unchanged_condition,
    check,
    delete,
    put,
    update,
)
from functions.tasks.model import Grant, Membership, Policy, Task, TaskUsage
from functions.tasks.rules import task_not_found

IS_OPEN = "attribute_not_exists(completed_at)"
_REQUEST_TIME = 60_000  # ms; the time of a request that ends a task
_COUNTERS = ("held", "attached", "granted", "sub_tasks", "counter_changes")
_STORED_APART = (
    *("id", "memory_policy", "ender", "archive_required", "extra_fields"),
    *_COUNTERS,
)


def task_to_item(task: Task) -> Item:
    """Return all attributes of a task's item except its counters per agent."""
    return {
        **to_attributes(task, *_STORED_APART),
        **to_attributes(task.memory_policy),
        "task_id": task.id,
        "ender": None if task.completed_at is None else task.ender.id,
        "ender_kind": None if task.completed_at is None else task.ender.kind,
        "archive_required": task.archive_required or None,
        "extra_fields": dumps(task.extra_fields).decode(),
        **_due(task),
    }


def _due(task: Task) -> Item:
    """Return when a task is due, until its memory is archived, and former members are fenced.

    The request that ends the task or hands it over has a minute.
    """
    is_pending = task.leaving if task.completed_at is None else task.archived_at is None
    due = task.updated_at + _REQUEST_TIME if is_pending else None
    return build_due_attributes(item_types.TASK.build_key("", task=task.id)[0], due)


def task_from_item(item: Item) -> Task:
    return from_attributes(
        Task,
        item,
        id=item["task_id"],
        intent_id=item.get("intent_id"),
        memory_policy=from_attributes(Policy, item),
        ender=Actor(item["ender"], item["ender_kind"]) if "ender" in item else SERVICE,
        held={name[2:]: count for name, count in item.items() if name.startswith("n_")},
        extra_fields=loads(item["extra_fields"]),
    )


def usage_to_item(agent: str, entries: int, size: int) -> Item:
    """Return an agent's usage of a task as attributes of the task's item."""
    digest = hash_agent(agent)
    return {f"n_{digest}": entries, f"bytes_{digest}": size}


class TaskStore(Store):
    """Reads tasks and their participants, and makes single changes of tasks."""

    def get(self, tenant: str, task_id: str) -> Task | None:
        """Read one task: one call."""
        item = self._table.get(item_types.TASK.build_key(tenant, task=task_id))
        return None if item is None else task_from_item(item)

    def get_at(self, partition: str) -> Task | None:
        """Read the task whose item is in this partition: one call."""
        return self._table.find((partition, TASK.sort), task_from_item)

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

        It takes a call for each fifty.
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

    def list_inherited_terms(self, tenant: str, parent: str, agent: str) -> frozenset[int | None]:
        """Return the terms in which an agent's open sub-tasks inherit from a task: one call.

        None is any term.
        """
        key_range = item_types.INHERITING_TASK.build_range(tenant, task=parent, agent=agent)
        return frozenset(row.get("term") for row in self._table.query(*key_range))

    def finish_hand_over(self, tenant: str, task: Task) -> None:
        """Record that former members' entries are fenced, unless another member has left since."""
        write = update(
            item_types.TASK.build_key(tenant, task=task.id),
            f"{REMOVE_DUE}, leaving",
            f"leaving = :leaving AND {IS_OPEN}",
            leaving=list(task.leaving),
        )
        self._table.try_write(write)

    def restrict(self, tenant: str, old: Task, new: Task) -> Task:
        """Apply guardrails to an open task. The version stays, since no reader sees a change."""
        condition, seen = build_same_task_condition(old)
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


def build_same_task_condition(read: Task) -> tuple[str, Item]:
    """Build the condition that neither requests nor guardrails have changed a task since."""
    required = read.archive_required or None
    return build_unchanged_condition(
        {"version": read.version, "entry_cap": read.entry_cap, "archive_required": required}
    )


def _to_grant(item: Item | None) -> Grant | None:
    return None if item is None else from_attributes(Grant, item)


def build_member_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.rules.is_assignee_or_coordinator`."""
    if caller.may_coordinate:
        return "(assigned_agent = :caller OR coordinator = :caller)", {"caller": caller.id}
    return "assigned_agent = :caller", {"caller": caller.id}


def build_use_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.authority.USE_INTENT` on the intent."""
    access = f"acl.p{hash_agent(caller.id)}.#access"
    condition = f"attribute_not_exists(#owner) OR #owner = :caller OR {access} = :write"
    return f"({condition})", {"caller": caller.id, "write": "write"}


def hold_task(tenant: str, agent: str, task: str) -> Write:
    """List a task under an agent that has memory in it and isn't its assignee."""
    return put(item_types.HELD_TASK.build_key(tenant, agent=agent, task=task), {"task_id": task})


def release_task(tenant: str, agent: Digest, task: str) -> Write:
    """Remove a task from an agent's list of tasks with memory."""
    return delete(item_types.HELD_TASK.build_key(tenant, agent=agent, task=task))


def completion_writes(tenant: str, task: Task, now: int) -> list[Write]:
    """Remove an ended task from the lists of its agents, then mark it as archived.

    The condition of the mark fails if an adoption has opened the task again.
    """
    mark = update(
        item_types.TASK.build_key(tenant, task=task.id),
        f"SET archived_at = if_not_exists(archived_at, :now) {REMOVE_DUE}",
        "completed_at = :ended",
        now=now,
        ended=task.completed_at,
    )
    assignee = None if task.assigned_agent is None else hash_agent(task.assigned_agent)
    holders = sorted(task.held.keys() - {assignee})
    return [*(release_task(tenant, Digest(holder), task.id) for holder in holders), mark]


def reserve_usage(
    caller: Principal,
    task_id: str,
    intent: str | None,
    now: int,
    held: Mapping[str, TaskUsage],
    attached: int,
    grant: Grant | None,
    *,
    is_counted: bool,
    is_coordinated: bool,
) -> Iterator[Write]:
    """Count new entries of the caller, on condition of task, role and limits.

    Args:
        intent: the intent in their scope; None if they name none.
        held: the change of the entries of the caller, and of predecessors whose entries it
            replaces.
        grant: by which the caller writes; None if it is the assignee or coordinator.
        is_counted: whether the task already has counters of the caller.
    """
    role, values = _build_role_condition(caller, grant)
    condition = f"attribute_exists(pk) AND {IS_OPEN} AND {role}"
    condition += f" AND attribute_{'' if is_coordinated else 'not_'}exists(coordinator)"
    expression, counted = _count(held, attached)
    for limit, less in (("free_entries", "less"), ("free_bytes", "less_bytes")):
        if counted.get(less, 0) < 0:
            condition += f" AND {limit} >= :needed_{limit}"
            values[f"needed_{limit}"] = -counted[less]
    if caller.id in held and is_counted:
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
    caller: Principal,
    task_id: str,
    now: int,
    held: Mapping[str, TaskUsage],
    attached: int,
    grant: Grant | None,
) -> Iterator[Write]:
    """Count growing, shrinking or deleted working entries of the caller, if its role allows.

    Only growth needs an open task: other changes of an ended task are archived.
    """
    condition, values = _build_role_condition(caller, grant)
    if (size := sum(each.size for each in held.values())) > 0:
        condition += f" AND {IS_OPEN} AND free_bytes >= :needed"
        values["needed"] = size
    key = item_types.TASK.build_key(caller.tenant, task=task_id)
    if not held and not attached:
        yield check(key, condition, **values)
    else:
        expression, counted = _count(held, attached)
        yield update(key, expression, condition, **counted, **values)
    yield from _check_grant(caller, task_id, grant, now)


def adjust_usage(
    tenant: str, task_id: str, held: Mapping[str, TaskUsage], attached: int = 0
) -> Write:
    """Count entries that the service removes, or of other tiers; an ended task can't grow."""
    is_more = attached > 0 or any(each.size > 0 for each in held.values())
    condition = IS_OPEN if is_more else "attribute_exists(pk)"
    expression, counted = _count(held, attached)
    return update(item_types.TASK.build_key(tenant, task=task_id), expression, condition, **counted)


def check_participation(
    caller: Principal, task_id: str, intent: str | None, *, takes_part: bool
) -> Write:
    """Check that a task exists, and that the caller is its assignee, coordinator or registrar.

    Args:
        caller: owns new entries that don't end with the task.
        intent: the intent in their scope; None if they name none.
        takes_part: whether the caller takes or took part in another way.
    """
    conditions, values = ["attribute_exists(pk)"], Item()
    if not takes_part:
        role, values = build_member_condition(caller)
        conditions.append(f"({role} OR registered_by = :caller)")
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
    """Check that the caller still has the grant by which it writes, if any."""
    if grant is not None:
        key = item_types.GRANT.build_key(caller.tenant, task=task_id, principal=grant.principal)
        is_same_term, values = build_unchanged_condition({"term": grant.term})
        condition = f"access = :write AND expires_at > :now AND {is_same_term}"
        yield check(key, condition, write="write", now=now, **values)


def _count(held: Mapping[str, TaskUsage], attached: int) -> tuple[str, Item]:
    """Build the expression that counts, with its values; agents only count working memory."""
    expression = "ADD counter_changes :one, attached :attached"
    values: Item = {"one": 1, "attached": attached}
    if not held:
        return expression, values
    expression += ", free_entries :less, free_bytes :less_bytes"
    for number, (agent, usage) in enumerate(held.items()):
        for name, more in usage_to_item(agent, usage.entries, usage.size).items():
            expression += f", {name} :{name[:1]}{number}"
            values[f"{name[:1]}{number}"] = more
    values["less"] = -sum(each.entries for each in held.values())
    values["less_bytes"] = -sum(each.size for each in held.values())
    return expression, values


class ProcessedEvents(TimedStore):
    """The events of all tenants that were processed in the last 15 days."""

    def contains(self, tenant: str, source: str, event_id: str) -> bool:
        """Tell whether an event was processed: one read."""
        key = PROCESSED_EVENT.build_key(tenant, source=source, event=event_id)
        return self._table.get(key) is not None

    def add(self, tenant: str, source: str, event_id: str) -> None:
        """Record that an event was processed: one write."""
        key = PROCESSED_EVENT.build_key(tenant, source=source, event=event_id)
        self._table.put(
            put(key, {TTL_ATTRIBUTE: (self._clock() + PROCESSED_EVENT_LIFETIME) // 1000})
        )
