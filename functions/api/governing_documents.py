"""How what governs agents and tasks looks to callers (RFC-0015 §2.2, §6.6, §7; contract §5)."""

from dataclasses import asdict

from functions.api.documents import Document, moment
from functions.entries.agents import AgentSettings
from functions.tasks.guardrails import CoordinatorGuardrails
from functions.workflows.model import Application


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


def guardrails_document(standing: CoordinatorGuardrails) -> Document:
    """A coordinator's guardrails (RFC-0015 §6.6); what isn't set is null."""
    return {
        "coordinator_id": standing.coordinator,
        "guardrails": asdict(standing.guardrails),
        "version": standing.version,
        "updated_at": moment(standing.updated),
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
                "memory_policy": asdict(each.policy),
            }
            for each in applied.tasks
        ],
    }
