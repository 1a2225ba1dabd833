"""How things look to callers (RFC-0015 §1; contract §2-§5)."""

from dataclasses import asdict
from typing import Any

import orjson

from functions.entries.model import Entry
from functions.identity.model import Principal
from functions.namespaces.model import Namespace
from functions.platform.clock import to_rfc3339
from functions.platform.jsontext import exact_text
from functions.tasks.items import FOREVER
from functions.tasks.model import Grant, Intent, Task

Document = dict[str, Any]


def moment(at: int | None) -> str | None:
    """A moment that may not be set (epoch ms)."""
    return None if at is None else to_rfc3339(at)


def entry_document(entry: Entry) -> Document:
    """An entry; its value is spliced in as it was stored, never parsed."""
    document: Document = {
        "id": entry.id,
        "agent_id": entry.agent,
        "namespace": entry.namespace,
        "key": entry.key,
        "value": orjson.Fragment(entry.value),
        "memory_type": entry.tier,
        "scope": _scope(entry),
        "tags": entry.tags,
        "ttl": entry.ttl,
        "pinned": entry.pinned,
        "priority": entry.priority,
        "sensitivity": entry.sensitivity,
        "version": entry.version,
        "created_at": to_rfc3339(entry.created),
        "updated_at": to_rfc3339(entry.updated),
        "expires_at": moment(entry.expires),
        "created_by": entry.author,
    }
    if not entry.policy.is_private:
        document["curated_by"] = entry.curator
    return document


def _scope(entry: Entry) -> dict[str, str]:
    scope = {} if entry.task is None else {"task_id": entry.task}
    if entry.intent is not None:
        scope["intent_id"] = entry.intent
    return scope


def task_document(task: Task) -> Document:
    """A task, with the fields of RFC-0012 that memory doesn't use as they were given."""
    kept = {name: orjson.Fragment(exact_text(value)) for name, value in task.kept.items()}
    return {
        "id": task.id,
        "intent_id": task.intent,
        "name": task.id,
        "status": task.status,
        "assigned_agent": task.assignee,
        "coordinator": task.coordinator,
        "parent_task_id": task.parent,
        "memory_policy": asdict(task.policy),
        "version": task.version,
        "created_at": to_rfc3339(task.created),
        "updated_at": to_rfc3339(task.updated),
        "started_at": moment(task.started),
        "completed_at": moment(task.ended),
    } | kept


def grant_document(grant: Grant) -> Document:
    """A grant on a task."""
    expires = None if grant.expires == FOREVER else grant.expires
    return {
        "principal": grant.principal,
        "access": grant.access,
        "expires_at": moment(expires),
    }


def intent_document(intent: Intent) -> Document:
    """An intent's access list."""
    entries = [{"principal": who, "access": access} for who, access in sorted(intent.acl.items())]
    return {
        "intent_id": intent.id,
        "owner": intent.owner,
        "entries": entries,
        "version": intent.version,
    }


def namespace_document(namespace: Namespace) -> Document:
    """A namespace's permissions (RFC-0015 §2.3)."""
    allow = [{"agent": who, "access": access} for who, access in sorted(namespace.allow.items())]
    return {
        "namespace": namespace.name,
        "permissions": {"default": namespace.default, "allow": allow},
        "version": namespace.version,
        "created_at": to_rfc3339(namespace.created),
        "updated_at": to_rfc3339(namespace.updated),
    }


def principal_document(principal: Principal) -> Document:
    """A principal, without its key."""
    return {
        "tenant": principal.tenant,
        "id": principal.id,
        "kind": principal.kind,
        "permissions": sorted(principal.permissions),
        "created_at": to_rfc3339(principal.created),
        "expires_at": moment(principal.expires),
    }


def conflict_document(current: Entry | Task | Namespace) -> Document:
    """What stands in the way of a write."""
    match current:
        case Entry():
            return entry_document(current)
        case Task():
            return task_document(current)
        case Namespace():
            return namespace_document(current)
