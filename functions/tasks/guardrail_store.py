"""Reads and writes of guardrails, of coordinators' lists of open tasks, and of restrictions."""

from collections.abc import Iterable
from contextlib import suppress

from functions.namespaces.restrictions import (
    Restrictions,
    merge_restrictions,
    restrictions_from_item,
    restrictions_to_item,
)
from functions.platform import item_types
from functions.platform.items import Item
from functions.platform.keys import Key, build_due_attributes
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store
from functions.platform.writes import ABSENT, Write, check, put_version, replace_rows, update
from functions.tasks.guardrails import (
    CoordinatorGuardrails,
    guardrails_from_item,
    guardrails_to_item,
)
from functions.tasks.model import Task

_REQUEST_TIME = 60_000  # ms that the request which changes guardrails has to enforce them


class GuardrailStore(Store):
    """Guardrails by coordinator, and restrictions by agent."""

    def get(self, tenant: str, coordinator: str) -> CoordinatorGuardrails:
        """Read a coordinator's guardrails: one call."""
        item = self._table.get(item_types.GUARDRAILS.build_key(tenant, agent=coordinator))
        return guardrails_from_item(coordinator, item)

    def get_with_restrictions(
        self, tenant: str, coordinators: Iterable[str], agent: str | None = None
    ) -> tuple[list[CoordinatorGuardrails], Restrictions]:
        """Read coordinators' guardrails and an agent's restrictions: one call."""
        keys = {name: item_types.GUARDRAILS.build_key(tenant, agent=name) for name in coordinators}
        others = item_types.RESTRICTIONS.build_key(tenant, agent=agent or "")
        found = self._table.get_many([*keys.values(), *([others] if agent else [])])
        guardrails = [guardrails_from_item(name, found.get(key)) for name, key in keys.items()]
        return guardrails, restrictions_from_item(found.get(others))

    def replace(self, tenant: str, new: CoordinatorGuardrails, now: int, record: Write) -> None:
        """Put guardrails in the place of the version before; they are due until they are complete.

        Args:
            now: epoch ms; an import says that they were changed earlier.
            record: the audit record, which is written with them.
        """
        key = item_types.GUARDRAILS.build_key(tenant, agent=new.coordinator_id)
        due = build_due_attributes(key[0], now + _REQUEST_TIME)
        item = guardrails_to_item(new) | due
        self._table.transact([put_version(key, item, new.version - 1 or None), record])

    def complete(self, tenant: str, coordinator: str, version: int) -> None:
        """Make guardrails due no more, if they are still at this version."""
        write = update(
            item_types.GUARDRAILS.build_key(tenant, agent=coordinator),
            f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}",
            "version = :version",
            version=version,
        )
        with suppress(ConditionFailed):
            self._table.update(write)

    def get_restrictions(self, tenant: str, agent: str) -> Restrictions:
        """Read an agent's restrictions: one call."""
        return restrictions_from_item(
            self._table.get(item_types.RESTRICTIONS.build_key(tenant, agent=agent))
        )

    def get_items(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """Read the items that exist among those of restrictions: one call, if there are keys."""
        return self._table.get_many(keys)

    def merged_restrictions(self, tenant: str, coordinators: Iterable[str]) -> Restrictions:
        """Read what the guardrails of several coordinators restrict together."""
        keys = {item_types.GUARDRAILS.build_key(tenant, agent=name): name for name in coordinators}
        items = self._table.get_many(keys) if keys else {}
        return merge_restrictions(
            guardrails_from_item(keys[key], item).restrictions for key, item in items.items()
        )

    def replace_restrictions(self, tenant: str, agent: str, new: Restrictions) -> None:
        """Put restrictions in the place of the version before."""
        self._table.put(_put_restrictions(tenant, agent, new))


def check_guardrails(tenant: str, guardrails: CoordinatorGuardrails) -> Write:
    """Check that guardrails still have the version that was read."""
    key = item_types.GUARDRAILS.build_key(tenant, agent=guardrails.coordinator_id)
    if guardrails.version == 0:
        return check(key, ABSENT)
    return check(key, "version = :version", version=guardrails.version)


def add_restrictions(
    tenant: str, agent: str, present: Restrictions, more: Iterable[Restrictions]
) -> Write:
    """Put an agent under more coordinators' restrictions."""
    merged = merge_restrictions((present, *more))
    return _put_restrictions(tenant, agent, merged._replace(version=present.version + 1))


def list_under_coordinators(tenant: str, old: Task | None, new: Task) -> list[Write]:
    """List a task under those whose guardrails bind it, and no more under others."""
    return replace_rows(_build_coordinated(tenant, old), _build_coordinated(tenant, new))


def _build_coordinated(tenant: str, task: Task | None) -> dict[Key, Item]:
    if task is None or task.completed_at is not None:
        return {}
    build_key = item_types.COORDINATED_TASK.build_key
    names = task.guarding_coordinators
    return {build_key(tenant, agent=name, task=task.id): {"task_id": task.id} for name in names}


def _put_restrictions(tenant: str, agent: str, new: Restrictions) -> Write:
    key = item_types.RESTRICTIONS.build_key(tenant, agent=agent)
    return put_version(key, restrictions_to_item(new), new.version - 1 or None)
