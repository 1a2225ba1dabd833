"""Compare entries with lines of an import."""

import json
from datetime import UTC, datetime
from typing import Any

Document = dict[str, Any]
_NOT_COMPARED = ("agent_id", "vector", "last_accessed_at")


def list_differences(wanted: Document, present: Document) -> list[str]:
    """Return the fields of `wanted` that differ in the entry.

    The owner of a semantic entry is not compared, since it can't be changed, nor is the time of the
    last read. Of vectors, only the lengths are compared.
    """
    given = [name for name in wanted if name not in _NOT_COMPARED]
    found = [n for n in given if _normalize(n, wanted[n]) != _normalize(n, present.get(n))]
    if "vector" in wanted and len(wanted["vector"] or ()) != present.get("vector_length", 0):
        found.append("vector")
    return found


def _normalize(name: str, value: Any) -> Any:
    if name == "tags":
        return list(dict.fromkeys(value or []))
    if name == "scope":
        return {part: each for part, each in (value or {}).items() if each is not None}
    if name in ("expires_at", "occurred_at") and value is not None:
        moment = datetime.fromisoformat(value).astimezone(UTC)
        return moment.isoformat(timespec="milliseconds")
    if name == "value":  # as text: to Python 1, 1.0 and true are equal
        return json.dumps(value, sort_keys=True)
    return value
