"""Coordinators' guardrails, and how they restrict tasks (RFC-0015 §6.6); pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from functions.platform.errors import ValueTooLarge
from functions.platform.idempotency import RequestHistory, RequestToken
from functions.platform.items import Item
from functions.platform.json_text import dumps, dumps_checked, loads
from functions.platform.limits import MAX_GUARDRAILS_BYTES
from functions.tasks.model import Task

_OF_MEMORY = (
    "max_working_memory_per_task",
    "max_episodic_memory_per_agent",
    "allowed_semantic_namespaces",
    "denied_semantic_namespaces",
    "memory_archive_required",
)


@dataclass(frozen=True, slots=True)
class CoordinatorGuardrails:
    """A coordinator's guardrails and their version, 0 if none were set.

    Attributes:
        given: those that are set, by name; those that aren't of memory are as they were given.
    """

    coordinator_id: str
    given: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    updated_at: int | None = None  # epoch ms
    requests: RequestHistory | None = None

    @property
    def members(self) -> dict[str, Any]:
        """All guardrails by their names, as they are shown; what isn't set is None."""
        return {**dict.fromkeys(_OF_MEMORY), **self.given}


def change_guardrails(
    present: CoordinatorGuardrails, given: dict[str, Any], now: int, token: RequestToken
) -> CoordinatorGuardrails:
    """Return guardrails after a change: what isn't given stays, None takes one away."""
    merged = {name: each for name, each in {**present.given, **given}.items() if each is not None}
    others = {name: each for name, each in merged.items() if name not in _OF_MEMORY}
    size = len(dumps_checked(others, "guardrails"))
    if size > MAX_GUARDRAILS_BYTES:
        raise ValueTooLarge("the guardrails are too large", max=MAX_GUARDRAILS_BYTES, actual=size)
    requests = token.add_to(present.requests)
    return CoordinatorGuardrails(present.coordinator_id, merged, present.version + 1, now, requests)


def restrict_task(task: Task, *guardrails: Mapping[str, Any]) -> Task:
    """Return a task under the strictest guardrails; what is free changes with its limit."""
    caps = [each.get("max_working_memory_per_task") for each in guardrails]
    restricted = replace(
        task,
        entry_cap=min((each for each in caps if each is not None), default=None),
        archive_required=any(each.get("memory_archive_required") for each in guardrails),
    )
    return replace(
        restricted, free_entries=task.free_entries + restricted.max_entries - task.max_entries
    )


def guardrails_to_item(guardrails: CoordinatorGuardrails) -> Item:
    of_memory = {name: each for name, each in guardrails.given.items() if name in _OF_MEMORY}
    others = {name: each for name, each in guardrails.given.items() if name not in of_memory}
    return of_memory | {
        "coordinator": guardrails.coordinator_id,
        "others": dumps(others).decode() if others else None,
        "version": guardrails.version,
        "updated_at": guardrails.updated_at,
        "requests": guardrails.requests,
    }


def guardrails_from_item(coordinator: str, item: Item | None) -> CoordinatorGuardrails:
    """Read a coordinator's guardrails from their item; no item has version 0."""
    if item is None:
        return CoordinatorGuardrails(coordinator)
    given = {name: item[name] for name in _OF_MEMORY if name in item}
    given |= loads(item.get("others") or "{}")
    version, updated_at, requests = item["version"], item["updated_at"], item.get("requests")
    return CoordinatorGuardrails(coordinator, given, version, updated_at, requests)
