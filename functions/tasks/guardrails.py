"""Coordinators' guardrails, and what they make of tasks and assignees (RFC-0015 §6.6)."""

from dataclasses import asdict, dataclass, fields, replace

from functions.namespaces.bars import Bars
from functions.platform.guard_keys import barred_name
from functions.platform.items import Item
from functions.tasks.model import Task


@dataclass(frozen=True, slots=True)
class Guardrails:
    """What a coordinator's guardrails say; None is nothing."""

    max_working_memory_per_task: int | None = None
    max_episodic_memory_per_agent: int | None = None
    allowed_semantic_namespaces: list[str] | None = None
    denied_semantic_namespaces: list[str] | None = None
    memory_archive_required: bool | None = None


@dataclass(frozen=True, slots=True)
class CoordinatorGuardrails:
    """A coordinator's guardrails as they stand; version 0 where nobody has set any."""

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
    said = asdict(standing.guardrails).items()
    return {name: each for name, each in said if each is not None} | {
        "coordinator": standing.coordinator,
        "version": standing.version,
        "updated": standing.updated,
        "req": standing.request,
    }


def guardrails_of(coordinator: str, item: Item | None) -> CoordinatorGuardrails:
    """A coordinator's guardrails from their item, if there is one."""
    if item is None:
        return CoordinatorGuardrails(coordinator=coordinator)
    given = {each.name: item[each.name] for each in fields(Guardrails) if each.name in item}
    return CoordinatorGuardrails(
        coordinator=coordinator,
        guardrails=Guardrails(**given),
        version=item["version"],
        updated=item["updated"],
        request=item.get("req"),
    )
