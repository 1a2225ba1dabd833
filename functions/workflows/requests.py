"""The content of a workflow file (RFC-0015 §7).

RFC-0015 extends workflow files, which have other parts, too. So the file, its agents and its tasks
may have unknown keys. In a block of memory, an unknown key is an error.
"""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from functions.entries.requests import EpisodicSettings, EvictionPolicy
from functions.platform import limits
from functions.platform.validation import AgentId, Name, RequestModel
from functions.tasks.requests import MemoryPolicy, PlannedFields

_Title = Annotated[str, Field(min_length=1, max_length=limits.MAX_TITLE_CHARACTERS)]


class WorkingDefaults(RequestModel):
    """`memory.working_memory`: the initial settings of the plan's tasks."""

    archive_on_completion: bool = True
    max_entries_per_task: int = Field(
        default=limits.DEFAULT_TASK_ENTRIES, ge=0, le=limits.MAX_TASK_ENTRIES
    )


class EpisodicDefaults(RequestModel):
    """`memory.episodic_memory`: the initial settings of the workflow's agents."""

    capacity_per_agent: int | None = Field(default=None, ge=1, le=limits.MAX_EPISODIC_ENTRIES)
    eviction_policy: EvictionPolicy = "lru"


class MemoryBlock(RequestModel):
    """`memory`."""

    semantic_namespaces: list[Name] = Field(default=[], max_length=limits.MAX_LISTED_NAMESPACES)
    working_memory: WorkingDefaults = Field(default_factory=WorkingDefaults)
    episodic_memory: EpisodicDefaults = Field(default_factory=EpisodicDefaults)


class OpenModel(RequestModel):
    """A part of a file that may have keys of other specifications."""

    model_config = ConfigDict(extra="allow")


class AgentBlock(OpenModel):
    """One of `agents`. Capabilities and permissions are other parts of the protocol."""

    capabilities: list[str] = Field(default=[])
    permissions: Any = None
    episodic_memory: EpisodicSettings = Field(default_factory=EpisodicSettings)


class PlanTask(PlannedFields, OpenModel):
    """One step of `plan`. Fields of RFC-0012 are kept with the task."""

    task: _Title
    agent: AgentId | None = None
    depends_on: list[_Title] = Field(default=[])
    memory_policy: MemoryPolicy | None = None
    """The policy of the task's working memory."""
    outputs: list[str] | dict[str, Any] = Field(default=[])
    metadata: dict[str, Any] = Field(default={})


class Workflow(OpenModel):
    """Body of `POST /api/v1/workflows`. Blocks that aren't of memory are ignored."""

    name: _Title
    version: _Title | int | Annotated[float, Field(allow_inf_nan=False)] | None = None
    info: Any = None
    """The block of published files that has `name` and `version`."""
    memory: MemoryBlock = Field(default_factory=MemoryBlock)
    agents: dict[AgentId, AgentBlock] = Field(default={}, max_length=limits.MAX_WORKFLOW_AGENTS)
    plan: list[PlanTask] = Field(default=[], max_length=limits.MAX_PLAN_TASKS)

    @model_validator(mode="before")
    @classmethod
    def _take_info(cls, document: Any) -> Any:
        """Accept name and version from the block `info` of published files, too."""
        info = document.get("info") if isinstance(document, dict) else None
        if not isinstance(info, dict):
            return document
        named = {name: info[name] for name in ("name", "version") if name in info}
        return {**named, **document}
