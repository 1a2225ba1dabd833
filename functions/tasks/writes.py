"""The writes by which tasks, intents and task sets change; others' transactions use them too.

A task's item counts down the room that its policy leaves (`room`, `room_kb`) and counts up what
each agent holds (`n_…`, `kb_…`), so that a limit is a condition of the write that would pass it.
An agent's task set lists the tasks in which it is the assignee or holds memory: whoever has a
counter on a task has the task in its set.
"""

from dataclasses import dataclass

from functions.identity.model import Principal
from functions.platform import task_keys
from functions.platform.items import Item
from functions.platform.keys import hash_agent
from functions.platform.writes import Write, check, put, update
from functions.tasks.items import task_attributes
from functions.tasks.model import Policy, Task

_ABSENT = "attribute_not_exists(pk)"
OPEN = "attribute_not_exists(ended)"


@dataclass(frozen=True, slots=True)
class Held:
    """What an agent holds of a task, or by how much that changes.

    `entries` and whole `kb` are working memory; `attached` are the other entries that end with it.
    """

    entries: int = 0
    kb: int = 0
    attached: int = 0

    @property
    def working(self) -> bool:
        """Whether any of it is working memory."""
        return self.entries != 0 or self.kb != 0


NOTHING = Held()


def join(tenant: str, agent: str, *tasks: str) -> Write:
    """Puts tasks into an agent's task set."""
    return update(
        task_keys.build_task_set_key(tenant, agent),
        "SET agent_id = :agent ADD tasks :tasks",
        agent=agent,
        tasks=set(tasks),
    )


def leave(tenant: str, agent: str, task: str) -> Write:
    """Takes a task out of an agent's task set."""
    return update(task_keys.build_task_set_key(tenant, agent), "DELETE tasks :task", task={task})


def use_intent(
    caller: Principal, intent: str, now: int, parties: frozenset[str] = frozenset()
) -> Write:
    """Uses an intent, making the caller its owner if it is new (contract §5); adds parties."""
    grant = f"acl.p{hash_agent(caller.id)}.access"
    return update(
        task_keys.build_intent_key(caller.tenant, intent),
        "SET intent = :intent, owner_id = if_not_exists(owner_id, :caller), "
        "created = if_not_exists(created, :now), version = if_not_exists(version, :one), "
        "acl = if_not_exists(acl, :empty)" + (" ADD parties :parties" if parties else ""),
        f"{_ABSENT} OR owner_id = :caller OR contains(parties, :caller) OR {grant} = :write",
        intent=intent,
        caller=caller.id,
        now=now,
        one=1,
        empty={},
        write="write",
        **({"parties": parties} if parties else {}),
    )


def list_under_intent(tenant: str, task: Task, intent: str) -> Write:
    """The row by which an intent lists a task."""
    row: Item = {"task": task.id, "created": task.created}
    return put(task_keys.build_intent_task_key(tenant, intent, task.id), row)


def add_task(tenant: str, task: Task, held: Held = NOTHING) -> Write:
    """A new task; `held` is what its assignee holds from the start."""
    item = task_attributes(task) | {"attached": held.attached}
    if task.assignee is not None:
        item |= counters(task.assignee, held.entries, held.kb) | {"joined": {task.assignee}}
    return put(task_keys.build_task_key(tenant, task.id), item, _ABSENT)


def inherit(caller: Principal, parent: str, heir: str) -> Write:
    """Lets a sub-task inherit a parent's working memory, if the caller directs the parent."""
    return update(
        task_keys.build_task_key(caller.tenant, parent),
        "ADD heirs :heir",
        f"{OPEN} AND ({directors(caller)})",
        heir={heir},
        caller=caller.id,
    )


def disinherit(tenant: str, parent: str, heir: str) -> Write:
    """Ends an inheritance."""
    return update(
        task_keys.build_task_key(tenant, parent),
        "DELETE heirs :heir",
        "attribute_exists(pk)",
        heir={heir},
    )


