"""Define what a workflow sets (RFC-0015 §7)."""

from typing import Any, NamedTuple

from functions.tasks.model import Policy


class AgentPlan(NamedTuple):
    """Tells what a workflow sets for an agent; None is left as it is."""

    agent_id: str
    capacity: int | None
    pinned_namespaces: list[str] | None


class TaskPlan(NamedTuple):
    """A task as a workflow registers it."""

    id: str
    name: str
    assigned_agent: str | None
    depends_on: list[str]  # ids
    memory_policy: Policy
    fields: dict[str, Any]  # all of them, as requests take them


class Application(NamedTuple):
    """All that a workflow sets: it follows from the file and the workflow's seed."""

    name: str
    version: str | None
    intent_id: str
    semantic_namespaces: list[str]
    agents: list[AgentPlan]
    tasks: list[TaskPlan]
    ignored: list[str]  # the paths of what isn't of memory
