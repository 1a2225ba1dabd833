"""An entry is the same after it was stored, whatever form its item comes back in."""

import json
from base64 import b64encode

import pytest

from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.platform.entry_keys import build_private_address
from functions.platform.items import Item, TypedItem, decode_item, encode_item
from functions.platform.keys import create_nonce

PLAIN = Entry(
    address=build_private_address("acme", "ada", "notes", "k"),
    nonce=create_nonce(1_700_000_000_000),
    memory_type="working",
    agent_id="ada",
    namespace="notes",
    key="k",
    value=b'{"n":1}',
    value_bytes=1,
    version=3,
    created_at=1_700_000_000_000,
    updated_at=1_700_000_000_001,
    created_by="ada",
    last_accessed_at=1_700_000_000_001,
)
FULL = PLAIN._replace(
    address=PLAIN.address._replace(tier="e"),
    memory_type="episodic",
    value=json.dumps("packed " * 1000).encode(),
    created_by="eve",
    curated_by="bob",
    tags=("a", "b"),
    task_id="t",
    intent_id="i",
    ttl="task_lifetime",
    expires_at=1_800_000_000_000,
    history_since=3,
    pinned=True,
    priority="high",
    sensitivity="internal",
    last_accessed_at=1_700_000_000_005,
    request_token=b"token\x00",
    actor_kind="coordinator",
    is_fenced=True,
    is_in_own_task=True,
    vector_at=1_700_000_000_001,
    vector_length=64,
    occurred_at=1_600_000_000_002,
)
MAPPER = EntryMapper(None)


def stored(entry: Entry) -> Item:
    return {"pk": entry.item_key[0], "sk": entry.item_key[1]} | MAPPER.to_item(entry)


def answered(item: Item) -> TypedItem:
    """An item as DynamoDB's JSON has it."""
    typed: TypedItem = json.loads(json.dumps(encode_item(item), default=_in_base64))
    return typed


def _in_base64(value: bytes) -> str:
    return b64encode(value).decode()


@pytest.mark.parametrize("entry", [PLAIN, FULL], ids=["plain", "full"])
def test_an_entry_is_read_as_it_was_stored(entry: Entry) -> None:
    assert MAPPER.to_entry(decode_item(answered(stored(entry)))) == entry


def test_a_new_field_is_stored_or_fails_here() -> None:
    assert [name for name in Entry._fields if getattr(PLAIN, name) == getattr(FULL, name)] == [
        *("nonce", "agent_id", "namespace", "key", "value_bytes", "version"),
        *("created_at", "updated_at"),
        "traceparent",  # of the request that writes, not of the entry
        "unreadable",  # found by a read
        "inherited",  # of one answer
        "pinned_by_settings",  # of a create, until it is written
        "packed_vector",  # a separate item
        "superseded_at",  # of an earlier version
    ]


def test_an_encrypted_value_is_empty_without_a_cipher() -> None:
    item = stored(PLAIN) | {"data_key": b"k", "value": b"encrypted"}
    assert MAPPER.to_entry(decode_item(answered(item))) == PLAIN._replace(value=b"")
