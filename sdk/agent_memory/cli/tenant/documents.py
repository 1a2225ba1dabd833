"""The documents of an export: a file for each subject, a line for each document."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from agent_memory import Client
from agent_memory.cli.failures import UsageFailure
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.requests import quote_segment

Document = dict[str, Any]
D = TypeVar("D")
FORMAT = 3
MANIFEST = "manifest.json"


def list_unless_deleted(read: Callable[[], Iterable[D]]) -> list[D]:
    """Return the result of a reader; nothing if the item was deleted since it was listed."""
    try:
        return list(read())
    except MemoryNotFoundError:
        return []


def add_vector(client: Client, entry: Document) -> list[Document]:
    """Return an entry with its client's vector, if any; nothing if it was deleted."""
    if "vector_length" not in entry:
        return [entry]
    path = f"/api/v1/memory/{quote_segment(entry['id'])}"
    params = {"vector": "include", "touch": "false"}
    return list_unless_deleted(lambda: [client.request("GET", path, params=params).json()])


def read_documents(file: Path) -> Iterator[Document]:
    """Read the documents of a file; none if the file is missing."""
    if file.exists():
        with file.open("rb") as source:
            yield from map(json.loads, source)


def read_manifest(folder: Path) -> list[str]:
    """Return the names of an export's files.

    Raises:
        UsageFailure: the folder has no complete export, or one of another version.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageFailure(
            f"{folder} has no complete export; run the same `agent-memory export` again"
        ) from error
    if manifest.get("format") != FORMAT:
        raise UsageFailure(f"{folder} has another version; install agent-memory in that version")
    return list(manifest["files"])
