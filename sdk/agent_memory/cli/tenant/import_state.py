"""What an import has made already, so that it continues where it was cut off."""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path


class ImportState:
    """What an import into one tenant of one server has made: pairs of texts, a line each.

    Attributes:
        folder: where it is, in the folder of the export.
    """

    def __init__(self, export: Path, server_url: str, tenant: str) -> None:
        name = sha256(f"{server_url} {tenant}".encode()).hexdigest()[:12]
        self.folder = export / f"imported-{name}"

    def read(self, name: str) -> dict[str, str]:
        """Return the pairs of a file; a line that was cut off is none."""
        try:
            lines = (self.folder / name).read_text("utf-8").split("\n")
        except FileNotFoundError:
            return {}
        pairs: dict[str, str] = {}
        for line in lines[:-1]:
            with suppress(ValueError):
                pairs.update([json.loads(line)])
        return pairs

    def add(self, name: str, key: str, text: str) -> None:
        """Append a pair to a file (mode 0600), and wait until it is on disk.

        It begins a line of its own, since the one before it may have been cut off.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.folder / name, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            is_cut_off = file.tell() > 0 and not _ends_with_newline(self.folder / name)
            file.write(("\n" if is_cut_off else "") + f"{json.dumps([key, text])}\n")
            file.flush()
            os.fsync(descriptor)


def _ends_with_newline(file: Path) -> bool:
    with file.open("rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read(1) == b"\n"
