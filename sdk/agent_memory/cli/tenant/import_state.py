"""What an import has made already, so that it continues where it was cut off."""

import json
import os
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
        return dict(json.loads(line) for line in lines[:-1])

    def add(self, name: str, key: str, text: str) -> None:
        """Append a pair to a file (mode 0600), and wait until it is on disk."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.folder / name, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{json.dumps([key, text])}\n")
            file.flush()
            os.fsync(descriptor)
