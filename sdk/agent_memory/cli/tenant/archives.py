"""The archives of ended tasks in an export's events: what their tasks held when they ended."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from agent_memory.cli.lines import Document, Line

_WITHOUT_VALUES = ("confidential", "restricted")  # no archive has the values of these


class TaskArchives:
    """The archives among the events of an export.

    Args:
        events: all events.

    Attributes:
        unreadable: how many archived entries have no values, since no key of the export reads them.
    """

    def __init__(self, events: Iterable[Document]) -> None:
        self.unreadable = 0
        self._enders: dict[str, str] = {}
        self._entries: dict[str, dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
        for number, event in enumerate(events, 1):
            if event["type"] == "memory.archived":
                self._add(number, event)

    def _add(self, number: int, event: Document) -> None:
        task_id, owner = str(event["task_id"]), str(event["agent_id"])
        self._enders[task_id] = event["actor"]["id"]
        for entry in event["data"]["snapshot"]:
            if "value" in entry or entry.get("sensitivity") in _WITHOUT_VALUES:
                self._entries[task_id][owner].append(_to_line(number, event, entry))
            else:
                self.unreadable += 1

    def get_ender(self, task_id: str) -> str | None:
        """Return who ended a task whose memory was archived."""
        return self._enders.get(task_id)

    def get_entries(self, task_id: str) -> Mapping[str, list[Line]]:
        """Return the entries that were archived with a task, by owner."""
        return self._entries.get(task_id, {})


def _to_line(number: int, event: Document, archived: Document) -> Line:
    """Return an archived entry as it is written again, so that its task archives it as it was."""
    body: dict[str, Any] = {"value": {}, **archived, "memory_type": "working"}
    body["id"] = body.pop("entry_id")
    scope = {"task_id": event["task_id"], "intent_id": event["intent_id"]}
    body["scope"] = {name: each for name, each in scope.items() if each is not None}
    body["agent_id"] = event["agent_id"]
    return Line(number, body, len(json.dumps(body)))
