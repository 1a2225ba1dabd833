"""Convert tasks, grants and intents to items and back."""

from functions.identity.model import SERVICE, Actor
from functions.platform.items import Item
from functions.platform.json_text import dumps, loads
from functions.platform.keys import build_due_attributes, hash_agent
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.task_keys import build_task_key
from functions.platform.ttl import to_ttl_seconds
from functions.tasks.model import Grant, Intent, Policy, Task
from functions.tasks.role_store import list_intent_roles, list_task_roles

FOREVER = 2**53
_REQUEST_TIME = 60_000  # ms that the request which ends a task has


def task_to_item(task: Task) -> Item:
    """Return all attributes of a task's item but its counters per agent."""
    policy = task.policy
    return {
        "task": task.id,
        "intent": task.intent,
        "task_status": task.status,
        "version": task.version,
        "created": task.created,
        "updated": task.updated,
        "archive_on_completion": policy.archive_on_completion,
        "inherit_from_parent": policy.inherit_from_parent,
        "max_entries": policy.max_entries,
        "max_total_size_kb": policy.max_total_size_kb,
        "assignee": task.assignee,
        "coordinator": task.coordinator,
        "parent": task.parent,
        "started": task.started,
        "ended": task.ended,
        "archived": task.archived,
        "ender": None if task.ended is None else task.ender.id,
        "ender_kind": None if task.ended is None else task.ender.kind,
        "delegates": list(task.delegates) or None,
        "entry_cap": task.entry_cap,
        "archive_required": task.archive_required or None,
        "guardrail_changes": task.guardrail_changes or None,
        "free_entries": task.free_entries,
        "free_bytes": task.free_bytes,
        "registered_by": task.registered_by,
        "term": task.term,
        "role_codes": list_task_roles(task),
        "leaving": task.leaving or None,
        "parent_term": task.parent_term,
        "extra_fields": dumps(task.extra_fields).decode(),
        "request_token": task.request,
        "adopted": task.adopted,
    } | _due(task)


def _due(task: Task) -> Item:
    """A task stays due until its memory is archived, or its former members' entries are fenced.

    The call that ends the task or hands it over has a minute.
    """
    is_pending = task.leaving if task.ended is None else task.archived is None
    due = task.updated + _REQUEST_TIME if is_pending else None
    return build_due_attributes(build_task_key("", task.id)[0], due)


def task_from_item(item: Item) -> Task:
    return Task(
        id=item["task"],
        intent=item.get("intent"),
        status=item["task_status"],
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        policy=Policy(
            archive_on_completion=item["archive_on_completion"],
            inherit_from_parent=item["inherit_from_parent"],
            max_entries=item["max_entries"],
            max_total_size_kb=item["max_total_size_kb"],
        ),
        assignee=item.get("assignee"),
        coordinator=item.get("coordinator"),
        parent=item.get("parent"),
        started=item.get("started"),
        ended=item.get("ended"),
        archived=item.get("archived"),
        ender=Actor(item["ender"], item["ender_kind"]) if "ender" in item else SERVICE,
        held={name[2:]: count for name, count in item.items() if name.startswith("n_")},
        attached=item.get("attached", 0),
        registered_by=item.get("registered_by"),
        term=item["term"],
        granted=item.get("granted", 0),
        sub_tasks=item.get("sub_tasks", 0),
        leaving=tuple(item.get("leaving", ())),
        parent_term=item.get("parent_term"),
        delegates=tuple(item.get("delegates", ())),
        entry_cap=item.get("entry_cap"),
        archive_required=item.get("archive_required", False),
        free_entries=item["free_entries"],
        free_bytes=item["free_bytes"],
        extra_fields=loads(item["extra_fields"]),
        request=item.get("request_token"),
        adopted=item.get("adopted"),
        counter_changes=item.get("changes", 0),
        guardrail_changes=item.get("guardrail_changes", 0),
    )


def usage_to_item(agent: str, entries: int, size: int) -> Item:
    """Return what an agent holds of a task, as attributes of the task's item."""
    digest = hash_agent(agent)
    return {f"n_{digest}": entries, f"bytes_{digest}": size}


def grant_to_item(grant: Grant) -> Item:
    """Return a grant's item; DynamoDB removes it some time after it has expired."""
    return {
        "principal": grant.principal,
        "access": grant.access,
        "valid_until": grant.expires,
        "granted_by": grant.granted_by,
        "created": grant.created,
        "term": grant.term,
        TTL_ATTRIBUTE: None if grant.expires == FOREVER else to_ttl_seconds(grant.expires),
    }


def grant_from_item(item: Item) -> Grant:
    return Grant(
        principal=item["principal"],
        access=item["access"],
        expires=item["valid_until"],
        granted_by=item["granted_by"],
        created=item["created"],
        term=item.get("term"),
    )


def intent_to_item(intent: Intent) -> Item:
    return {
        "intent": intent.id,
        "owner_id": intent.owner,
        "acl": {
            f"p{hash_agent(principal)}": {"principal": principal, "access": access}
            for principal, access in intent.acl.items()
        },
        "role_codes": list_intent_roles(intent) or None,
        "created": intent.created,
        "version": intent.version,
    }


def intent_from_item(intent: str, item: Item | None) -> Intent:
    """Read an intent from its item; without an item, nobody has named it."""
    if item is None:
        return Intent(intent)
    return Intent(
        id=intent,
        owner=item.get("owner_id"),
        acl={line["principal"]: line["access"] for line in item.get("acl", {}).values()},
        created=item["created"],
        version=item["version"],
    )
