"""Reads and writes of guardrails, and of coordinators' lists of open tasks."""

from collections.abc import Iterable

from functions.namespaces.store import bind_coordinator
from functions.platform import item_types
from functions.platform.items import Item
from functions.platform.json_text import dumps, loads
from functions.platform.keys import REMOVE_DUE, build_due_attributes
from functions.platform.table import Store
from functions.platform.writes import (
    Write,
    build_unchanged_condition,
    check,
    put_version,
    update,
)
from functions.tasks.model import GUARDRAILS, CoordinatorGuardrails

_REQUEST_TIME = 60_000  # ms; a request that changes guardrails has this time to enforce them


class GuardrailStore(Store):
    """Guardrails by coordinator."""

    def get(self, tenant: str, coordinator: str) -> CoordinatorGuardrails:
        """Read a coordinator's guardrails: one call."""
        item = self._table.get(item_types.GUARDRAILS.build_key(tenant, agent=coordinator))
        return guardrails_from_item(coordinator, item)

    def get_many(self, tenant: str, coordinators: Iterable[str]) -> list[CoordinatorGuardrails]:
        """Read coordinators' guardrails: one call."""
        keys = {name: item_types.GUARDRAILS.build_key(tenant, agent=name) for name in coordinators}
        found = self._table.get_many(keys.values())
        return [guardrails_from_item(name, found.get(key)) for name, key in keys.items()]

    def replace(self, tenant: str, new: CoordinatorGuardrails, record: Write) -> None:
        """Replace guardrails of the version before; they are due until tasks have them."""
        key = item_types.GUARDRAILS.build_key(tenant, agent=new.coordinator_id)
        due = build_due_attributes(key[0], (new.updated_at or 0) + _REQUEST_TIME)
        item = guardrails_to_item(new) | due
        writes = [put_version(key, item, new.version - 1 or None), record]
        if new.version == 1:
            writes.append(bind_coordinator(tenant, new.coordinator_id))
        self._table.transact(writes)

    def complete(self, tenant: str, coordinator: str, version: int) -> None:
        """Remove guardrails from the due index, if they still have this version."""
        key = item_types.GUARDRAILS.build_key(tenant, agent=coordinator)
        self._table.try_write(update(key, REMOVE_DUE, "version = :version", version=version))


def check_guardrails(tenant: str, guardrails: CoordinatorGuardrails) -> Write:
    """Check that guardrails still have the version that was read."""
    key = item_types.GUARDRAILS.build_key(tenant, agent=guardrails.coordinator_id)
    condition, seen = build_unchanged_condition({"version": guardrails.version or None})
    return check(key, condition, **seen)


def guardrails_to_item(guardrails: CoordinatorGuardrails) -> Item:
    of_memory = {name: each for name, each in guardrails.given.items() if name in GUARDRAILS}
    others = {name: each for name, each in guardrails.given.items() if name not in of_memory}
    return of_memory | {
        "coordinator": guardrails.coordinator_id,
        "others": dumps(others).decode() if others else None,
        "version": guardrails.version,
        "updated_at": guardrails.updated_at,
        "requests": guardrails.requests,
    }


def guardrails_from_item(coordinator: str, item: Item | None) -> CoordinatorGuardrails:
    """Decode a coordinator's guardrails; without an item, they have version 0."""
    if item is None:
        return CoordinatorGuardrails(coordinator)
    given = {name: item[name] for name in GUARDRAILS if name in item}
    given |= loads(item.get("others") or "{}")
    version, updated_at, requests = item["version"], item["updated_at"], item.get("requests")
    return CoordinatorGuardrails(coordinator, given, version, updated_at, requests)
