"""The writes that count what a task holds, in the transactions of entries; limits are conditions.

A task's item counts down what still fits (`free_entries`, `free_bytes`) and counts up what each
agent holds (`n_…`, `bytes_…`). An agent that has such a counter has the task in its task set.
"""

from functions.identity.model import Principal
from functions.platform import task_keys
from functions.platform.items import Item
from functions.platform.keys import hash_agent
from functions.platform.writes import Write, check, update
from functions.tasks.mapper import usage_to_item
from functions.tasks.model import TaskUsage
from functions.tasks.store import IS_OPEN, is_assignee_or_coordinator_condition


def reserve_usage(
    caller: Principal,
    task_id: str,
    intent: str | None,
    now: int,
    usage: TaskUsage,
    *,
    is_counted: bool,
) -> Write:
    """Count new entries of the caller, if task, role and limits allow.

    Args:
        caller: owns the entries.
        task_id: the task in their scope.
        intent: the intent in their scope; None if they name none.
        now: the time in epoch ms.
        usage: by how much the caller holds more.
        is_counted: whether the task has counters of the caller already.
    """
    may_write, values = _may_write_condition(caller)
    condition = f"{IS_OPEN} AND {may_write}"
    expression, counted = _count(caller.id, usage)
    if usage.entries > 0:
        condition += " AND free_entries >= :n"
    if usage.size > 0:
        condition += " AND free_bytes >= :size"
    if usage.is_working and is_counted:
        condition += f" AND attribute_exists({next(iter(usage_to_item(caller.id, 0, 0)))})"
    if usage.is_working and not is_counted:
        expression += ", agents :agents"
        values["agents"] = {caller.id}
    if intent is not None:
        condition += " AND intent = :intent"
        values["intent"] = intent
    key = task_keys.build_task_key(caller.tenant, task_id)
    return update(key, expression, condition, now=now, **counted, **values)


def adjust_usage(tenant: str, agent: str, task_id: str, usage: TaskUsage) -> Write:
    """Count that entries of an agent grow, shrink or are removed; only an ended task can't grow."""
    is_more = usage.size > 0 or usage.attached > 0
    condition = IS_OPEN if is_more else "attribute_exists(pk)"
    if usage.size > 0:
        condition += " AND free_bytes >= :size"
    expression, counted = _count(agent, usage)
    return update(task_keys.build_task_key(tenant, task_id), expression, condition, **counted)


def check_participation(caller: Principal, task_id: str, intent: str | None, now: int) -> Write:
    """Check that the caller takes or took part in a task, or may write in its scope."""
    may_write, values = _may_write_condition(caller)
    condition = f"(contains(participants, :caller) OR {may_write})"
    if intent is not None:
        condition += " AND intent = :intent"
        values["intent"] = intent
    return check(task_keys.build_task_key(caller.tenant, task_id), condition, now=now, **values)


def _may_write_condition(caller: Principal) -> tuple[str, Item]:
    """The condition of `functions.tasks.rules.may_write_memory`, with its values but `now`."""
    path = f"grants.p{hash_agent(caller.id)}"
    has_grant = f"({path}.access = :write AND {path}.expires > :now)"
    condition = f"({is_assignee_or_coordinator_condition(caller)} OR {has_grant})"
    return condition, {"caller": caller.id, "write": "write"}


def _count(agent: str, usage: TaskUsage) -> tuple[str, Item]:
    """The expression that counts, with its values; agents' own counters are of working memory."""
    expression = "ADD changes :one, attached :attached"
    values: Item = {"one": 1, "attached": usage.attached}
    if usage.is_working:
        entries, size = usage_to_item(agent, 0, 0)
        expression += f", free_entries :less, free_bytes :less_bytes, {entries} :n, {size} :size"
        values |= {
            "n": usage.entries,
            "size": usage.size,
            "less": -usage.entries,
            "less_bytes": -usage.size,
        }
    return expression, values
