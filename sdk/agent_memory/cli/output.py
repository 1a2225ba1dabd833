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
        json: whether a program reads it: one JSON value, or one on each line for a list.
    """

    def __init__(self, *, json: bool) -> None:
        self.json = json
        if isinstance(sys.stdout, io.TextIOWrapper):
            encoding = "utf-8" if json else None
            sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")

    @property
    def columns(self) -> int | None:
        """The terminal's width; None is no terminal."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def document(self, document: Document | Model, fields: Mapping[str, str], *more: str) -> None:
        """Write one thing: as JSON, or as its `fields` and the lines that follow them."""
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
        """Write a list: as JSON Lines, each as soon as it is there, or as a table."""
        found = map(to_document, documents)
        if self.json:
            self.lines(map(render_json_line, found))
            return
        rows = [row(document) for document in found]
        self.lines(render_table(headings, rows, self.columns))

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines as they are."""
        for line in lines:
            sys.stdout.write(f"{line}\n")


def to_document(answer: Document | Model) -> Document:
    """Return what the service answered as it came."""
    return answer.raw if isinstance(answer, Model) else answer


def note(text: str) -> None:
    """Tell the person at the terminal something that is no output, on one line and harmless."""
    sys.stderr.write(f"agent-memory: {escape_controls(text)}\n")
