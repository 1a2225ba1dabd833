"""Tells all who remember keys that one was changed."""

import mmap
import secrets

_SIZE = 16  # bytes; no two marks are ever alike


class KeyChanges:
    """A mark that every change replaces. Processes that are forked off later share it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)

    def mark(self) -> bytes:
        """The mark now; what was looked up under another one may be outdated."""
        return self._memory[:]

    def note(self) -> None:
        """Call it when a change is stored, and before it is answered."""
        self._memory[:] = secrets.token_bytes(_SIZE)
