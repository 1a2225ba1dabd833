"""Coordinators' guardrails, and what they make of tasks and assignees (RFC-0015 §6.6)."""

from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from functions.namespaces.bars import Bars
from functions.platform.fields import Name
from functions.platform.guard_keys import barred_name
from functions.platform.items import Item
from functions.tasks.model import Task

_MOST_NAMESPACES = 100


class Guardrails(BaseModel):
    """`guardrails` of a coordinator: only the given fields change; null takes one away."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    max_working_memory_per_task: int | None = Field(default=None, ge=0, le=1_000_000)
    max_episodic_memory_per_agent: int | None = Field(default=None, ge=0, le=100_000)
    allowed_semantic_namespaces: list[Name] | None = Field(
        default=None, max_length=_MOST_NAMESPACES
    )
    denied_semantic_namespaces: list[Name] | None = Field(default=None, max_length=_MOST_NAMESPACES)
    memory_archive_required: bool | None = None


class GuardrailsChange(BaseModel):
    """Body of `PATCH /api/v1/coordinators/{coordinator_id}/guardrails`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    guardrails: Guardrails


class CoordinatorGuardrails(BaseModel):
    """A coordinator's guardrails as they stand; version 0 where nobody has set any."""

    model_config = ConfigDict(frozen=True)

    coordinator: str
    guardrails: Guardrails = Guardrails()
    version: int = 0
    updated: int | None = None  # epoch ms
    request: bytes | None = None

    @property
    def bars(self) -> Bars:
        """What they bar an assignee from."""
        rules = self.guardrails
        allowed = rules.allowed_semantic_namespaces
        return Bars(
            allowed=None if allowed is None else frozenset(map(barred_name, allowed)),
            denied=frozenset(map(barred_name, rules.denied_semantic_namespaces or ())),
            episodic=rules.max_episodic_memory_per_agent,
        )


def governed(task: Task, guardrails: Guardrails) -> Task:
    """A task under its coordinator's guardrails; its room moves with its limit."""
    bounded = replace(
        task,
        cap=guardrails.max_working_memory_per_task,
        must_archive=guardrails.memory_archive_required is True,
    )
    return replace(bounded, room=task.room + bounded.most_entries - task.most_entries)


def guardrails_attributes(standing: CoordinatorGuardrails) -> Item:
    """Guardrails as attributes of their item."""
    return standing.guardrails.model_dump(exclude_none=True) | {
        "coordinator": standing.coordinator,
        "version": standing.version,
        "updated": standing.updated,
        "req": standing.request,
    }


def guardrails_of(coordinator: str, item: Item | None) -> CoordinatorGuardrails:
    """A coordinator's guardrails from their item, if there is one."""
    if item is None:
        return CoordinatorGuardrails(coordinator=coordinator)
    given = {name: item[name] for name in Guardrails.model_fields.keys() & item.keys()}
    return CoordinatorGuardrails(
        coordinator=coordinator,
        guardrails=Guardrails.model_construct(**given),
        version=item["version"],
        updated=item["updated"],
        request=item.get("req"),
    )
