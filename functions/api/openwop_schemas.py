"""What the answers of OpenWOP's part look like (OpenWOP RFC 0004; contract §7)."""

from functions.api.documents import Document
from functions.api.schema_words import BOOLEAN, STRING, TIME, array_of, object_of, ref

OPENWOP_ANSWERS: dict[str, Document] = {
    "MemoryEntry": object_of(
        {"expiresAt": TIME},
        id=STRING | {"pattern": "^mem_"},
        content=STRING,
        tags=array_of(STRING),
        createdAt=TIME,
    ),
    "MemoryEntryList": object_of({"next": STRING}, entries=array_of(ref("MemoryEntry"))),
    "FoundMemoryEntry": object_of(entry=ref("MemoryEntry")),
    "MemoryEntryDeleted": object_of(deleted=BOOLEAN),
    "MemoryRun": object_of(runId=STRING | {"pattern": "^run_"}, memoryRef=STRING, snapshotAt=TIME),
    "EndedMemoryRun": object_of(runId=STRING, ended={"const": True}),
    "OpenWopError": object_of(
        {"details": {"type": "object"}, "entry": {"type": "null"}}, error=STRING, message=STRING
    ),
}
"""By name, for the OpenAPI document."""
