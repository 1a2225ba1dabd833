"""Test which events a change of an entry causes (RFC-0015 §5.1, §5.2)."""

from dataclasses import replace
from typing import Any

import pytest

from functions.entries.delete import Removal
from functions.entries.model import Entry
from functions.events.event_bus import to_cloud_event
from functions.events.model import Event, LogName
from functions.identity.model import SERVICE, Actor
from functions.platform.entry_keys import build_private_address, build_semantic_address
from functions.stream.events import build_events
from functions.stream.records import Change, StreamRecord
from functions.tasks.model import Policy, Task

BOSS = Actor("boss", "coordinator")
RECORD = StreamRecord("1", ("acme#a#x", "e#n#k"))
ENTRY = Entry(
    address=build_private_address("acme", "ada", "notes", "k", "e"),
    nonce="0" * 16,
    memory_type="episodic",
    agent_id="ada",
    namespace="notes",
    key="k",
    value=b'{"secret":"hush"}',
    value_bytes=1,
    version=3,
    created_at=1_000,
    updated_at=2_000,
    created_by="ada",
    tags=("a", "b"),
)


TASK = Task("t", "i", "running", 1, created_at=900, updated_at=900, memory_policy=Policy())


def events_of(
    old: Entry | None, new: Entry | None, removal: Removal | None = None, *, task: Task = TASK
) -> list[Event]:
    """The events of a change; the task t is under the intent i."""
    return build_events(Change(RECORD, old, new), removal, {("acme", "t"): task})


def test_a_creation_has_no_previous_version() -> None:
    (event,) = events_of(None, ENTRY._replace(version=1))
    assert (event.type, event.timestamp) == ("memory.created", 1_000)
    assert (event.data["version"], event.data["previous_version"]) == (1, None)


def test_an_update_names_both_versions() -> None:
    (event,) = events_of(ENTRY._replace(version=2), ENTRY)
    assert (event.type, event.timestamp) == ("memory.updated", 2_000)
    assert (event.data["version"], event.data["previous_version"]) == (3, 2)


@pytest.mark.parametrize("reason", ["deleted", "evicted", "expired"])
def test_a_removal_names_the_last_version_twice(reason: Any) -> None:
    (event,) = events_of(ENTRY, None, Removal(reason, 5_000, BOSS))
    assert (event.type, event.timestamp) == (f"memory.{reason}", 5_000)
    assert (event.data["version"], event.data["previous_version"]) == (3, 3)


def test_an_archived_entry_has_no_event_of_its_own() -> None:
    assert events_of(ENTRY, None, Removal("archived", 5_000, BOSS)) == []


def test_a_recorded_access_is_no_event() -> None:
    assert events_of(ENTRY, ENTRY._replace(last_accessed_at=9_000)) == []


@pytest.mark.parametrize(("expires", "type"), [(7_000, "memory.expired"), (None, "memory.deleted")])
def test_replacing_an_entry_has_two_events(expires: int | None, type: str) -> None:
    new = ENTRY._replace(nonce="1" * 16, version=1, created_at=7_000)
    removed, created = events_of(ENTRY._replace(expires_at=expires), new)
    assert (removed.type, removed.data["entry_id"]) == (type, ENTRY.id)
    assert (created.type, created.data["entry_id"]) == ("memory.created", new.id)


@pytest.mark.parametrize(
    ("changes", "log"),
    [
        ({}, ("agent", "ada")),
        ({"intent_id": "mine"}, ("intent", "mine")),
        ({"task_id": "t"}, ("intent", "i")),
        ({"task_id": "unknown"}, ("agent", "ada")),
        (
            {"memory_type": "semantic", "address": build_semantic_address("acme", "notes", "k")},
            ("namespace", "notes"),
        ),
    ],
)
def test_an_event_is_in_the_log_of_intent_agent_or_namespace(
    changes: dict[str, Any], log: tuple[str, str]
) -> None:
    (event,) = events_of(None, ENTRY._replace(**changes))
    assert (event.log.kind, event.log.name) == log


def test_an_intents_log_begins_when_the_task_joins_it() -> None:
    new = ENTRY._replace(task_id="t")
    old = new._replace(version=2)
    for task in (replace(TASK, created_at=1_500), replace(TASK, adopted_at=1_500)):
        (created,), (updated,) = events_of(None, new, task=task), events_of(old, new, task=task)
        assert (created.log, updated.log) == (LogName("agent", "ada"), LogName("intent", "i"))


def test_an_event_has_the_fields_of_the_rfc_and_never_a_value() -> None:
    (event,) = events_of(ENTRY._replace(version=2), ENTRY)
    assert event.data == {
        "entry_id": ENTRY.id,
        "namespace": "notes",
        "key": "k",
        "memory_type": "episodic",
        "version": 3,
        "previous_version": 2,
        "tags": ("a", "b"),
    }
    assert "hush" not in str(to_cloud_event(event))


def test_an_announced_archive_is_about_its_task() -> None:
    announcement = {
        "id": "evt_1",
        "agent_id": "ada",
        "actor": "boss",
        "actor_kind": "coordinator",
        "task_id": "t",
        "entries": 7,
        "timestamp": 9_000,
    }
    (event,) = build_events(Change(RECORD, announcement=announcement), None, {})
    published = to_cloud_event(event)
    assert (published["id"], published["type"], published["subject"]) == (
        "evt_1",
        "memory.archived",
        "t",
    )
    assert published["data"]["entries_archived"] == 7
    assert published["data"]["actor"] == {"id": "boss", "kind": "coordinator"}


def test_an_event_names_who_acted_beside_whose_memory_it_is() -> None:
    address = build_semantic_address("acme", "notes", "k")
    created = ENTRY._replace(
        memory_type="semantic", address=address, version=1, curated_by="ada", actor_kind="agent"
    )
    updated = created._replace(version=2, curated_by="boss", actor_kind="coordinator")
    replacement = created._replace(nonce="1" * 16)
    for old, new, removal, actor in (
        (None, created, None, Actor("ada", "agent")),
        (created, updated, None, BOSS),
        (updated, None, Removal("deleted", 5_000, Actor("eve", "user")), Actor("eve", "user")),
        (updated._replace(expires_at=1), replacement, None, SERVICE),  # it had expired
        (updated, replacement, None, Actor("ada", "agent")),
    ):
        event = events_of(old, new, removal)[0]
        assert (event.agent_id, event.actor) == ("ada", actor)
