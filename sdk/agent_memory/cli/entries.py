"""The commands on entries: set, get, query, search, rm, summary (RFC-0015 §4)."""

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from agent_memory import Client, Entry
from agent_memory.cli.arguments import Parser, add_command, parse_count, parse_score, parse_text
from agent_memory.cli.connection import parse_document
from agent_memory.cli.failures import CONFLICT, Failure, UsageFailure
from agent_memory.cli.formatting import (
    ENTRY_HEADINGS,
    RESULT_HEADINGS,
    render_entry_fields,
    render_entry_row,
    render_result_row,
    render_summary,
    render_value,
)
from agent_memory.cli.jsontext import parse_json
from agent_memory.cli.output import note
from agent_memory.cli.session import Session
from agent_memory.cli.text import render_json_line
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import ENTRY_FIELDS, FieldInfo, MemoryType
from agent_memory.requests import drop_none

PLAIN_FIELDS = tuple(name for name in ENTRY_FIELDS if name not in ("memory_type", "scope", "tags"))
"""The fields of an entry that `set` takes as options of the same names."""
TIERS = get_args(MemoryType)
ROWS = 100  # of a table, unless the user wants more
_ATTEMPTS = 10  # to replace an entry that others keep changing


def add_commands(commands: Any) -> None:
    """Add the commands on entries."""
    _add_set(commands)
    _add_get_and_rm(commands)
    _add_query(commands)
    _add_search(commands)
    command = add_command(commands, "summary", "show an agent's memory in figures", summary)
    command.add_argument("--agent", metavar="ID", type=parse_text, help="whose; one's own")


def _add_set(commands: Any) -> None:
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
    how.add_argument("--version", type=parse_count, help="replace this version, and no other")
    how.add_argument("--overwrite", action="store_true", help="replace whatever stands there")


def _add_field(command: Parser, field: FieldInfo) -> None:
    """Add the option of an entry's field, as the service describes it."""
    options: dict[str, Any] = {"help": field.description.replace("%", "%%") or None}
    if field.type == "boolean":
        options["action"] = argparse.BooleanOptionalAction
    elif field.choices:
        options["choices"] = field.choices
    else:
        options |= {"type": parse_text, "metavar": field.name.upper()}
    command.add_argument(f"--{field.name.replace('_', '-')}", **options)


def _add_get_and_rm(commands: Any) -> None:
    for name, help_text, run in (
        ("get", "show an entry", get),
        ("rm", "delete an entry", remove),
    ):
        command = add_command(commands, name, help_text, run)
        command.add_argument("namespace", metavar="NAMESPACE|ID", type=parse_text)
        command.add_argument("key", metavar="KEY", nargs="?", type=parse_text)
        command.add_argument("--type", choices=TIERS, help="the tier; own entries first")
        command.add_argument(
            "--agent", metavar="ID", type=parse_text, help="whose entry; one's own"
        )
        if name == "get":
            command.add_argument("--value", action="store_true", help="its value alone, as JSON")
        else:
            command.add_argument("--version", type=parse_count, help="only if this is its version")


def _add_query(commands: Any) -> None:
    command = add_command(commands, "query", "list the entries that match", query)
    add_filters(command)
    command.add_argument("--limit", type=parse_count, help="at most so many; a table has 100")


def _add_search(commands: Any) -> None:
    command = add_command(commands, "search", "find entries by meaning, words and ids", search)
    command.add_argument("query", metavar="QUERY", nargs="?", type=parse_text)
    command.add_argument(
        "--vector", type=parse_text, help="a JSON array, or @FILE, in the place of a query"
    )
    command.add_argument("--type", choices=TIERS, help="the tier; all tiers unless given")
    command.add_argument("--namespace", type=parse_text, help="`billing.*` is a prefix")
    command.add_argument("--tag", action="append", type=parse_text, help="has all of these")
    command.add_argument(
        "--fields",
        metavar="JSON",
        type=parse_text,
        help="what values have, as a JSON object; search fields of the namespace",
    )
    command.add_argument("--agent", metavar="ID", type=parse_text, help="whose; one's own")
    command.add_argument("--limit", type=parse_count, default=5, help="at most so many; 5")
    command.add_argument(
        "--min-score", type=parse_score, help="the least score; below 0.2 hardly anything fits"
    )


