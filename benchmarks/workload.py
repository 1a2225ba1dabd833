"""Entries of 1 KB for all measurements."""

from collections.abc import Sequence
from typing import Any


def value(number: int) -> dict[str, Any]:
    """Build a checkpoint of 560 bytes of JSON; with its metadata, an entry has 1 KB."""
    notes = " ".join(f"invoice {number * 31 + line:08d} was matched;" for line in range(14))
    return {"completed": number, "total": 47, "last_id": f"inv_{number:06d}", "notes": notes[:500]}


def entry(agent: str, key: str, tier: str, tags: Sequence[str]) -> dict[str, Any]:
    """Build the body of a create."""
    return {
        "agent_id": agent,
        "namespace": "invoice_processing",
        "key": key,
        "value": value(len(key)),
        "memory_type": tier,
        "tags": list(tags),
    }
