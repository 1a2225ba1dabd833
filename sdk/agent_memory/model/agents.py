"""Agents: their memory and its limits.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import PrincipalKind


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWorking(Model):
    """An agent's working memory outside tasks.

    Attributes:
        max_entries: The maximum number of entries outside tasks.
        max_total_size_kb: The maximum size of their values together, in units of 1,024 bytes.
        total_size_kb: The bytes of all values, in units of 1,024, rounded up.
        room: The number of entries that can be added.
    """

    max_entries: int
    max_total_size_kb: int
    entry_count: int
    total_size_kb: int
    room: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEpisodic(Model):
    """An agent's episodic memory.

    Attributes:
        total_size_kb: The bytes of all values, in units of 1,024, rounded up.
        capacity: The maximum number of entries, including guardrails.
        room: The number of entries that can be added without an eviction.
    """

    entry_count: int
    pinned_count: int
    total_size_kb: int
    capacity: int
    room: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Model):
    """An agent, with the use and the limits of its memory."""

    agent_id: str
    kind: PrincipalKind
    agent_type: str | None = None
    created_at: datetime
    working: AgentWorking
    episodic: AgentEpisodic


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicSettings(Model):
    """The limits of episodic memory.

    Attributes:
        capacity: The maximum number of episodic entries.
        pinned_namespaces: New episodic entries in these are pinned by default.
        history: The time for which earlier values of episodic entries are kept.
    """

    capacity: int
    eviction_policy: str
    pinned_namespaces: tuple[str, ...]
    history: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSettings(Model):
    """The limits of working memory outside tasks.

    Attributes:
        max_entries: The maximum number of entries outside tasks.
        max_total_size_kb: The maximum size of their values together, in units of 1,024 bytes.
    """

    max_entries: int
    max_total_size_kb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings(Model):
    """The limits of an agent's memory."""

    agent_id: str
    episodic: EpisodicSettings
    working: WorkingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSummary(Model):
    """Working memory in figures.

    Attributes:
        total_size_kb: The bytes of all values, in units of 1,024, rounded up.
    """

    entry_count: int
    total_size_kb: int
    tasks_with_memory: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicSummary(Model):
    """Episodic memory in figures.

    Attributes:
        total_size_kb: The bytes of all values, in units of 1,024, rounded up.
    """

    entry_count: int
    capacity: int
    pinned_count: int
    total_size_kb: int
    oldest_entry: datetime | None = None
    newest_entry: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySummary(Model):
    """An agent's memory in figures (RFC-0015 §4)."""

    agent_id: str
    working: WorkingSummary
    episodic: EpisodicSummary
    semantic_namespaces_accessible: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrails(Model):
    """Limits of a coordinator's tasks; None: no limit.

    Attributes:
        max_working_memory_per_task: The maximum number of working entries of a task. A task's
            policy can't raise it.
        max_episodic_memory_per_agent: The maximum number of an agent's entries, even if its
            settings allow more.
        allowed_semantic_namespaces: The coordinator and its assignees can access semantic
            memory only in these. A name that ends with `*` is a prefix.
        denied_semantic_namespaces: They can't access semantic memory in these, even if it is
            allowed.
        memory_archive_required: Memory is archived when a task ends, even if its policy does
            not ask for it.
    """

    max_working_memory_per_task: int | None = None
    max_episodic_memory_per_agent: int | None = None
    allowed_semantic_namespaces: tuple[str, ...] = ()
    denied_semantic_namespaces: tuple[str, ...] = ()
    memory_archive_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorGuardrails(Model):
    """A coordinator's guardrails (RFC-0015 §6.6)."""

    coordinator_id: str
    guardrails: Guardrails
    version: int
    updated_at: datetime | None = None
