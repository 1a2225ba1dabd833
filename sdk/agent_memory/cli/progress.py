"""A progress bar on stderr, only where that is a terminal."""

import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

from agent_memory.cli.text import truncate

_EVERY = 0.1  # seconds between two drawings
_BAR = 24  # columns
_CLEAR = "\r\x1b[K"


class Progress:
    """Counts entries, and shows how far they are. A context manager that leaves a clean line."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._began = time.monotonic()
        self._drawn = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._drawn:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def reached(self, count: int, share: float | None) -> None:
        """Draw the bar anew, at most ten times a second.

        Args:
            count: entries so far.
            share: how much of all that is (0 to 1), or None where nobody knows.
        """
        now = time.monotonic()
        if not self._shown or now - self._drawn < _EVERY:
            return
        self._drawn = now
        speed = count / max(now - self._began, _EVERY)
        line = f"{self._label}  {_bar(share)}{count:,} entries  {speed:,.0f}/s"
        columns = shutil.get_terminal_size().columns
        self._stream.write(_CLEAR + truncate(line, columns - 1))
        self._stream.flush()


def _bar(share: float | None) -> str:
    if share is None:
        return ""
    share = min(max(share, 0.0), 1.0)
    filled = round(share * _BAR)
    return f"[{'#' * filled}{'-' * (_BAR - filled)}] {share:4.0%}  "
