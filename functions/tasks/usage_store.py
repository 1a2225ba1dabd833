"""The writes that count what a task holds, in the transactions of entries; limits are conditions.

A task's item counts down what still fits (`free_entries`, `free_bytes`) and counts up what each
agent holds (`n_…`, `bytes_…`). An agent that has such a counter and isn't the assignee lists the
task among those with memory of it.
"""

from collections.abc import Iterator, Mapping

from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.items import Item
from functions.platform.writes import Write, check, update
from functions.tasks.grant_store import check_grant
from functions.tasks.mapper import usage_to_item
from functions.tasks.model import Grant, TaskUsage
from functions.tasks.store import IS_OPEN, build_member_condition, build_registrar_condition


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
        now: the time in epoch ms.
        grant: by which the caller writes; None if it is the assignee or coordinator.
        is_counted: whether the task has counters of the caller already.
        is_coordinated: whether the task has a coordinator.
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
