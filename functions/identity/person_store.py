"""Note which persons a tenant's items name, so that the deletion of any other needs no scan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from functions.identity.model import Principal
from functions.platform.item_types import PERSON, PRINCIPAL, REVOKED_PRINCIPAL, STATE, STATE_OWNER
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.table import Store, Table
from functions.platform.writes import Write, put

_NAMES = ("user_id", "owner_id", "principal")
_LISTS = ("agent_participants", "shared_with", "acl")
_NAMING = frozenset((*_NAMES, *_LISTS))
_PARTITION = PERSON.partition.partition("#")[2]  # its items note persons themselves
_MAX_REMEMBERED = 50_000


class Persons(Store):
    """The persons that items of a tenant name, or have named."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._noted: set[Key] = set()

    def note(self, caller: Principal, writes: Sequence[Write]) -> None:
        """Note whom writes name, before these are carried out: once in a process for each name.

        The caller is a principal, so it is known without a note. The owners of states are noted by
        agent, too: no index lists a person's states.
        """
        notes: dict[Key, Item] = {}
        for write in writes:
            attributes = write.item or write.values
            tenant, _, rest = write.key[0].partition("#")
            if _NAMING.isdisjoint(attributes) or rest == _PARTITION:
                continue
            for name in _find_names(attributes):
                if (tenant, name) != (caller.tenant, caller.id):
                    notes[PERSON.build_key(tenant, person=name)] = {}
            if write.item and "owner_id" in write.item and STATE.has_sort(write.key[1]):
                owned = {name: write.item[name] for name in ("owner_id", "agent_id")}
                person, agent = owned.values()
                notes[STATE_OWNER.build_key(tenant, person=person, agent=agent)] = owned
        new = notes.keys() - self._noted
        if not new:
            return
        if len(self._noted) >= _MAX_REMEMBERED:
            self._noted.clear()
        self._table.write_many([put(key, notes[key]) for key in new])
        self._noted |= new

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
