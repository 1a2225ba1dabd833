"""Note which persons a tenant's items name, so that the deletion of any other needs no scan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from functions.identity.model import Principal
from functions.platform.item_types import PERSON, PRINCIPAL, REVOKED_PRINCIPAL, STATE, STATE_OWNER
from functions.platform.keys import get_tenant
from functions.platform.table import Store, Table
from functions.platform.writes import Write, put

_NAMES = ("user_id", "owner_id", "principal")
_LISTS = ("agent_participants", "shared_with", "acl")
_NAMING = frozenset((*_NAMES, *_LISTS))
_MAX_REMEMBERED = 50_000


class Persons(Store):
    """The persons that items of a tenant name, or have named."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._noted: set[tuple[str, str]] = set()
        self._noted_states: set[tuple[str, str, str]] = set()

    def note(self, caller: Principal, writes: Sequence[Write]) -> None:
        """Note whom writes name, before these are carried out: once in a process for each name.

        The caller is a principal, so it is known without a note.
        """
        self._note_states(writes)
        named = (
            {
                (get_tenant(write.key[0]), name)
                for write in writes
                if not _NAMING.isdisjoint(write.item or write.values)
                for name in _find_names(write.item or write.values)
            }
            - self._noted
            - {(caller.tenant, caller.id)}
        )
        if not named:
            return
        if len(self._noted) >= _MAX_REMEMBERED:
            self._noted.clear()
        self._table.write_many(
            [put(PERSON.build_key(tenant, person=name), {}) for tenant, name in named]
        )
        self._noted |= named

    def _note_states(self, writes: Sequence[Write]) -> None:
        """Note for whom agents have states: no index lists a person's states."""
        named = {
            (get_tenant(write.key[0]), write.item["owner_id"], write.item["agent_id"])
            for write in writes
            if write.item and STATE.has_sort(write.key[1]) and "owner_id" in write.item
        } - self._noted_states
        if not named:
            return
        if len(self._noted_states) >= _MAX_REMEMBERED:
            self._noted_states.clear()
        self._table.write_many(
            [
                put(
                    STATE_OWNER.build_key(tenant, person=owner, agent=agent),
                    {"owner_id": owner, "agent_id": agent},
                )
                for tenant, owner, agent in named
            ]
        )
        self._noted_states |= named

    def list_agents_with_states(self, tenant: str, owner: str) -> list[str]:
        """List the agents that have, or had, states for an owner: one query."""
        rows = self._table.query(*STATE_OWNER.build_range(tenant, person=owner))
        return [each["agent_id"] for each in rows]

    def is_known(self, tenant: str, name: str) -> bool:
        """Tell whether there is or was such a principal, or an item names it: one call."""
        keys = (
            PRINCIPAL.build_key(tenant, principal=name),
            REVOKED_PRINCIPAL.build_key(tenant, principal=name),
            PERSON.build_key(tenant, person=name),
        )
        return bool(self._table.get_many(keys))


def _find_names(attributes: Mapping[str, Any]) -> Iterator[str]:
    found: list[Any] = [attributes.get(name) for name in _NAMES]
    for name in _LISTS:
        found += _list_names(attributes.get(name) or ())
    return (each for each in found if type(each) is str)


def _list_names(value: Iterable[str] | Mapping[str, Any]) -> Iterable[Any]:
    """List the names of a list, or of an access list, which has them in its lines."""
    if isinstance(value, Mapping):
        return [line.get("principal") for line in value.values() if isinstance(line, Mapping)]
    return value
