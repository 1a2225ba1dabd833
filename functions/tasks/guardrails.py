"""Coordinators' guardrails, and how they restrict tasks (RFC-0015 §6.6); pure."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from functions.platform.errors import ValueTooLarge
from functions.platform.idempotency import RequestHistory, RequestToken
from functions.platform.items import Item
from functions.platform.json_text import dumps, dumps_checked, loads
from functions.platform.limits import MAX_GUARDRAILS_BYTES
from functions.tasks.model import Task


class GuardrailLimits(NamedTuple):
    """Tells what a coordinator's guardrails say; None restricts nothing."""

    max_working_memory_per_task: int | None = None
    max_episodic_memory_per_agent: int | None = None
    allowed_semantic_namespaces: list[str] | None = None
    denied_semantic_namespaces: list[str] | None = None
    memory_archive_required: bool | None = None


@dataclass(frozen=True, slots=True)
class CoordinatorGuardrails:
    """A coordinator's guardrails and their version, 0 if none were set.

    Attributes:
        others: guardrails that aren't of memory, as given: `delegates`, and those of RFC-0013.
    """

    coordinator_id: str
    guardrails: GuardrailLimits = field(default_factory=GuardrailLimits)
    others: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    updated_at: int | None = None  # epoch ms
    requests: RequestHistory | None = None

    @property
    def members(self) -> dict[str, Any]:
        """All guardrails by their names, as they are shown; what isn't set is None."""
        return self.guardrails._asdict() | self.others

    @property
    def default_delegates(self) -> tuple[str, ...]:
        """The delegates of the coordinator's new tasks that name none."""
        return tuple(self.others.get("delegates", ()))


def change_guardrails(
    present: CoordinatorGuardrails, given: dict[str, Any], now: int, token: RequestToken
) -> CoordinatorGuardrails:
    """Return guardrails after a change: what isn't given stays, None takes one away."""
    names = GuardrailLimits._fields
    limits = {name: value for name, value in given.items() if name in names}
    merged = present.others | {name: v for name, v in given.items() if name not in names}
    others = {name: value for name, value in merged.items() if value is not None}
    size = len(dumps_checked(others, "guardrails"))
    if size > MAX_GUARDRAILS_BYTES:
        raise ValueTooLarge("the guardrails are too large", max=MAX_GUARDRAILS_BYTES, actual=size)
    return CoordinatorGuardrails(
        coordinator_id=present.coordinator_id,
        guardrails=present.guardrails._replace(**limits),
        others=others,
        version=present.version + 1,
        updated_at=now,
        requests=token.add_to(present.requests),
    )


def restrict_task(task: Task, *guardrails: GuardrailLimits) -> Task:
    """Return a task under the strictest guardrails; what is free changes with its limit."""
    caps = [each.max_working_memory_per_task for each in guardrails]
    restricted = replace(
        task,
        entry_cap=min((each for each in caps if each is not None), default=None),
        archive_required=any(each.memory_archive_required for each in guardrails),
    )
    return replace(
        restricted, free_entries=task.free_entries + restricted.max_entries - task.max_entries
    )


def guardrails_to_item(guardrails: CoordinatorGuardrails) -> Item:
    said = guardrails.guardrails._asdict().items()
    return {name: each for name, each in said if each is not None} | {
        "coordinator": guardrails.coordinator_id,
        "others": dumps(guardrails.others).decode() if guardrails.others else None,
        "version": guardrails.version,
        "updated_at": guardrails.updated_at,
        "requests": guardrails.requests,
    }


def guardrails_from_item(coordinator: str, item: Item | None) -> CoordinatorGuardrails:
    """Read a coordinator's guardrails from their item; no item has version 0."""
    if item is None:
        return CoordinatorGuardrails(coordinator_id=coordinator)
    given = {name: item[name] for name in GuardrailLimits._fields if name in item}
    return CoordinatorGuardrails(
        coordinator_id=coordinator,
        guardrails=GuardrailLimits(**given),
        others=loads(item["others"]) if "others" in item else {},
        version=item["version"],
        updated_at=item["updated_at"],
        requests=item.get("requests"),
    )
