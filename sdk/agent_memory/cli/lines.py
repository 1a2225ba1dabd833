"""The lines of an import: an export's JSON Lines, checked one by one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.jsontext import BOM, parse_json
from agent_memory.model import ENTRY_FIELDS, Entry

MOST_LINE_BYTES = 4_194_304
_REQUIRED = ("namespace", "key", "value", "memory_type")
_EPISODIC = {"pinned": False, "priority": "normal"}
_WRITABLE = tuple(dict.fromkeys((*_REQUIRED, "agent_id", *ENTRY_FIELDS)))
_KNOWN = {*_WRITABLE, *Entry.__dataclass_fields__, "last_accessed_at"}
Document = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """An entry to import.

    Attributes:
        number: the line's number, from 1.
        body: the entry in the form of a create.
        size: of the line in bytes.
        id: the entry's id at the export.
    """

    number: int
    body: Document
    size: int
    id: str | None = None

    @property
    def name(self) -> str:
        """The name of the line and its entry in reports."""
        return f"line {self.number} ({self.body['namespace']} / {self.body['key']})"

    @property
    def names_owner(self) -> bool:
        """Tell whether it is private memory with an owner."""
        return "agent_id" in self.body and self.body["memory_type"] != "semantic"

    @property
    def task(self) -> str | None:
        """The task in its scope."""
        return (self.body.get("scope") or {}).get("task_id")

    @property
    def is_of_task(self) -> bool:
        """Tell whether it is working memory of a task."""
        return self.body["memory_type"] == "working" and self.task is not None

    @property
    def expires(self) -> datetime | None:
        """Return when the entry expires."""
        text = self.body.get("expires_at")
        return None if text is None else datetime.fromisoformat(text)


def read_lines(source: BinaryIO, warn: Callable[[str], None]) -> Iterator[Line]:
    """Read the entries of a source, one at a time; empty lines are skipped.

    Unknown fields, such as those of a newer service, are omitted, with one warning for each.

    Args:
        source: has an entry on each line.
        warn: takes a text for the user.

    Raises:
        UsageFailure: a line has no entry; the message names it.
    """
    number = 0
    unknown: set[str] = set()
    while raw := source.readline(MOST_LINE_BYTES + 1):
        number += 1
        if len(raw) > MOST_LINE_BYTES:
            raise UsageFailure(f"line {number} has more than {MOST_LINE_BYTES:,} bytes")
        text = raw.removeprefix(BOM) if number == 1 else raw
        if text.strip():
            entry = _parse_entry(number, text)
            for name in sorted(entry.keys() - _KNOWN - unknown):
                warn(f"line {number}: this version doesn't know the field {name}; it is left out")
            unknown |= entry.keys()
            yield Line(number, _build_body(entry), len(raw), entry.get("id"))


def _parse_entry(number: int, text: bytes) -> Document:
    try:
        entry = parse_json(text)
        _assert_entry(entry)
    except ValueError as error:
        raise UsageFailure(f"line {number}: {error}") from error
    known: Document = entry
    return known


def _build_body(entry: Document) -> Document:
    """Build the create of an entry, with the time when its content happened."""
    given = [name for name in _WRITABLE if name in entry and not _is_default(entry, name)]
    body = {name: entry[name] for name in given}
    if body.get("occurred_at") is None and entry.get("created_at") is not None:
        body["occurred_at"] = entry["created_at"]
    return body


def _is_default(entry: Document, name: str) -> bool:
    """Return whether a field has its default, as `pinned` and `priority` in other tiers."""
    if name not in _EPISODIC or entry["memory_type"] == "episodic":
        return False
    return bool(entry[name] == _EPISODIC[name])


def _assert_entry(entry: Any) -> None:
    if not isinstance(entry, dict):
        raise ValueError("an entry must be a JSON object")
    missing = [name for name in _REQUIRED if name not in entry]
    if missing:
        raise ValueError(f"{', '.join(missing)} is missing")
    for name in ("namespace", "key", "memory_type"):
        if not isinstance(entry[name], str):
            raise ValueError(f"{name} must be a text")
    _assert_moment(entry.get("expires_at"))


def _assert_moment(text: Any) -> None:
    if text is None:
        return
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except (TypeError, ValueError):
        aware = False
    if not aware:
        raise ValueError("expires_at must be a time such as 2026-02-08T10:00:00Z")
