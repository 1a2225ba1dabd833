"""Many entries, and what is compared of them."""

import json
from collections.abc import Iterable
from typing import Any

import httpx

_GIVEN = {"id", "version", "created_at", "updated_at", "created_by", "curated_by"}


def fill(http: httpx.Client, count: int, **fields: object) -> list[dict[str, Any]]:
    """Create `count` entries `k0`, `k1`, …, in this order; return them as answered."""
    body = {"namespace": "ns", "value": {"pad": "x" * 1000}, "memory_type": "episodic"} | fields
    made: list[dict[str, Any]] = []
    step = 50 if body["memory_type"] == "episodic" else 15  # semantic ones take more writes
    for start in range(0, count, step):
        entries = [body | {"key": f"k{n}"} for n in range(start, min(start + step, count))]
        answer = http.post("/api/v1/memory/batch", json={"entries": entries}).raise_for_status()
        made += answer.json()["entries"]
    return made


def in_order(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries, the oldest first; what one batch created is of one age, and sorts by id."""
    return sorted(entries, key=lambda each: (each["created_at"], each["id"]))


def content(entries: Iterable[dict[str, Any]]) -> list[str]:
    """Return the sorted contents of entries, without the fields that the service sets."""
    told = ({k: v for k, v in each.items() if k not in _GIVEN} for each in entries)
    return sorted(json.dumps(each, sort_keys=True) for each in told)
