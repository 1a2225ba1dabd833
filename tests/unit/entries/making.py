"""Make entries and requests for tests of rules."""

from typing import Any

from functions.entries.model import Entry
from functions.entries.requests import EntryChange, NewEntry
from functions.entries.tiers import POLICIES, Tier
from functions.identity.model import Kind, Principal
from functions.platform.keys import create_nonce

NOW = 1_900_000_000_000  # ms


def make_principal(name: str = "ada", kind: Kind = "agent") -> Principal:
    return Principal("acme", name, kind, frozenset())


def make_entry(tier: Tier = "episodic", key: str = "k", **fields: Any) -> Entry:
    """Make an entry of ada's; fields are as in `Entry`."""
    agent = fields.pop("agent_id", "ada")
    created = fields.pop("created_at", NOW)
    made = Entry(
        address=POLICIES[tier].build_address("acme", agent, "notes", key),
        nonce=create_nonce(created),
        memory_type=tier,
        agent_id=agent,
        namespace="notes",
        key=key,
        value=b"{}",
        value_bytes=7,
        version=1,
        created_at=created,
        updated_at=created,
        created_by=agent,
        last_accessed_at=created,
    )
    return made._replace(**fields)


def make_new(**fields: Any) -> NewEntry:
    body = {"namespace": "notes", "key": "k", "value": {"n": 1}, "memory_type": "episodic"}
    return NewEntry.model_validate(body | fields)


def make_change(**fields: Any) -> EntryChange:
    return EntryChange.model_validate(fields)
