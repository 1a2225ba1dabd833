"""What a workflow file says (RFC-0015 §7); other keys than these are errors."""

from typing import Annotated, Any

from pydantic import Field

from functions.entries.requests import EpisodicSettings, EvictionPolicy
from functions.platform.limits import (
    DEFAULT_TASK_ENTRIES,
    MAX_EPISODIC_ENTRIES,
    MAX_LISTED_NAMESPACES,
    MAX_PLAN_TASKS,
    MAX_TASK_ENTRIES,
    MAX_TITLE_CHARACTERS,
    MAX_WORKFLOW_AGENTS,
)
from functions.platform.validation import AgentId, Name, RequestModel
from functions.tasks.requests import MemoryPolicy

_Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)]


class WorkingDefaults(RequestModel):
    """`memory.working_memory`: what the plan's tasks start from."""

    archive_on_completion: bool = True
    max_entries_per_task: int = Field(default=DEFAULT_TASK_ENTRIES, ge=0, le=MAX_TASK_ENTRIES)


class EpisodicDefaults(RequestModel):
    """`memory.episodic_memory`: what the workflow's agents start from."""

    capacity_per_agent: int | None = Field(default=None, ge=1, le=MAX_EPISODIC_ENTRIES)
    eviction_policy: EvictionPolicy = "lru"


class MemoryBlock(RequestModel):
    """`memory`."""

    semantic_namespaces: list[Name] = Field(default=[], max_length=MAX_LISTED_NAMESPACES)
    working_memory: WorkingDefaults = Field(default_factory=WorkingDefaults)
    episodic_memory: EpisodicDefaults = Field(default_factory=EpisodicDefaults)


class AgentBlock(RequestModel):
    """One of `agents`. Capabilities and permissions are other parts of the protocol."""

    capabilities: list[str] = Field(default=[])
    permissions: Any = None
    episodic_memory: EpisodicSettings = Field(default_factory=EpisodicSettings)


class PlanTask(RequestModel):
    """One step of `plan`."""

    task: _Title
    agent: AgentId | None = None
    depends_on: list[_Title] = Field(default=[])
    memory_policy: MemoryPolicy | None = None
    """How the task's working memory behaves."""
    outputs: list[str] = Field(default=[])


class Workflow(RequestModel):
    """Body of `POST /api/v1/workflows`."""

    name: _Title
    version: _Title | int | Annotated[float, Field(allow_inf_nan=False)] | None = None
    memory: MemoryBlock = Field(default_factory=MemoryBlock)
    agents: dict[AgentId, AgentBlock] = Field(default={}, max_length=MAX_WORKFLOW_AGENTS)
    plan: list[PlanTask] = Field(default=[], max_length=MAX_PLAN_TASKS)
