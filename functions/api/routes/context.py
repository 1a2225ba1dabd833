"""What to pack into a context window (contract §5)."""

from collections.abc import Iterable
from typing import Any

import orjson

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import Document, entry_document
from functions.api.filters import tags_of
from functions.api.paging import number
from functions.api.route import Route
from functions.entries.context import Section
from functions.entries.model import Entry
from functions.identity.model import READ, Principal
from functions.platform.limits import (
    DEFAULT_CONTEXT_EPISODES,
    DEFAULT_CONTEXT_KB,
    MAX_CONTEXT_EPISODES,
    MAX_CONTEXT_KB,
)

_KB = 1024


def pack(call: Call, caller: Principal) -> Answer:
    episodic = number(call, "episodic_limit", DEFAULT_CONTEXT_EPISODES, 0, MAX_CONTEXT_EPISODES)
    most = number(call, "max_kb", DEFAULT_CONTEXT_KB, 1, MAX_CONTEXT_KB)
    task_id = call.names["task_id"]
    found = call.services.contexts.of(caller, task_id, episodic, tags_of(call, "tags"))
    return json_answer(200, {"task_id": task_id} | _packed(found, most * _KB))


def _packed(found: Iterable[tuple[Section, Entry]], room: int) -> Document:
    """As much as `room` bytes hold; what doesn't fit ends the packing."""
    packed: dict[str, list[Any]] = {
        "working": [],
        "inherited": [],
        "episodic": [],
        "semantic": [],
    }
    size = 0
    truncated = False
    for section, entry in found:
        text = orjson.dumps(entry_document(entry))
        if size + len(text) > room:
            truncated = True
            break
        size += len(text)
        packed[section].append(orjson.Fragment(text))
    return packed | {"size_kb": -(-size // _KB), "truncated": truncated}


ROUTES = [
    Route(
        "GET",
        "/api/v1/tasks/{task_id+}/context",
        pack,
        READ,
        "Get the memory that belongs to a task, packed",
        {200: "Context"},
        query=("episodic_limit", "tags", "max_kb"),
        also=(404,),
    ),
]