def add_filters(command: Parser) -> None:
    """Add the filters of a query as options."""
    command.add_argument("--namespace", type=parse_text, help="`billing.*` is a prefix")
    command.add_argument("--key", type=parse_text)
    command.add_argument("--type", choices=TIERS)
    command.add_argument("--tag", action="append", type=parse_text, help="has all of these")
    command.add_argument("--any-tag", action="append", type=parse_text, help="has one of these")
    command.add_argument(
        "--agent", metavar="ID", type=parse_text, help="whose; one's own and shared"
    )
    command.add_argument("--task", metavar="ID", type=parse_text)
    command.add_argument("--intent", metavar="ID", type=parse_text)
    command.add_argument("--pinned", action=argparse.BooleanOptionalAction)
    command.add_argument("--updated-after", metavar="TIME", type=parse_text)
    command.add_argument("--updated-before", metavar="TIME", type=parse_text)


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
            f"{name} is there already, at version {error.current_version}; "
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
    named["vector"] = _vector(given.vector)
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
    value = _json("VALUE", given)
    if not isinstance(value, dict):
        raise UsageFailure("""VALUE is a JSON object, such as '{"done": 23}'""")
    return value


def _vector(given: str | None) -> list[float] | None:
    numbers = None if given is None else _json("--vector", given)
    if numbers is None or (
        isinstance(numbers, list) and all(isinstance(each, int | float) for each in numbers)
    ):
        return numbers
    raise UsageFailure("--vector is a JSON array of numbers")


def _fields(given: str | None) -> dict[str, Any] | None:
    fields = None if given is None else _json("--fields", given)
    if fields is not None and not isinstance(fields, dict):
        raise UsageFailure("""--fields is a JSON object, such as '{"kind": "drink"}'""")
    return fields


def _json(name: str, given: str) -> Any:
    try:
        return parse_json(_text(given))
    except ValueError as error:
        raise UsageFailure(f"{name}: {error}") from error


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
    entry = _find(session)
    if session.arguments.value:
        session.output.lines([render_json_line(entry.value)])
    else:
        session.output.document(entry.raw, render_entry_fields(entry.raw), *render_value(entry.raw))


def _find(session: Session) -> Entry:
    given = session.arguments
    if given.key is None:
        return _by_id(session.client, given.namespace)
    entry = session.client.memory.get_entry(
        given.namespace, given.key, agent_id=given.agent, memory_type=given.type
    )
    if entry is None:
        raise Failure(f"there is no entry {_render_name(session)}")
    return entry


def _by_id(client: Client, entry_id: str) -> Entry:
    """Return the entry; unlike `get_entry`, recognize a server of another kind."""
    answer = client.request("GET", f"/api/v1/memory/{quote(entry_id, safe='')}")
    return Entry.from_document(parse_document(answer, "id", "value"))


def _render_name(session: Session) -> str:
    given = session.arguments
    return str(given.namespace) if given.key is None else f"{given.namespace} / {given.key}"


def remove(session: Session) -> None:
    """`rm`: deletes one entry; with --version only if that is its version."""
    entry = _find(session)
    if not session.client.memory.delete(id=entry.id, version=session.arguments.version):
        raise Failure(f"there is no entry {_render_name(session)}")
    session.output.document({"deleted": entry.id}, {"deleted": entry.id})


def query(session: Session) -> None:
    """`query`: what matches, newest first; a table has 100 rows unless --limit says otherwise."""
    limit, people = session.arguments.limit, not session.output.json
    found = iter(session.client.memory.query(**filters(session.arguments)))
    shown = islice(found, ROWS if people and limit is None else limit)
    rows = (entry.raw for entry in shown)
    session.output.documents(rows, ENTRY_HEADINGS, render_entry_row)
    if people and limit is None and next(found, None) is not None:
        note(f"there are more than {ROWS} entries; --limit shows more of them")


def search(session: Session) -> None:
    """`search`: what fits best, with scores and the words that matched."""
    given = session.arguments
    found = session.client.memory.search(
        given.query,
        vector=_vector(given.vector),
        fields=_fields(given.fields),
        memory_type=given.type,
        top_k=given.limit,
        min_score=given.min_score,
        namespace=given.namespace,
        agent_id=given.agent,
        tags=given.tag,
    )
    session.output.documents((each.raw for each in found), RESULT_HEADINGS, render_result_row)


def filters(given: argparse.Namespace) -> dict[str, Any]:
    """Return the filters of a query (RFC-0015 §4.1) that the user gave."""
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
    document = session.client.memory.summary(agent_id=session.arguments.agent).raw
    session.output.document(document, render_summary(document))
