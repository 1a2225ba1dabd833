"""Progress on stderr: a bar of tqdm on a terminal, plain lines elsewhere."""

import importlib
import sys
import time
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self, TextIO

_EVERY = 10.0  # seconds between two plain lines
_COUNT = "{desc}  {n_fmt} {unit}  {rate_noinv_fmt}"
_SHARE = "{desc}  [{bar:24}] {percentage:3.0f}%  {n_fmt} {unit}  {rate_noinv_fmt}"
_CLEAR = "\r\x1b[K"


class Progress:
    """Counts and shows progress. A context manager that leaves a clean line."""

    def __init__(self, label: str, stream: TextIO | None = None, unit: str = "entries") -> None:
        self._label, self._unit = label, unit
        self._stream = stream or sys.stderr
        self._said = time.monotonic()
        self._bar = self._open_bar() if self._stream.isatty() and find_spec("tqdm") else None

    def _open_bar(self) -> Any:
        tqdm = importlib.import_module("tqdm").tqdm
        return tqdm(
            desc=self._label,
            unit=self._unit,
            file=self._stream,
            bar_format=_COUNT,
            ascii=" #",
            leave=False,
            dynamic_ncols=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
            self._stream.write(_CLEAR)
            self._stream.flush()

    def reached(self, count: int, share: float | None) -> None:
        """Show the progress, at most ten times a second.

        Args:
            count: the number done.
            share: the share of all (0 to 1); None if unknown.
        """
        if self._bar is None:
            self._say(count, share)
            return
        if share:
            is_first = self._bar.total is None
            self._bar.bar_format = _SHARE
            self._bar.total = max(round(count / share), 1)
            if is_first:
                self._bar.refresh()
        self._bar.update(count - self._bar.n)

    def _say(self, count: int, share: float | None) -> None:
        now = time.monotonic()
        if now - self._said >= _EVERY:
            self._said = now
            part = "" if share is None else f", {share:.0%}"
            self._stream.write(f"{self._label}: {count:,} {self._unit}{part}\n")
            self._stream.flush()
