"""Output of commands on stdout: tables and records for people, JSON for pipes."""

import io
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent_memory.cli.formatting import render_record, render_table
from agent_memory.cli.text import escape_controls, render_json_line
from agent_memory.model import Model

Document = Mapping[str, Any]


class Output:
    """The output of one command.

    Attributes:
        json: whether to print JSON: one value, or one on each line for a list.
    """

    def __init__(self, *, json: bool) -> None:
        self.json = json
        if isinstance(sys.stdout, io.TextIOWrapper):
            encoding = "utf-8" if json else None
            sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")

    @property
    def columns(self) -> int | None:
        """The terminal's width; None without a terminal."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def document(self, document: Document | Model, fields: Mapping[str, str], *more: str) -> None:
        """Write one document: as JSON, or as its `fields` and further lines."""
        if self.json:
            self.lines([render_json_line(to_document(document))])
        else:
            self.lines([*render_record(fields, self.columns), *more])

    def documents(
        self,
        documents: Iterable[Document | Model],
        headings: Sequence[str],
        row: Callable[[Document], Sequence[str]],
    ) -> None:
        """Write a list: as JSON Lines, each immediately, or as a table."""
        found = map(to_document, documents)
        if self.json:
            self.lines(map(render_json_line, found))
            return
        rows = [row(document) for document in found]
        self.lines(render_table(headings, rows, self.columns))

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines unchanged."""
        for line in lines:
            sys.stdout.write(f"{line}\n")


def to_document(answer: Document | Model) -> Document:
    """Return the service's original document."""
    return answer.raw if isinstance(answer, Model) else answer


def note(text: str) -> None:
    """Write a note to stderr, on one line, with control characters escaped."""
    sys.stderr.write(f"agent-memory: {escape_controls(text)}\n")
