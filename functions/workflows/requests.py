"""What a workflow file says (RFC-0015 §7); other keys than these are errors."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from functions.entries.requests import EpisodicSettings, EvictionPolicy
from functions.platform.fields import AgentId, Name
from functions.tasks.requests import MemoryPolicy

_Title = Annotated[str, Field(min_length=1, max_length=100)]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class WorkingDefaults(_Block):
    """`memory.working_memory`: what the plan's tasks start from."""

    archive_on_completion: bool = True
    max_entries_per_task: int = Field(default=100, ge=0, le=1_000_000)


class EpisodicDefaults(_Block):
    """`memory.episodic_memory`: what the workflow's agents start from."""

    capacity_per_agent: int | None = Field(default=None, ge=1, le=100_000)
    eviction_policy: EvictionPolicy = "lru"


class MemoryBlock(_Block):
    """`memory`."""

    semantic_namespaces: list[Name] = Field(default=[], max_length=100)
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
    agents: dict[AgentId, AgentBlock] = Field(default={}, max_length=100)
    plan: list[PlanTask] = Field(default=[], max_length=200)
