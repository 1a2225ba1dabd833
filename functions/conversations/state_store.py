"""Reads and writes of agents' states. Sensitive ones are encrypted, large ones stored in parts."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from functions.conversations.model import State, StateAddress
from functions.platform import item_types, staging
from functions.platform.bounded_pages import WantedPage
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key, encode_timestamp, hash_name
from functions.platform.newest_first import iterate_rows
from functions.platform.retry import retry_on
from functions.platform.schema import BY_GROUP, GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.values import ValueCodec, read_text
from functions.platform.writes import Write, delete, put, put_new

_AT_VERSION = "version = :seen AND created_at = :created_at"
_LISTED_TOGETHER = 50
get_position: Callable[[Item], str] = itemgetter(TYPE_ORDER_ATTRIBUTE)
"""Get a state's position in lists."""


class StateStore:
    """Reads and writes the states of all tenants."""

    def __init__(self, table: Table, values: ValueCodec, staging: staging.Staging) -> None:
        self._table = table
        self._values = values
        self._staging = staging

    @retry_on(staging.PartsMissing, "others are writing this state")
    def get(self, tenant: str, address: StateAddress) -> State | None:
        """Read one state: one read, and one call more if it is large."""
        item = self.get_item(tenant, address)
        return None if item is None else self.decode(tenant, item)

    def get_item(self, tenant: str, address: StateAddress) -> Item | None:
        """Read the item of one state, without a large value: one read."""
        return self._table.get(_key(tenant, address))

    def list_all(
        self, tenant: str, agent: str, owner: str | None, wanted: WantedPage
    ) -> Iterator[Item]:
        """List the items of an agent's states, the last updated first.

        States of all owners are grouped by owner: two calls for each fifty, from an index that may
        lag. Counted states of one owner take a strongly consistent call per megabyte.
        """
        if wanted.is_counted and owner is not None:
            key_range = item_types.STATE.build_range(tenant, agent=agent, owner=owner)
            found = self._table.query(*key_range)
            yield from sorted(found, key=get_position, reverse=True)
            return
        of = BY_GROUP, item_types.STATE.build_group(tenant, agent=agent)
        prefix, before = "" if owner is None else _build_prefix(owner), wanted.begin
        for rows in iterate_rows(self._table, *of, wanted, _LISTED_TOGETHER, prefix):
            keys = [(row["pk"], row["sk"]) for row in rows]
            items = self._table.get_many(keys)
            for item in (items[key] for key in keys if key in items):
                # a state updated since the index was read has moved to the front
                follows = before is None or get_position(item) < before
                if follows and _is_of(item, tenant, agent, owner):
                    yield item

    def replace(
        self, tenant: str, old: Item | None, new: State, now: int, further: Sequence[Write] = ()
    ) -> None:
        """Replace the state whose item is `old`, together with further writes."""
        key = _key(tenant, new.address)
        item, shown = self._encode(tenant, new, now)
        hidden = staging.hide_parts(old, now)
        self._table.write([_build_put(key, item, old), *shown, *hidden, *further])
        self._staging.remove_parts(old)

    def delete(self, old: Item, now: int, further: Sequence[Write] = ()) -> None:
        """Delete a state, together with further writes."""
        key = (old["pk"], old["sk"])
        expected = {"seen": old["version"], "created_at": old["created_at"]}
        hidden = staging.hide_parts(old, now)
        self._table.transact([delete(key, _AT_VERSION, **expected), *further, *hidden])
        self._staging.remove_parts(old)

    def _encode(self, tenant: str, state: State, now: int) -> tuple[Item, list[Write]]:
        """Encode a state, and store the parts of a large value."""
        key = _key(tenant, state.address)
        value = self._values.encode(
            state.value, state.sensitivity, tenant, "#".join(key), state.version
        )
        value, shown = self._staging.stage_value(*key, value, now)
        address = state.address
        return value | {
            **to_attributes(address),
            **to_attributes(state, "address", "value"),
            GROUP_ATTRIBUTE: item_types.STATE.build_group(tenant, agent=address.agent_id),
            TYPE_ORDER_ATTRIBUTE: "".join(
                [_build_prefix(address.owner_id), encode_timestamp(state.updated_at), key[1]]
            ),
        }, shown

    def decode(self, tenant: str, item: Item) -> State:
        """Decode a state: one call if it is large."""
        context, version = f"{item['pk']}#{item['sk']}", item["version"]
        whole = self._staging.join(item)
        value = read_text(whole, lambda: self._values.decode(whole, tenant, context, version))
        return decode_head(item)._replace(value=value)


def decode_head(item: Item) -> State:
    """Decode a state without its value."""
    return from_attributes(State, item, address=from_attributes(StateAddress, item), value=b"null")


def _is_of(item: Item, tenant: str, agent: str, owner: str | None) -> bool:
    """Tell whether an item's key is that of an agent's state: an index may be forged."""
    of = item["owner_id"]
    partition = item_types.STATE.build_partition(tenant, agent=agent, owner=of)
    return item["pk"] == partition and item["agent_id"] == agent and owner in (None, of)


def _build_put(key: Key, item: Item, old: Item | None) -> Write:
    if old is None:
        return put_new(key, item)
    return put(key, item, _AT_VERSION, seen=old["version"], created_at=old["created_at"])


def _key(tenant: str, address: StateAddress) -> Key:
    return item_types.STATE.build_key(
        tenant, agent=address.agent_id, owner=address.owner_id, state=address.key
    )


def _build_prefix(owner: str) -> str:
    """Build the prefix of the positions of an owner's states."""
    return f"{hash_name('owner', owner)}#"
