"""How entries, tasks and events look to people."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from agent_memory._sync.resource import made
from agent_memory.cli.text import indented_json, json_text

Document = Mapping[str, Any]
Shown = TypeVar("Shown")

ENTRY_HEADINGS = ("NAMESPACE", "KEY", "TYPE", "VERSION", "UPDATED", "TAGS", "VALUE")
TASK_HEADINGS = ("TASK", "STATUS", "ASSIGNED", "COORDINATOR", "INTENT", "VERSION", "UPDATED")


def of_the_service(shape: Callable[[Document], Shown]) -> Callable[[Document], Shown]:
    """The same shape, which raises `InvalidAnswerError` of a document that isn't the service's."""
    return functools.wraps(shape)(functools.partial(made, shape))


@of_the_service
def entry_row(entry: Document) -> Sequence[str]:
    """An entry's cells under `ENTRY_HEADINGS`."""
    return (
        entry["namespace"],
        entry["key"],
        entry["memory_type"],
        str(entry["version"]),
        entry["updated_at"],
        ",".join(entry["tags"]),
        json_text(entry["value"]),
    )


@of_the_service
def entry_fields(entry: Document) -> dict[str, str]:
    """What there is to say of an entry, without its value."""
    fields = {
        "id": entry["id"],
        "entry": f"{entry['namespace']} / {entry['key']}",
        "type": entry["memory_type"],
        "agent": entry["agent_id"],
        "version": str(entry["version"]),
        "updated": entry["updated_at"],
        "expires": entry["expires_at"] or "",
        "tags": ", ".join(entry["tags"]),
        "task": entry["scope"].get("task_id", ""),
        "intent": entry["scope"].get("intent_id", ""),
        "pinned": "yes" if entry["pinned"] else "",
        "sensitivity": entry["sensitivity"] or "",
    }
    return {name: text for name, text in fields.items() if text}


def value_lines(entry: Document) -> list[str]:
    """An entry's value, to be read."""
    return ["", *indented_json(entry["value"]).split("\n")]


@of_the_service
def summary_fields(summary: Document) -> dict[str, str]:
    """An agent's memory in figures (RFC-0015 "Agent Memory Summary")."""
    working, episodic = summary["working"], summary["episodic"]
    return {
        "agent": summary["agent_id"],
        "working": f"{working['entry_count']:,} entries, {working['total_size_kb']:,} KB",
        "tasks with memory": ", ".join(working["tasks_with_memory"]) or "none",
        "episodic": (
            f"{episodic['entry_count']:,} of {episodic['capacity']:,} entries, "
            f"{episodic['total_size_kb']:,} KB, {episodic['pinned_count']:,} pinned"
        ),
        "oldest episode": episodic["oldest_entry"] or "none",
        "newest episode": episodic["newest_entry"] or "none",
        "semantic": ", ".join(summary["semantic_namespaces_accessible"]) or "none",
    }


@of_the_service
def task_row(task: Document) -> Sequence[str]:
    """A task's cells under `TASK_HEADINGS`."""
    return (
        task["id"],
        task["status"],
        task["assigned_agent"] or "",
        task["coordinator"] or "",
        task["intent_id"] or "",
        str(task["version"]),
        task["updated_at"],
    )


@of_the_service
def task_fields(task: Document) -> dict[str, str]:
    """All that a task says, empty fields aside."""
    texts = {
        name: each if isinstance(each, str) else json_text(each) for name, each in task.items()
    }
    return {name: text for name, text in texts.items() if text not in ("null", "", "[]", "{}")}


@of_the_service
def event_cells(event: Document) -> Sequence[str]:
    """When, what and who; then where and which version."""
    data = event["data"]
    place = [data[name] for name in ("namespace", "key") if isinstance(data.get(name), str)]
    version = data.get("version")
    where = " / ".join(place) or (event["task_id"] or "")
    return (
        event["timestamp"],
        event["type"],
        event["agent_id"],
        where + ("" if version is None else f" (version {version})"),
    )
