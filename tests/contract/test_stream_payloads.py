"""Each case of `events/stream.json` through the stream function, case by case."""

from typing import Any

import pytest

from functions.container import Container
from functions.entries.mapper import EntryMapper
from functions.events.model import LogName, LogQuery
from functions.events.reader import EventLogReader
from functions.platform import entry_keys
from functions.platform.aws import create_client
from functions.platform.items import decode_item
from functions.platform.settings import StreamSettings
from functions.platform.table import Table
from functions.platform.writes import put
from functions.stream.handler import build_handler
from tests.contract.service import Service
from tools.events import load_stream_cases, render_stream_event

AGENT = LogName("agent", "agent_billing_01")
POLICIES = LogName("namespace", "company_policies")

# What each payload appends to which log; removals are given the tombstone that was written before.
LOGGED: dict[str, tuple[LogName, list[str]]] = {
    "created": (AGENT, ["memory.created batch_progress 1"]),
    "created-sensitive": (AGENT, ["memory.created vendor_42 1"]),
    "updated": (AGENT, ["memory.updated batch_progress 2"]),
    "accessed": (AGENT, []),
    "deleted": (AGENT, ["memory.deleted vendor_42 1"]),
    "evicted": (AGENT, ["memory.evicted first 1"]),
    "expired-by-ttl": (POLICIES, ["memory.expired fx_rate 1"]),
    "taken-over": (AGENT, ["memory.expired page 1", "memory.created page 1"]),
    "archived": (AGENT, []),
    "announced": (AGENT, []),
    "episode": (AGENT, []),
    "other-items": (AGENT, []),
    "poison": (AGENT, ["memory.created vendor_42 1"]),
}
WITH_TOMBSTONE = ("deleted", "evicted", "archived")


def put_tombstone(memory: Table, record: dict[str, Any], reason: str) -> None:
    """Put the tombstone of an entry that was removed for a reason."""
    old = EntryMapper(None).to_entry(decode_item(record["dynamodb"]["OldImage"]))
    tombstone: dict[str, Any] = {"reason": reason, "actor": "somebody", "actor_kind": "user"}
    tombstone |= {"happened": 1_779_350_500_000}
    memory.put(put(entry_keys.build_tombstone_key(old.address, old.nonce), tombstone))


def test_every_payload_is_listed() -> None:
    assert load_stream_cases().keys() == LOGGED.keys()


@pytest.mark.parametrize("name", LOGGED)
def test_a_payload_logs_its_events(service: Service, name: str) -> None:
    settings = StreamSettings(memory_table=service.engine.memory, log_table=service.engine.log)
    dynamodb = create_client("dynamodb")
    event = render_stream_event(name)
    if name in WITH_TOMBSTONE:
        put_tombstone(Table(dynamodb, service.engine.memory), event["Records"][0], name)
    handler = build_handler(Container(settings, service.clock))
    for _ in range(2):
        assert handler(render_stream_event(name), None) == {"batchItemFailures": []}
    log, expected = LOGGED[name]
    reader = EventLogReader(Table(dynamodb, service.engine.log), service.clock)
    events, _ = reader.read("acme", log, LogQuery(100))
    assert [f"{e.type} {e.data['key']} {e.data['version']}" for e in events] == expected
