"""Coordinators' guardrails, and how they restrict tasks and assignees (RFC-0015 §6.6); pure."""

from dataclasses import asdict, dataclass, fields, replace

from functions.namespaces.restrictions import Restrictions
from functions.platform.items import Item
from functions.platform.keys import hash_namespace
from functions.tasks.model import Task


@dataclass(frozen=True, slots=True)
class GuardrailLimits:
    """What a coordinator's guardrails say; None restricts nothing."""

    max_working_memory_per_task: int | None = None
    max_episodic_memory_per_agent: int | None = None
    allowed_semantic_namespaces: list[str] | None = None
    denied_semantic_namespaces: list[str] | None = None
    memory_archive_required: bool | None = None


@dataclass(frozen=True, slots=True)
class CoordinatorGuardrails:
    """A coordinator's guardrails and their version; 0 where nobody has set any."""

    coordinator: str
    guardrails: GuardrailLimits = GuardrailLimits()
    version: int = 0
    updated: int | None = None  # epoch ms
    request: bytes | None = None

    @property
    def restrictions(self) -> Restrictions:
        """What they take away from an assignee."""
        said = self.guardrails
        allowed = said.allowed_semantic_namespaces
        return Restrictions(
            allowed=None if allowed is None else frozenset(map(hash_namespace, allowed)),
            denied=frozenset(map(hash_namespace, said.denied_semantic_namespaces or ())),
            max_episodic=said.max_episodic_memory_per_agent,
        )


def restrict_task(task: Task, guardrails: GuardrailLimits) -> Task:
    """Return a task under its coordinator's guardrails; what is free changes with its limit."""
    restricted = replace(
        task,
        entry_cap=guardrails.max_working_memory_per_task,
        archive_required=guardrails.memory_archive_required is True,
    )
    return replace(
        restricted, free_entries=task.free_entries + restricted.max_entries - task.max_entries
    )


def guardrails_to_item(guardrails: CoordinatorGuardrails) -> Item:
    """Return guardrails as attributes of their item."""
    said = asdict(guardrails.guardrails).items()
    return {name: each for name, each in said if each is not None} | {
        "coordinator": guardrails.coordinator,
        "version": guardrails.version,
        "updated": guardrails.updated,
        "request_token": guardrails.request,
    }


def guardrails_from_item(coordinator: str, item: Item | None) -> CoordinatorGuardrails:
    """Read a coordinator's guardrails from their item; no item has version 0."""
    if item is None:
        return CoordinatorGuardrails(coordinator=coordinator)
    given = {each.name: item[each.name] for each in fields(GuardrailLimits) if each.name in item}
    return CoordinatorGuardrails(
        coordinator=coordinator,
        guardrails=GuardrailLimits(**given),
        version=item["version"],
        updated=item["updated"],
        request=item.get("request_token"),
    )
