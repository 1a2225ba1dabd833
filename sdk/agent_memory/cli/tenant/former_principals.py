"""Principals that are no more: what they left is written under keys that end with the import."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_memory.cli.output import note
from agent_memory.cli.tenant.documents import read_documents
from agent_memory.cli.tenant.import_context import ImportContext
from agent_memory.cli.tenant.importing_client import PERMISSION
from agent_memory.cli.tenant.task_history import TaskHistory
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Permission

_PERMISSIONS: tuple[Permission, ...] = ("memory.read", "memory.write", PERMISSION)
_OWNED = (
    *(("conversations", "created_by"), ("archived", "created_by"), ("states", "created_by")),
    *(("spaces", "owner"), ("objects", "created_by")),
)


class FormerPrincipals:
    """Makes the principals that an export names and doesn't have, and revokes them afterwards.

    In the other tenant they are then what they were: revoked, with their memory kept.
    """

    def __init__(self, context: ImportContext) -> None:
        self._context = context

    def create(self, folder: Path, history: TaskHistory) -> None:
        """Make those that own something in the export."""
        present = {each["id"] for each in read_documents(folder / "principals.jsonl")}
        intents = read_documents(folder / "intents.jsonl")
        coordinators = {each["owner"] for each in intents if each["owner"]}
        owners = dict.fromkeys([*_list_owners(folder), *coordinators])
        for id, coordinates in history.list_principals():
            owners.setdefault(id)
            coordinators |= {id} if coordinates else set()
        for id in owners:
            if id not in present and not self._context.has_key(id):
                self._create(id, "coordinator" if id in coordinators else "agent")

    def _create(self, id: str, kind: Any) -> None:
        try:
            body = {"id": id, "kind": kind, "permissions": _PERMISSIONS}
            key = self._context.create_principal(body)
        except MemoryConflictError:
            note(f"the principal {id} is there already, or was; what is private needs its own key")
            return
        self._context.add_former(id, key)

    def revoke(self) -> None:
        """Revoke those that were made."""
        for id in self._context.list_former():
            with suppress(MemoryNotFoundError):  # an earlier run has revoked it
                self._context.client.principals.revoke(id)


def _list_owners(folder: Path) -> Iterator[str]:
    """Yield the owners of what is private, but for tasks."""
    for file in folder.glob("entries*.jsonl"):
        for document in read_documents(file):
            if document["memory_type"] != "semantic":
                yield document["agent_id"]
    for name, field in _OWNED:
        for document in read_documents(folder / f"{name}.jsonl"):
            if document.get(field):
                yield document[field]
