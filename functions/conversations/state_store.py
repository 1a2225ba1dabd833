"""Reads and writes of agents' states. Sensitive ones are encrypted."""

from collections.abc import Iterator

from functions.conversations.model import State, StateAddress
from functions.platform import item_types
from functions.platform.conversation_keys import build_state_key, build_state_partition
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.table import ConditionFailed, Table, TransactionConditionFailed
from functions.platform.values import ValueCodec
from functions.platform.writes import delete, put

_AT_VERSION = "version = :seen AND created = :created"


class StateChanged(Exception):
    """The stored state is no longer as it was read."""


class StateStore:
    """Reads and writes the states of all tenants."""

    def __init__(self, table: Table, values: ValueCodec) -> None:
        self._table = table
        self._values = values

    def get(self, tenant: str, address: StateAddress) -> State | None:
        """Read one state: one read."""
        item = self._table.get(_key(tenant, address))
        return None if item is None else self._decode(tenant, item)

    def list_for_owner(self, tenant: str, agent: str, owner: str) -> Iterator[State]:
        """Read all of an agent's states for an owner: a call per megabyte."""
        for item in self._table.query(
            build_state_partition(tenant, agent, owner), item_types.STATE.sort_prefix
        ):
            yield self._decode(tenant, item)

    def replace(self, tenant: str, old: State | None, new: State) -> None:
        """Write a state in place of `old`.

        Raises:
            StateChanged: the stored state is not `old`.
        """
        condition, values = "attribute_not_exists(pk)", {}
        if old is not None:
            condition, values = _AT_VERSION, {"seen": old.version, "created": old.created}
        item = self._encode(tenant, new)
        try:
            self._table.put(put(_key(tenant, new.address), item, condition, **values))
        except ConditionFailed as failed:
            raise StateChanged from failed

    def delete(self, tenant: str, old: State) -> None:
        """Delete a state.

        Raises:
            StateChanged: the stored state is not `old`.
        """
        expected = {"seen": old.version, "created": old.created}
        try:
            self._table.transact([delete(_key(tenant, old.address), _AT_VERSION, **expected)])
        except TransactionConditionFailed as refused:
            raise StateChanged from refused

    def _encode(self, tenant: str, state: State) -> Item:
        address = state.address
        context = "#".join(_key(tenant, address))
        value = self._values.encode(state.value, state.sensitivity, tenant, context, state.version)
        return value | {
            "agent": address.agent,
            "owner": address.owner,
            "name": address.key,
            "version": state.version,
            "created": state.created,
            "updated": state.updated,
            "author": state.author,
            "sensitivity": state.sensitivity,
        }

    def _decode(self, tenant: str, item: Item) -> State:
        return State(
            address=StateAddress(item["agent"], item["owner"], item["name"]),
            value=self._values.decode(item, tenant, f"{item['pk']}#{item['sk']}"),
            version=item["version"],
            created=item["created"],
            updated=item["updated"],
            author=item["author"],
            sensitivity=item.get("sensitivity"),
        )


def _key(tenant: str, address: StateAddress) -> Key:
    return build_state_key(tenant, address.agent, address.owner, address.key)
