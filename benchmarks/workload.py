"""Entries of 1 KB, which all operations are measured with."""

from collections.abc import Sequence
from typing import Any


def value(number: int) -> dict[str, Any]:
    """A checkpoint of 560 bytes of compact JSON: with its metadata, an entry of 1 KB."""
    notes = " ".join(f"invoice {number * 31 + line:08d} was matched;" for line in range(14))
    return {"completed": number, "total": 47, "last_id": f"inv_{number:06d}", "notes": notes[:500]}


def entry(agent: str, key: str, tier: str, tags: Sequence[str]) -> dict[str, Any]:
    """The body of a create."""
    return {
        "agent_id": agent,
        "namespace": "invoice_processing",
        "key": key,
        "value": value(len(key)),
        "memory_type": tier,
        "tags": list(tags),
    }
