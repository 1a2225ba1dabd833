"""What a workflow sets (RFC-0015 §7)."""

from dataclasses import dataclass

from functions.tasks.model import Policy


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What a workflow sets for an agent; None is left as it is."""

    agent: str
    capacity: int | None
    pinned_namespaces: list[str] | None


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """A task as a workflow registers it."""

    id: str
    name: str
    agent: str | None
    depends_on: list[str]  # ids
    outputs: list[str]
    policy: Policy


@dataclass(frozen=True, slots=True)
class Application:
    """All that a workflow sets: it follows from the file and the workflow's seed."""

    name: str
    version: str | None
    intent: str
    namespaces: list[str]
    agents: list[AgentPlan]
    tasks: list[TaskPlan]
    declares_memory: bool
