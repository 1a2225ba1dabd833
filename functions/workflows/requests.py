"""What a workflow file says (RFC-0015 §7); other keys than these are errors."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from functions.entries.requests import EpisodicSettings, EvictionPolicy
from functions.platform.fields import AgentId, Name
from functions.platform.limits import (
    DEFAULT_TASK_ENTRIES,
    MAX_EPISODIC_ENTRIES,
    MAX_LISTED_NAMESPACES,
    MAX_PLAN_TASKS,
    MAX_TASK_ENTRIES,
    MAX_TITLE_CHARACTERS,
    MAX_WORKFLOW_AGENTS,
)
from functions.tasks.requests import MemoryPolicy

_Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class WorkingDefaults(_Block):
    """`memory.working_memory`: what the plan's tasks start from."""

    archive_on_completion: bool = True
    max_entries_per_task: int = Field(default=DEFAULT_TASK_ENTRIES, ge=0, le=MAX_TASK_ENTRIES)


class EpisodicDefaults(_Block):
    """`memory.episodic_memory`: what the workflow's agents start from."""

    capacity_per_agent: int | None = Field(default=None, ge=1, le=MAX_EPISODIC_ENTRIES)
    eviction_policy: EvictionPolicy = "lru"


class MemoryBlock(_Block):
    """`memory`."""

    semantic_namespaces: list[Name] = Field(default=[], max_length=MAX_LISTED_NAMESPACES)
    working_memory: WorkingDefaults = WorkingDefaults()
    episodic_memory: EpisodicDefaults = EpisodicDefaults()


class AgentBlock(_Block):
    """One of `agents`. Capabilities and permissions are other parts of the protocol."""

    capabilities: list[str] = []
    permissions: Any = None
    episodic_memory: EpisodicSettings = EpisodicSettings()


class PlanTask(_Block):
    """One step of `plan`."""

    task: _Title
    agent: AgentId | None = None
    depends_on: list[_Title] = []
    memory_policy: MemoryPolicy | None = None
    outputs: list[str] = []


class Workflow(_Block):
    """Body of `POST /api/v1/workflows`."""

    name: _Title
    version: _Title | int | Annotated[float, Field(allow_inf_nan=False)] | None = None
    memory: MemoryBlock = MemoryBlock()
    agents: dict[AgentId, AgentBlock] = Field(default={}, max_length=MAX_WORKFLOW_AGENTS)
    plan: list[PlanTask] = Field(default=[], max_length=MAX_PLAN_TASKS)
