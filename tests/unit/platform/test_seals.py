"""A seal covers an item's key and what gives its effect; only three subjects have one."""

import hmac
import re
from typing import Any

import pytest

from functions.platform import item_types
from functions.platform.item_types import ITEM_TYPES, ItemType
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.macs import ItemSeals
from functions.platform.table import Table
from functions.platform.writes import put, update

SEALED = [each for each in ITEM_TYPES if each.sealed]
_NAMES = re.compile(r"\{[^}]*\}")


@pytest.fixture
def seals() -> ItemSeals:
    return ItemSeals(lambda purpose: hmac.digest(b"secret", purpose, "sha256"))


def build_key(item_type: ItemType, name: str = "x") -> Key:
    return _NAMES.sub(name, item_type.partition), _NAMES.sub(name, item_type.sort)


def build_item(item_type: ItemType) -> Item:
    """An item with a value for each attribute under the seal."""
    return {name: f"value of {name}" for name in item_type.sealed}


def test_principals_keys_and_deletions_are_sealed_and_nothing_else() -> None:
    assert SEALED == [
        item_types.PRINCIPAL,
        item_types.API_KEY,
        item_types.DELETION,
        item_types.DELETION_PREVIEW,
    ]


@pytest.mark.parametrize("item_type", SEALED, ids=lambda each: each.name)
def test_no_change_under_a_seal_keeps_it_valid(seals: ItemSeals, item_type: ItemType) -> None:
    key = build_key(item_type)
    sealed = seals.seal(item_type, key, build_item(item_type))
    assert seals.is_genuine(item_type, key, sealed | {"counter": 7})
    forged = [sealed | {name: "forged"} for name in item_type.sealed]
    forged += [{n: v for n, v in sealed.items() if n != name} for name in sealed]
    forged += [{}]
    assert not any(seals.is_genuine(item_type, key, each) for each in forged)
    assert not seals.is_genuine(item_type, build_key(item_type, "y"), sealed)


class Client:
    """Takes every request."""

    def __getattr__(self, name: str) -> Any:
        return lambda **_request: {"Attributes": {}}


def test_a_sealed_item_is_only_put_as_a_whole(seals: ItemSeals) -> None:
    table, key = Table(Client(), "memory", seals), build_key(item_types.PRINCIPAL)
    table.put(put(key, {"kind": "agent"}))
    with pytest.raises(ValueError, match="put it instead of updating it"):
        table.update(update(key, "SET kind = :user", user="user"))


def test_a_function_without_the_secret_writes_no_sealed_item() -> None:
    table = Table(Client(), "memory")
    with pytest.raises(ValueError, match="deployment's secret"):
        table.put(put(build_key(item_types.PRINCIPAL), {"kind": "agent"}))
