"""How things look to callers (RFC-0015 §1; contract §2-§5)."""

from typing import Any

import orjson
from pydantic_core import to_json

from functions.entries.agents import AgentSettings
from functions.entries.model import Entry
from functions.entries.summary import Summary
from functions.identity.model import Principal
from functions.logs.model import Event
from functions.namespaces.model import Namespace
from functions.platform.clock import to_rfc3339
from functions.tasks.guardrails import CoordinatorGuardrails
from functions.tasks.items import FOREVER
from functions.tasks.model import Grant, Intent, Task
from functions.workflows.model import Application

Document = dict[str, Any]


def _moment(moment: int | None) -> str | None:
    return None if moment is None else to_rfc3339(moment)


def entry_document(entry: Entry) -> Document:
    """An entry; its value is spliced in as it was stored, never parsed."""
    scope = {"task_id": entry.task, "intent_id": entry.intent}
    document: Document = {
        "id": entry.id,
        "agent_id": entry.agent,
        "namespace": entry.namespace,
        "key": entry.key,
        "value": orjson.Fragment(entry.value),
        "memory_type": entry.tier,
        "scope": {name: value for name, value in scope.items() if value is not None},
        "tags": entry.tags,
        "ttl": entry.ttl,
        "pinned": entry.pinned,
        "priority": entry.priority,
        "sensitivity": entry.sensitivity,
        "version": entry.version,
        "created_at": to_rfc3339(entry.created),
        "updated_at": to_rfc3339(entry.updated),
        "expires_at": _moment(entry.expires),
        "created_by": entry.author,
    }
    return document | ({"curated_by": entry.curator} if entry.tier == "semantic" else {})


def task_document(task: Task) -> Document:
    """A task, with the fields of RFC-0012 that memory doesn't use as they were given."""
    kept = {name: orjson.Fragment(to_json(value)) for name, value in task.kept.items()}
    return {
        "id": task.id,
        "intent_id": task.intent,
        "name": task.id,
        "status": task.status,
        "assigned_agent": task.assignee,
        "coordinator": task.coordinator,
        "parent_task_id": task.parent,
        "memory_policy": task.policy.model_dump(),
        "version": task.version,
        "created_at": to_rfc3339(task.created),
        "updated_at": to_rfc3339(task.updated),
        "started_at": _moment(task.started),
        "completed_at": _moment(task.ended),
    } | kept


def grant_document(grant: Grant) -> Document:
    """A grant on a task."""
    expires = None if grant.expires == FOREVER else grant.expires
    return {
        "principal": grant.principal,
        "access": grant.access,
        "expires_at": _moment(expires),
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
        "expires_at": _moment(principal.expires),
    }


def summary_document(summary: Summary) -> Document:
    """An agent's memory in figures (RFC-0015 "Agent Memory Summary")."""
    return {
        "agent_id": summary.agent,
        "working": {
            "entry_count": summary.working,
            "total_size_kb": summary.working_kb,
            "tasks_with_memory": summary.tasks,
        },
        "episodic": {
            "entry_count": summary.episodic,
            "capacity": summary.capacity,
            "pinned_count": summary.pinned,
            "total_size_kb": summary.episodic_kb,
            "oldest_entry": _moment(summary.oldest),
            "newest_entry": _moment(summary.newest),
        },
        "semantic_namespaces_accessible": summary.namespaces,
    }


def settings_document(settings: AgentSettings) -> Document:
    """An agent's settings (RFC-0015 §2.2, §7)."""
    return {
        "agent_id": settings.agent,
        "episodic": {
            "capacity": settings.capacity,
            "eviction_policy": "lru",
            "pinned_namespaces": settings.pinned_namespaces,
        },
    }


def event_document(event: Event) -> Document:
    """An event of a log (RFC-0015 §5.2)."""
    return {
        "id": event.id,
        "type": event.type,
        "agent_id": event.agent,
        "intent_id": event.intent,
        "task_id": event.task,
        "data": orjson.Fragment(to_json(event.data)),
        "timestamp": to_rfc3339(event.timestamp),
    }


def guardrails_document(standing: CoordinatorGuardrails) -> Document:
    """A coordinator's guardrails (RFC-0015 §6.6); what isn't set is null."""
    return {
        "coordinator_id": standing.coordinator,
        "guardrails": standing.guardrails.model_dump(),
        "version": standing.version,
        "updated_at": _moment(standing.updated),
    }


def workflow_document(applied: Application) -> Document:
    """What a workflow set (RFC-0015 §7); null is what it left as it was."""
    return {
        "name": applied.name,
        "version": applied.version,
        "intent_id": applied.intent,
        "semantic_namespaces": applied.namespaces,
        "agents": [
            {
                "agent_id": each.agent,
                "episodic": {
                    "capacity": each.capacity,
                    "pinned_namespaces": each.pinned_namespaces,
                },
            }
            for each in applied.agents
        ],
        "tasks": [
            {
                "id": each.id,
                "name": each.name,
                "assigned_agent": each.agent,
                "depends_on": each.depends_on,
                "memory_policy": each.policy.model_dump(),
            }
            for each in applied.tasks
        ],
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
