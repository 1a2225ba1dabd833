"""The commands on entries: set, get, query, rm, summary (RFC-0015 §4)."""

import sys
from argparse import Namespace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_memory import Client, Entry
from agent_memory.cli.answers import answered
from agent_memory.cli.failures import CONFLICT, Failure, UsageFailure
from agent_memory.cli.jsontext import parsed
from agent_memory.cli.output import note
from agent_memory.cli.session import Session
from agent_memory.cli.shapes import (
    ENTRY_HEADINGS,
    entry_fields,
    entry_row,
    summary_fields,
    value_lines,
)
from agent_memory.cli.text import json_text
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import ENTRY_FIELDS

PLAIN_FIELDS = tuple(name for name in ENTRY_FIELDS if name not in ("memory_type", "scope", "tags"))
"""The fields of an entry that `set` takes as options of the same names."""
ROWS = 100  # of a table, unless the user wants more
_ATTEMPTS = 10  # to replace an entry that others keep changing


def set_entry(session: Session) -> None:
    """`set`: creates an entry; --version or --overwrite replaces one."""
    arguments = session.arguments
    value = _value(arguments.value)
    if arguments.overwrite:
        entry = _replaced(session, value)
    else:
        entry = _written(session, value, arguments.version)
    session.output.document(entry.raw, entry_fields(entry.raw))


def _written(session: Session, value: dict[str, Any], version: int | None) -> Entry:
    arguments = session.arguments
    try:
        return _set(session, value, version)
    except MemoryConflictError as error:
        if version is not None or error.current_version is None:
            raise
        name = f"{arguments.namespace} / {arguments.key}"
        raise Failure(
            f"{name} is there already, at version {error.current_version}; "
            f"--version {error.current_version} or --overwrite replaces it",
            CONFLICT,
        ) from error


def _replaced(session: Session, value: dict[str, Any]) -> Entry:
    version = None
    for _ in range(_ATTEMPTS - 1):
        try:
            return _set(session, value, version)
        except MemoryConflictError as error:
            version = error.current_version
    return _set(session, value, version)


def _set(session: Session, value: dict[str, Any], version: int | None) -> Entry:
    given = session.arguments
    return session.client.memory.set(
        given.namespace,
        given.key,
        value,
        memory_type=given.type,
        tags=given.tag,
        task_id=given.task,
        intent_id=given.intent,
        version=version,
        **{name: getattr(given, name) for name in PLAIN_FIELDS},
    )


def _value(given: str) -> dict[str, Any]:
    try:
        value = parsed(_text(given))
    except ValueError as error:
        raise UsageFailure(f"VALUE: {error}") from error
    if not isinstance(value, dict):
        raise UsageFailure("""VALUE is a JSON object, such as '{"done": 23}'""")
    return value


def _text(given: str) -> str | bytes:
    if given == "-":
        return sys.stdin.buffer.read()
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_bytes()
    except OSError as error:
        raise UsageFailure(f"can't read {given[1:]}: {error.strerror}") from error


def get(session: Session) -> None:
    """`get`: one entry; --value gives its value alone, as JSON."""
    entry = _found(session)
    if session.arguments.value:
        session.output.lines([json_text(entry.value)])
    else:
        session.output.document(entry.raw, entry_fields(entry.raw), *value_lines(entry.raw))


def _found(session: Session) -> Entry:
    given = session.arguments
    if given.key is None:
        return _by_id(session.client, given.namespace)
    entry = session.client.memory.get_entry(
        given.namespace, given.key, agent_id=given.agent, memory_type=given.type
    )
    if entry is None:
        raise Failure(f"there is no entry {_asked(session)}")
    return entry


def _by_id(client: Client, entry_id: str) -> Entry:
    """The entry; unlike `get_entry`, it tells a server of another kind from a missing entry."""
    answer = client.request("GET", f"/api/v1/memory/{quote(entry_id, safe='')}")
    return Entry.from_document(answered(answer, "id", "value"))


def _asked(session: Session) -> str:
    given = session.arguments
    return str(given.namespace) if given.key is None else f"{given.namespace} / {given.key}"


def remove(session: Session) -> None:
    """`rm`: deletes one entry; with --version only if that is its version."""
    entry = _found(session)
    if not session.client.memory.delete(id=entry.id, version=session.arguments.version):
        raise Failure(f"there is no entry {_asked(session)}")
    session.output.document({"deleted": entry.id}, {"deleted": entry.id})


def query(session: Session) -> None:
    """`query`: what matches, newest first; a table has 100 rows unless --limit says otherwise."""
    limit, people = session.arguments.limit, not session.output.json
    found = session.client.memory.query(**filters(session.arguments))
    shown = islice(found, ROWS if people and limit is None else limit)
    rows = (entry.raw for entry in shown)
    session.output.documents(rows, ENTRY_HEADINGS, entry_row)
    if people and limit is None and next(found, None) is not None:
        note(f"there are more than {ROWS} entries; --limit shows more of them")


def filters(given: Namespace) -> dict[str, Any]:
    """The filters of a query (RFC-0015 §4.1) that the user gave."""
    named = {
        "agent_id": given.agent,
        "namespace": given.namespace,
        "key": given.key,
        "memory_type": given.type,
        "tags": given.tag,
        "tags_any": given.any_tag,
        "task_id": given.task,
        "intent_id": given.intent,
        "pinned": given.pinned,
        "updated_after": given.updated_after,
        "updated_before": given.updated_before,
    }
    return {name: each for name, each in named.items() if each is not None}


def summary(session: Session) -> None:
    """`summary`: an agent's memory in figures; one's own unless --agent says whose."""
    document = session.client.memory.summary(agent_id=session.arguments.agent)
    session.output.document(document, summary_fields(document))
