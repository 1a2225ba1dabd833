"""Agents' settings for episodic memory, as they are asked for (RFC-0015 §2.2, §7; contract §4)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from functions.platform.fields import Name

EvictionPolicy = Literal["lru"]


class EpisodicSettings(BaseModel):
    """`episodic` of an agent's settings: only the given fields change."""

    model_config = ConfigDict(extra="forbid", strict=True)

    capacity: int = Field(default=1000, ge=1, le=100_000)
    eviction_policy: EvictionPolicy = "lru"
    pinned_namespaces: list[Name] = Field(default=[], max_length=100)


class AgentConfig(BaseModel):
    """Body of `PATCH /api/v1/agents/{agent_id}/memory/config`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    episodic: EpisodicSettings
