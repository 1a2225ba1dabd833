"""How runs and their memories look to callers (OpenWOP RFC 0004; contract §7)."""

from functions.api.documents import Document
from functions.openwop.model import MemoryEntry, StartedRun
from functions.platform.clock import to_rfc3339


def memory_entry_document(entry: MemoryEntry) -> Document:
    """An entry, as it was persisted; without an end it has no `expiresAt`."""
    document: Document = {
        "id": entry.id,
        "content": entry.content,
        "tags": entry.tags,
        "createdAt": to_rfc3339(entry.created),
    }
    if entry.expires is not None:
        document["expiresAt"] = to_rfc3339(entry.expires)
    return document


def run_document(started: StartedRun) -> Document:
    """What who starts a run is told."""
    return {
        "runId": started.run_id,
        "memoryRef": started.reference,
        "snapshotAt": to_rfc3339(started.snapshot_at),
    }
