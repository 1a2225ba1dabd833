"""Writes what belongs to single principals: entries, conversations, states, OpenWOP."""

from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from agent_memory.cli.failures import Failure
from agent_memory.cli.importing import Import, Policy
from agent_memory.cli.lines import WITH_ORIGIN, Line, read_lines
from agent_memory.cli.output import note
from agent_memory.cli.progress import Progress
from agent_memory.cli.tenant.import_context import (
    Document,
    ImportContext,
    select_fields,
    send_once,
)
from agent_memory.cli.tenant.importing_client import ImportingClient
from agent_memory.exceptions import MemoryAccessError, MemoryConflictError, MemoryNotFoundError

MEMORIES = "openwop.jsonl"
_IMPORTED = "imported"  # the agent whose memories those become that have no name of their own
_CONVERSATION = (
    *("metadata", "agent_participants", "shared_with"),
    *("tags", "version", "sensitivity", "ttl", "expires_at"),
)
_TIMES = ("created_at", "updated_at")
_MOST_REMOVED = 20
_MESSAGE = ("role", "content", "timestamp", "metadata")


class MemoryWriter:
    """Writes what an export has of principals' memory, each document as often as one likes."""

    def __init__(self, context: ImportContext, policy: Policy) -> None:
        self._context = context
        self._policy = policy
        self._memories = context.state.read(MEMORIES)

    def write_entries(
        self, file: Path, is_written: Callable[[Line], bool], counts: Counter[str]
    ) -> None:
        """Write entries, what is private under its owner's key.

        Args:
            file: has a line for each entry.
            is_written: says which ones came with their tasks.
            counts: counts the entries, and those that have expired.
        """
        with file.open("rb") as source, Progress(f"import {file.stem}") as progress:
            read = read_lines(source, note, WITH_ORIGIN)
            wanted = (line for line in read if not is_written(line))
            for owner, lines in groupby(wanted, _find_owner):
                client = self._context.get_client(owner)
                run = Import(client, self._policy, self._context.now)
                try:
                    run.run(lines, lambda: progress.reached(counts["entries"], None))
                finally:
                    counts["entries"] += sum(run.counts.values())
                    counts["expired"] += run.counts["expired"]

    def write_conversation(self, document: Document) -> None:
        """Write a conversation with its messages, unless it is there.

        Raises:
            Failure: another conversation is in its place.
        """
        if self._context.has_expired(document.get("expires_at")):
            return
        session = document["session_id"]
        writer = self._context.get_client(document["created_by"])
        present = writer.conversations.get_head(session)
        if present is None:
            _put_conversation(writer, document)
        elif present.message_count != len(document["messages"]):
            said = (
                f"the conversation {session} is there already, with other messages; delete it first"
            )
            raise Failure(said, 3)

    def write_archived(self, document: Document) -> None:
        """Write a conversation whose retention is over, unless cold storage has it or a later one.

        Those of one session come in the order in which they ended.
        """
        writer = self._context.get_client(document["created_by"])
        try:
            present = writer.conversations.get_archived(document["session_id"]).raw
        except (MemoryNotFoundError, MemoryAccessError):  # others' hide none of one's own
            present = None
        if present is None or present["expires_at"] < document["expires_at"]:
            _put_conversation(writer, document)

    def write_state(self, document: Document) -> None:
        """Write a state."""
        writer = self._context.get_client(document.get("created_by") or document["agent_id"])
        with writer.keep(**select_fields(document, (*_TIMES, "version"))):
            writer.states.put(
                document["agent_id"],
                document["owner_id"],
                document["key"],
                document["value"],
                sensitivity=document.get("sensitivity"),
            )

    def write_openwop(self, document: Document) -> None:
        """Put an entry into the memory of the same name, or into one for it; see `MEMORIES`."""
        if self._context.has_expired(document["expires_at"]):
            return
        client, exported = self._context.get_client(document["owner"]), document["memory_ref"]
        if exported not in self._memories:
            agent, scope = document["agent"], document["scope"]
            has_type = client.principals.cached_me().agent_type
            if agent is None or document["agent_type"] != has_type:
                agent, scope = _IMPORTED, sha256(exported.encode()).hexdigest()
            name = {"agent": agent, "scope": scope, "created_at": document["named_at"]}
            named = {each: text for each, text in name.items() if text is not None}
            made = client.request("POST", "/v1/memories", json=named).json()
            self._memories[exported] = made["memoryRef"]
            self._context.state.add(MEMORIES, exported, made["memoryRef"])
        body = {"content": document["content"], "tags": document["tags"]}
        if document["expires_at"] is not None:
            body["expiresAt"] = document["expires_at"]
        path = f"/v1/memory/{self._memories[exported]}"
        try:
            send_once(client, "POST", path, body | {"id": document["id"]})
        except MemoryConflictError:  # the memory has runs or entries of its own by now
            send_once(client, "POST", path, body, document["id"])


def _put_conversation(writer: ImportingClient, document: Document) -> None:
    fields: Any = select_fields(document, _CONVERSATION)
    messages, removed = _fill_gaps(document["messages"])
    kept = select_fields(document, (*_TIMES, "revision")) | (
        {"removed": removed} if removed else {}
    )
    with writer.keep(**kept):
        session, user = document["session_id"], document["user_id"]
        writer.conversations.put(session, user, messages, revision=0, **fields)


def _fill_gaps(messages: list[Document]) -> tuple[list[Document], list[Document]]:
    """Return messages with others in the place of removed ones, and the ranges of these.

    More ranges than a request takes are left out: then later messages get lower indexes.
    """
    found: list[Document] = []
    removed: list[Document] = []
    left = 0  # how many places were left out
    for message in messages:
        first, end = len(found), message["index"] - left
        if first < end and len(removed) == _MOST_REMOVED:
            left += end - first
        elif first < end:
            removed.append({"first": first, "end": end})
            found += [{"role": "user", "content": None}] * (end - first)
        found.append({"content": None, **select_fields(message, _MESSAGE)})
    return found, removed


def _find_owner(line: Line) -> str | None:
    """Return whose key writes a line; None: whoever may write what is shared."""
    return line.body["agent_id"] if line.names_owner else None
