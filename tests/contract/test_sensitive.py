"""RFC-0015 §9.2: what is confidential or restricted is never stored in plain text."""

import base64
import contextlib
import zlib
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    create,
    create_task,
    entry,
    query,
    read,
    semantic,
    sized,
    update,
    working,
)
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.transport import BASE_URL

WORD = "xylophone-7731"
VALUE = {"word": WORD, "filler": "a" * 3000}
TIERS = [working(), entry(), semantic()]


def plain_texts(attribute: Any) -> list[bytes]:
    """Every byte sequence that somebody who reads the table can make of an attribute."""
    if isinstance(attribute, dict):
        return [text for each in attribute.items() for part in each for text in plain_texts(part)]
    if isinstance(attribute, list):
        return [text for each in attribute for text in plain_texts(each)]
    raw = attribute if isinstance(attribute, bytes) else str(attribute).encode()
    return [raw, *unpacked(raw)]


def unpacked(raw: bytes) -> list[bytes]:
    """Return what decompression and base64 make of the bytes, where they can."""
    found = []
    for window in (15, -15, 31):
        try:
            found.append(zlib.decompress(raw, window))
        except zlib.error:
            continue
    with contextlib.suppress(ValueError):
        found.append(base64.b64decode(raw, validate=True))
    return found


def is_stored(service: Service, word: str = WORD) -> bool:
    """Return whether the word can be read in the tables."""
    return any(word.encode() in text for item in service.stored() for text in plain_texts(item))


@pytest.mark.parametrize("sensitivity", ["public", "internal"])
def test_the_search_of_the_tables_finds_plain_values(tenant: Tenant, sensitivity: str) -> None:
    create(tenant.admin, entry(value=VALUE, sensitivity=sensitivity))
    assert is_stored(tenant.service)


@pytest.mark.parametrize("body", TIERS)
@pytest.mark.parametrize("sensitivity", ["confidential", "restricted"])
def test_a_sensitive_value_is_stored_encrypted_and_reads_as_written(
    tenant: Tenant, body: dict[str, Any], sensitivity: str
) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"value": VALUE, "sensitivity": sensitivity, "tags": ["t"]})
    assert not is_stored(tenant.service)
    assert (made["value"], made["sensitivity"]) == (VALUE, sensitivity)
    assert [ok(read(alice, made["id"]))] == query(alice, tags="t") == query(alice) == [made]
    changed = ok(update(alice, made["id"], 1, value=VALUE | {"n": 2}))
    assert not is_stored(tenant.service)
    assert ok(read(alice, made["id"])) == changed
    assert changed["value"] == VALUE | {"n": 2}
    tagged = ok(update(alice, made["id"], 2, tags=["u"]))
    assert ok(read(alice, made["id"]))["value"] == tagged["value"] == VALUE | {"n": 2}


@pytest.mark.parametrize("body", TIERS)
@pytest.mark.parametrize("with_value", [False, True])
def test_the_sensitivity_may_change_both_ways(
    tenant: Tenant, body: dict[str, Any], with_value: bool
) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"value": VALUE, "sensitivity": "internal"})
    value = {"value": VALUE} if with_value else {}
    for version, (level, plain) in enumerate(
        [("confidential", False), ("restricted", False), ("public", True), ("restricted", False)], 1
    ):
        changed = ok(update(alice, made["id"], version, sensitivity=level, **value))
        assert (changed["sensitivity"], changed["value"]) == (level, VALUE)
        assert is_stored(tenant.service) == plain
        assert ok(read(alice, made["id"])) == changed


def test_sensitive_entries_of_a_batch_are_encrypted(tenant: Tenant) -> None:
    made = create(tenant.admin, entry(key="standing", sensitivity="restricted"))
    change = {"id": made["id"], "version": 1, "value": VALUE}
    new = entry(key="new", value=VALUE, sensitivity="confidential")
    entries = ok(tenant.admin.post(BATCH, json={"entries": [change, new]}))["entries"]
    assert [each["value"] for each in entries] == [VALUE, VALUE]
    assert not is_stored(tenant.service)
    natural = {"namespace": "notes", "key": "new", "memory_type": "episodic", "version": 1}
    item = natural | {"sensitivity": "public"}
    (opened,) = ok(tenant.admin.post(BATCH, json={"entries": [item]}))["entries"]
    assert opened["value"] == VALUE
    assert is_stored(tenant.service)


def test_a_sensitive_value_has_the_same_limit(tenant: Tenant) -> None:
    made = create(tenant.admin, entry(value=sized(65_536), sensitivity="restricted"))
    assert ok(read(tenant.admin, made["id"]))["value"] == sized(65_536)
    over = entry(key="over", value=sized(65_537), sensitivity="restricted")
    refused(tenant.admin.post(MEMORY, json=over), 413, "VALUE_TOO_LARGE")


