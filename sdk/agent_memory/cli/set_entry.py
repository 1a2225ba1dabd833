"""The command `set`: creates an entry, or replaces one (RFC-0015 §4)."""

import argparse
from typing import Any

from agent_memory import Entry
from agent_memory.cli.arguments import TIERS, Parser, add_command, parse_count, parse_text
from agent_memory.cli.failures import CONFLICT, Failure, UsageFailure
from agent_memory.cli.formatting import render_entry_fields
from agent_memory.cli.json_arguments import read_json, read_vector
from agent_memory.cli.session import Session
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import ENTRY_FIELDS, FieldInfo
from agent_memory.requests import drop_none

PLAIN_FIELDS = tuple(name for name in ENTRY_FIELDS if name not in ("memory_type", "scope", "tags"))
"""The fields of an entry that `set` takes as options of the same names."""
_ATTEMPTS = 10  # to replace an entry that others keep changing


def add_commands(commands: Any) -> None:
    """Add the command `set`."""
    command = add_command(commands, "set", "create an entry, or replace one", set_entry)
    command.add_argument("namespace", metavar="NAMESPACE", type=parse_text)
    command.add_argument("key", metavar="KEY", type=parse_text)
    command.add_argument(
        "value", metavar="VALUE", type=parse_text, help="a JSON object, @FILE, or - for stdin"
    )
    command.add_argument("--type", choices=TIERS, help="the tier; working unless given")
    command.add_argument("--tag", action="append", type=parse_text, help="may be repeated")
    for name in PLAIN_FIELDS:
        _add_field(command, ENTRY_FIELDS[name])
    command.add_argument("--task", metavar="ID", type=parse_text, help="the task in its scope")
    command.add_argument("--intent", metavar="ID", type=parse_text, help="the intent in its scope")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--version", type=parse_count, help="replace only this version")
    how.add_argument("--overwrite", action="store_true", help="replace any present entry")


def _add_field(command: Parser, field: FieldInfo) -> None:
    """Add the option of an entry's field, with the service's description."""
    options: dict[str, Any] = {"help": field.description.replace("%", "%%") or None}
    if field.type == "boolean":
        options["action"] = argparse.BooleanOptionalAction
    elif field.choices:
        options["choices"] = field.choices
    else:
        options |= {"type": parse_text, "metavar": field.name.upper()}
    command.add_argument(f"--{field.name.replace('_', '-')}", **options)


def set_entry(session: Session) -> None:
    """`set`: creates an entry; --version or --overwrite replaces one."""
    arguments = session.arguments
    value = _value(arguments.value)
    if arguments.overwrite:
        entry = _replace(session, value)
    else:
        entry = _write(session, value, arguments.version)
    session.output.document(entry.raw, render_entry_fields(entry.raw))


def _write(session: Session, value: dict[str, Any], version: int | None) -> Entry:
    arguments = session.arguments
    try:
        return _set(session, value, version)
    except MemoryConflictError as error:
        if version is not None or error.current_version is None:
            raise
        name = f"{arguments.namespace} / {arguments.key}"
        raise Failure(
            f"{name} exists, at version {error.current_version}; "
            f"--version {error.current_version} or --overwrite replaces it",
            CONFLICT,
        ) from error


def _replace(session: Session, value: dict[str, Any]) -> Entry:
    version = None
    for _ in range(_ATTEMPTS - 1):
        try:
            return _set(session, value, version)
        except MemoryConflictError as error:
            version = error.current_version
    return _set(session, value, version)


def _set(session: Session, value: dict[str, Any], version: int | None) -> Entry:
    given = session.arguments
    named = {name: getattr(given, name) for name in PLAIN_FIELDS}
    named["vector"] = read_vector(given.vector)
    fields: Any = drop_none(tags=given.tag, **named)
    return session.client.memory.set(
        given.namespace,
        given.key,
        value,
        memory_type=given.type,
        task_id=given.task,
        intent_id=given.intent,
        version=version,
        **fields,
    )


def _value(given: str) -> dict[str, Any]:
    try:
        value = read_json("VALUE", given)
    except UsageFailure as failure:
        raise UsageFailure(f"{failure}; for a text, use `agent-memory remember TEXT`") from failure
    if not isinstance(value, dict):
        raise UsageFailure(
            """VALUE must be a JSON object, like '{"text": "hi there"}'; quote it for a shell"""
        )
    return value
