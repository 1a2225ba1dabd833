"""Render entries, tasks and events for people: in tables no wider than the terminal."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from agent_memory.cli.text import (
    escape_controls,
    pad,
    render_indented_json,
    render_json_line,
    truncate,
    width,
)
from agent_memory.responses import parse

Document = Mapping[str, Any]
Shown = TypeVar("Shown")

ENTRY_HEADINGS = ("NAMESPACE", "KEY", "TYPE", "VERSION", "UPDATED", "TAGS", "VALUE")
RESULT_HEADINGS = ("SCORE", "NAMESPACE", "KEY", "TYPE", "MATCHED", "VALUE")
TASK_HEADINGS = ("TASK", "STATUS", "ASSIGNED", "COORDINATOR", "INTENT", "VERSION", "UPDATED")
_GAP = "  "
_LEAST = 8  # minimum columns of a cell


def reject_foreign(shape: Callable[[Document], Shown]) -> Callable[[Document], Shown]:
    """Make a renderer raise `InvalidAnswerError` for a document that is not from the service."""
    return functools.wraps(shape)(functools.partial(parse, shape))


@reject_foreign
def render_entry_row(entry: Document) -> Sequence[str]:
    """Return an entry's cells under `ENTRY_HEADINGS`."""
    return (
        entry["namespace"],
        entry["key"],
        entry["memory_type"],
        str(entry["version"]),
        entry["updated_at"],
        ",".join(entry["tags"]),
        render_json_line(entry["value"]),
    )


@reject_foreign
def render_result_row(result: Document) -> Sequence[str]:
    """Return the cells of a search result, under `RESULT_HEADINGS`."""
    entry = result["entry"]
    return (
        f"{result['score']:.2f}",
        entry["namespace"],
        entry["key"],
        entry["memory_type"],
        ",".join(result.get("matched") or ()),
        render_json_line(entry["value"]),
    )


@reject_foreign
def render_entry_fields(entry: Document) -> dict[str, str]:
    """Return the fields of an entry, without its value."""
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


def render_value(entry: Document) -> list[str]:
    """Return an entry's value for people."""
    return ["", *render_indented_json(entry["value"]).split("\n")]


@reject_foreign
def render_summary(summary: Document) -> dict[str, str]:
    """Return an agent's memory in figures (RFC-0015 "Agent Memory Summary")."""
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


@reject_foreign
def render_task_row(task: Document) -> Sequence[str]:
    """Return a task's cells under `TASK_HEADINGS`."""
    return (
        task["id"],
        task["status"],
        task["assigned_agent"] or "",
        task["coordinator"] or "",
        task["intent_id"] or "",
        str(task["version"]),
        task["updated_at"],
    )


@reject_foreign
def render_task_fields(task: Document) -> dict[str, str]:
    """Return all fields of a task that aren't empty."""
    texts = {
        name: each if isinstance(each, str) else render_json_line(each)
        for name, each in task.items()
    }
    return {name: text for name, text in texts.items() if text not in ("null", "", "[]", "{}")}


@reject_foreign
def render_event(event: Document) -> Sequence[str]:
    """Return time, type and actor of an event, then entry and version."""
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


def render_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], columns: int | None
) -> list[str]:
    """Return the lines of a table.

    Args:
        headings: one for each column.
        rows: the cells; control characters are escaped.
        columns: the terminal's width; None is no terminal, and nothing is cut.
    """
    cells = [list(headings), *([escape_controls(cell) for cell in row] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    if columns is not None:
        widths = _fit_widths(widths, columns - len(_GAP) * (len(widths) - 1))
    return [_line(row, widths) for row in cells]


def render_record(fields: Mapping[str, str], columns: int | None) -> list[str]:
    """Return the lines of one record: a name and a text on each."""
    names = max(map(width, fields))
    lines = (pad(name, names) + _GAP + escape_controls(text) for name, text in fields.items())
    return [line if columns is None else truncate(line, columns) for line in lines]


def _fit_widths(widths: list[int], room: int) -> list[int]:
    """Compute fitting widths: the widest columns are narrowed first, down to `_LEAST`."""
    fitted = list(widths)
    for most in _narrowing(widths):
        if sum(fitted) <= room:
            break
        over = sum(fitted) - room
        wide = [at for at, each in enumerate(fitted) if each > most]
        for at in wide:
            taken = min(-(-over // len(wide)), fitted[at] - most)
            fitted[at] -= taken
    return fitted


def _narrowing(widths: list[int]) -> Iterator[int]:
    """Yield the widths to which the widest columns are narrowed, one after the other."""
    steps = sorted({each for each in widths if each > _LEAST}, reverse=True)
    yield from steps[1:]
    yield _LEAST


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    *first, last = (truncate(cell, most) for cell, most in zip(row, widths, strict=True))
    cells = [pad(cell, most) for cell, most in zip(first, widths, strict=False)]
    return _GAP.join([*cells, last]).rstrip()