def test_a_conflict_shows_the_plain_value_to_its_owner(tenant: Tenant) -> None:
    made = create(tenant.admin, entry(value=VALUE, sensitivity="restricted"))
    taken = refused(tenant.admin.post(MEMORY, json=entry()), 409, "ENTRY_EXISTS")
    stale = refused(update(tenant.admin, made["id"], 9, value={}), 409, "VERSION_MISMATCH")
    assert taken["current"] == stale["current"] == made


def test_a_coordinator_reads_a_sensitive_checkpoint(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    create_task(boss, id="task_1", assigned_agent="alice")
    made = create(alice, working("task_1", value=VALUE, sensitivity="restricted"))
    assert query(boss, task_id="task_1") == [made]


def test_a_moved_cipher_text_does_not_open(tenant: Tenant) -> None:
    service, alice = tenant.service, tenant.agent("alice")
    ours = create(alice, entry(key="ours", value=VALUE, sensitivity="restricted"))
    theirs = create(alice, entry(key="theirs", value={"word": "marimba"}, sensitivity="restricted"))
    stored = [item for item in service.stored() if {"ours", "theirs"} & strings(item)]
    first, second = stored
    sealed = {name for name in first.keys() & second.keys() if "B" in first[name]}
    swapped = second | {name: first[name] for name in sealed}
    service.engine.client.put_item(TableName=service.engine.memory, Item=swapped)
    victim = theirs if "theirs" in strings(second) else ours
    with httpx.Client(transport=service.transport, base_url=BASE_URL) as unchecked:
        answer = unchecked.get(f"{MEMORY}/{victim['id']}", headers=alice.headers)
    assert answer.status_code >= 400
    assert WORD not in answer.text
    assert "marimba" not in answer.text


def test_an_unreadable_value_is_listed_without_it(tenant: Tenant) -> None:
    service, alice = tenant.service, tenant.agent("alice")
    made = create(alice, entry(key="ours", value=VALUE, sensitivity="restricted"))
    create(alice, entry(key="fine", value={"n": 1}, sensitivity="restricted"))
    (item,) = (each for each in service.stored() if "ours" in strings(each))
    damaged = item | {"value": {"B": b"x" * 40}}
    service.engine.client.put_item(TableName=service.engine.memory, Item=damaged)
    listed = ok(alice.get(MEMORY, params={"agent_id": "alice"}))["entries"]
    shown = {each["key"]: (each.get("unreadable"), each.get("value")) for each in listed}
    assert shown == {"fine": (None, {"n": 1}), "ours": (True, None)}
    refused(alice.get(f"{MEMORY}/{made['id']}"), 409, "UNREADABLE")
    refused(update(alice, made["id"], 1, tags=["kept"]), 409, "UNREADABLE")
    ok(update(alice, made["id"], 1, value={"n": 2}))
    assert ok(alice.get(f"{MEMORY}/{made['id']}"))["value"] == {"n": 2}


def test_a_value_that_would_fill_the_memory_is_unreadable(tenant: Tenant) -> None:
    service, alice = tenant.service, tenant.agent("alice")
    made = create(alice, entry(key="bomb", value={"text": "x" * 9000}))
    (item,) = (each for each in service.stored() if "bomb" in strings(each))
    bomb = zlib.compress(b'"' + b"x" * 300_000_000 + b'"')
    service.engine.client.put_item(
        TableName=service.engine.memory, Item=item | {"value": {"B": bomb}}
    )
    (listed,) = ok(alice.get(MEMORY, params={"agent_id": "alice"}))["entries"]
    assert listed["unreadable"]
    assert_no_content(alice.delete(f"{MEMORY}/{made['id']}"))


def strings(item: dict[str, Any]) -> set[str]:
    """The texts that are attributes of an item by themselves."""
    return {attribute["S"] for attribute in item.values() if "S" in attribute}


def test_a_sensitive_entry_that_is_moved_to_another_task_does_not_open(tenant: Tenant) -> None:
    service, boss, alice = tenant.service, tenant.coordinator("boss"), tenant.agent("alice")
    other = tenant.coordinator("other")
    create_task(boss, id="ours", assigned_agent="alice")
    create_task(other, id="theirs", intent_id="another", assigned_agent="alice")
    made = create(alice, working("ours", value=VALUE, sensitivity="restricted"))
    (item,) = [
        each
        for each in service.stored()
        if each.get("task_id") == {"S": "ours"} and "value" in each
    ]
    moved = item | {"task_id": {"S": "theirs"}}
    service.engine.client.put_item(TableName=service.engine.memory, Item=moved)
    with httpx.Client(transport=service.transport, base_url=BASE_URL) as unchecked:
        answer = unchecked.get(f"{MEMORY}/{made['id']}", headers=other.headers)
    assert answer.status_code >= 400
    assert WORD not in answer.text
