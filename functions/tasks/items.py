"""How tasks and intents look as items."""

from typing import Any

from functions.platform.items import Item
from functions.platform.json_text import dumps, loads
from functions.platform.keys import get_due_shard
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.task_keys import build_task_key
from functions.tasks.model import Grant, Intent, Policy, Task

FOREVER = 2**53
ENDING_TAKES = 60_000  # ms


def task_attributes(task: Task) -> Item:
    """All attributes of a task's item but its counters per agent."""
    policy = task.policy
    return {
        "task": task.id,
        "intent": task.intent,
        "phase": task.status,
        "version": task.version,
        "created": task.created,
        "updated": task.updated,
        "archiving": policy.archive_on_completion,
        "inherits": policy.inherit_from_parent,
        "max_n": policy.max_entries,
        "max_kb": policy.max_total_size_kb,
        "assignee": task.assignee,
        "coordinator": task.coordinator,
        "parent": task.parent,
        "started": task.started,
        "ended": task.ended,
        "archived": task.archived,
        "by_write": task.by_write or None,
        "cap": task.cap,
        "must_archive": task.must_archive or None,
        "room": task.room,
        "room_kb": task.room_kb,
        "parties": task.parties or None,
        "grants": {},
        "kept": dumps(task.kept).decode(),
        "req": task.request,
        "adopted": task.adopted,
    } | _due(task)


def _due(task: Task) -> Item:
    """An ended task stays due until its memory is archived; the call that ends it has a minute."""
    if task.ended is None or task.archived is not None:
        return {}
    place = build_task_key("", task.id)[0]
    return {DUE_SHARD_ATTRIBUTE: get_due_shard(place), DUE_ATTRIBUTE: task.ended + ENDING_TAKES}


def task_of(item: Item) -> Task:
    """A task from its item."""
    return Task(
        id=item["task"],
        intent=item.get("intent"),
        status=item["phase"],
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        policy=Policy(
            archive_on_completion=item["archiving"],
            inherit_from_parent=item["inherits"],
            max_entries=item["max_n"],
            max_total_size_kb=item["max_kb"],
        ),
        assignee=item.get("assignee"),
        coordinator=item.get("coordinator"),
        parent=item.get("parent"),
        started=item.get("started"),
        ended=item.get("ended"),
        archived=item.get("archived"),
        held=sum(count for name, count in item.items() if name.startswith("n_")),
        attached=item.get("attached", 0),
        joined=item.get("joined", frozenset()),
        by_write=item.get("by_write", False),
        cap=item.get("cap"),
        must_archive=item.get("must_archive", False),
        room=item["room"],
        room_kb=item["room_kb"],
        parties=item.get("parties", frozenset()),
        heirs=item.get("heirs", frozenset()),
        grants=tuple(map(_grant, item["grants"].values())),
        kept=loads(item["kept"]),
        request=item.get("req"),
        adopted=item.get("adopted"),
        changes=item.get("changes", 0),
    )


def grant_attributes(grant: Grant) -> Item:
    """A grant as it stands in a task's `grants`."""
    return {"principal": grant.principal, "access": grant.access, "expires": grant.expires}


def _grant(held: dict[str, Any]) -> Grant:
    return Grant(held["principal"], held["access"], held["expires"])


def intent_of(item: Item) -> Intent:
    """An intent from its item."""
    acl = {line["principal"]: line["access"] for line in item["acl"].values()}
    return Intent(
        item["intent"], item["owner_id"], item.get("parties", frozenset()), acl, item["version"]
    )