def still_directed(caller: Principal, task: str) -> Write:
    """Checks that the caller is an open task's assignee or coordinator."""
    condition = f"{OPEN} AND ({directors(caller)})"
    return check(task_keys.build_task_key(caller.tenant, task), condition, caller=caller.id)


def counters(agent: str, entries: int, kb: int) -> Item:
    """What an agent holds of a task, as attributes of the task's item."""
    digest = hash_agent(agent)
    return {f"n_{digest}": entries, f"kb_{digest}": kb}


def registered_by_write(
    caller: Principal, task_id: str, intent: str | None, now: int, held: Held
) -> Task:
    """The task that a write to an unregistered task registers (contract §5)."""
    policy = Policy()
    return Task(
        id=task_id,
        intent=intent,
        status="running",
        version=1,
        created=now,
        updated=now,
        policy=policy,
        assignee=caller.id,
        by_write=True,
        room=policy.max_entries - held.entries,
        room_kb=policy.max_total_size_kb - held.kb,
        parties=frozenset({caller.id}),
    )


def _writers(caller: Principal) -> tuple[str, Item]:
    """The condition that the caller may create working memory in a task's scope."""
    place = f"grants.p{hash_agent(caller.id)}"
    granted = f"({place}.access = :write AND {place}.expires > :now)"
    return f"({directors(caller)} OR {granted})", {"caller": caller.id, "write": "write"}


def directors(caller: Principal) -> str:
    """The condition that the caller is the task's assignee or coordinator; agents never are."""
    return "assignee = :caller" + (" OR coordinator = :caller" if caller.may_coordinate else "")


def charge(
    caller: Principal,
    task_id: str,
    intent: str | None,
    now: int,
    held: Held,
    *,
    joined: bool,
) -> Write:
    """Takes room for new entries of the caller, if task, role and limits allow."""
    may_write, values = _writers(caller)
    condition = f"{OPEN} AND {may_write}"
    expression, counted = _counted(caller.id, held)
    if held.entries > 0:
        condition += " AND room >= :n"
    if held.kb > 0:
        condition += " AND room_kb >= :kb"
    if held.working and joined:
        condition += f" AND attribute_exists(n_{hash_agent(caller.id)})"
    if held.working and not joined:
        expression += ", joined :joined"
        values["joined"] = {caller.id}
    if intent is not None:
        condition += " AND intent = :intent"
        values["intent"] = intent
    key = task_keys.build_task_key(caller.tenant, task_id)
    return update(key, expression, condition, now=now, **counted, **values)


def resize(tenant: str, agent: str, task_id: str, held: Held) -> Write:
    """Corrects what a task counts when entries of an agent grow, shrink or go."""
    condition = OPEN if held.kb > 0 or held.attached > 0 else "attribute_exists(pk)"
    if held.kb > 0:
        condition += " AND room_kb >= :kb"
    expression, counted = _counted(agent, held)
    return update(task_keys.build_task_key(tenant, task_id), expression, condition, **counted)


def _counted(agent: str, held: Held) -> tuple[str, Item]:
    """The expression and values that count; an agent's own counters are for working memory."""
    expression = "ADD changes :one, attached :attached"
    values: Item = {"one": 1, "attached": held.attached}
    if held.working:
        digest = hash_agent(agent)
        expression += f", room :less, room_kb :less_kb, n_{digest} :n, kb_{digest} :kb"
        values |= {"n": held.entries, "kb": held.kb, "less": -held.entries, "less_kb": -held.kb}
    return expression, values


def check_part(caller: Principal, task_id: str, intent: str | None, now: int) -> Write:
    """Checks that the caller takes or took part in a task, or may write in its scope."""
    may_write, values = _writers(caller)
    condition = f"(contains(parties, :caller) OR {may_write})"
    if intent is not None:
        condition += " AND intent = :intent"
        values["intent"] = intent
    return check(task_keys.build_task_key(caller.tenant, task_id), condition, now=now, **values)
