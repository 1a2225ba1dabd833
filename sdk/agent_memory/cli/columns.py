"""Columns of tables by the names of the documents' fields."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_memory.cli.output import to_document
from agent_memory.cli.session import Session
from agent_memory.cli.text import render_json_line
from agent_memory.model import Model

Document = Mapping[str, Any]


def render_cell(field: object) -> str:
    """Return a field for a cell: a text unchanged, other values as JSON."""
    if field is None or field in ([], {}):
        return ""
    return field if isinstance(field, str) else render_json_line(field)


def render_fields(document: Document) -> dict[str, str]:
    """Return all fields of a document that aren't empty."""
    texts = {name: render_cell(field) for name, field in document.items()}
    return {name: text for name, text in texts.items() if text}


def select_columns(*names: str) -> tuple[Sequence[str], Callable[[Document], Sequence[str]]]:
    """Return the headings and the row of a table; `actor.id` is the `id` in the field `actor`."""
    return [_to_heading(name) for name in names], lambda document: [
        render_cell(_find(document, name)) for name in names
    ]


def _to_heading(name: str) -> str:
    return re.sub("[_.]|(?<=[a-z])(?=[A-Z])", " ", name).upper()


def _find(document: Any, name: str) -> Any:
    for part in name.split("."):
        document = document.get(part) if isinstance(document, Mapping) else None
    return document


def show(session: Session, answer: Document | Model) -> None:
    """Write one document: as JSON, or each field on a line."""
    document = to_document(answer)
    session.output.document(document, render_fields(document) or {"done": "yes"})
