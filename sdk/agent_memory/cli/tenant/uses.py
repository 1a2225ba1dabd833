"""`uses` of messages: after an import, entries have other ids, and messages other indexes."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_ENTRY = re.compile(r"e\.(?:mem_)?([wen])\w*?(\w{16})(?:\..+)?")
_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")


class Renaming:
    """Renames the items that messages use to their names after an import.

    Args:
        conversations: of the export, with their messages.
    """

    def __init__(self, conversations: Iterable[Mapping[str, Any]]) -> None:
        self._entries: dict[str, str | None] = {}  # new references; None until one is written
        self._messages: dict[str, dict[str, int]] = {}  # new indexes, where some were removed
        for each in conversations:
            indexes = [message["index"] for message in each["messages"]]
            if indexes != list(range(len(indexes))):
                moved = {str(old): new for new, old in enumerate(indexes)}
                self._messages[_escape(each["session_id"])] = moved
            for message in each["messages"]:
                names = map(_name_entry, message.get("uses", ()))
                self._entries.update((name, None) for name in names if name is not None)

    def note(self, old_id: str, new_id: str) -> None:
        """Record the new id of an entry, if a message names it."""
        name = _name_entry(f"e.{old_id}")
        if name in self._entries:
            self._entries[name] = f"e.{new_id}"

    def rename(self, uses: Iterable[str]) -> list[str]:
        """Return the new names of the items, without items that were not written."""
        return [new for each in uses if (new := self._rename(each)) is not None]

    def _rename(self, use: str) -> str | None:
        name = _name_entry(use)
        if name is not None:
            return self._entries.get(name)
        source, _, item = use.partition(".")
        session, _, index = item.rpartition(".")
        if source == "m" and session in self._messages:
            new = self._messages[session].get(index)
            return None if new is None else f"m.{session}.{new}"
        return None if source == "p" else use  # runs are not imported


def _name_entry(reference: str) -> str | None:
    """Return the common part of an entry's short and whole references."""
    found = _ENTRY.fullmatch(reference)
    return None if found is None else found[1] + found[2]


def _escape(part: str) -> str:
    """Write a part of a reference as the service does."""
    return _UNSAFE.sub(lambda found: b"~%02x" % found[0][0], part.encode()).decode()
