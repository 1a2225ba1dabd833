"""The commands on entries: get, query, rm, summary (RFC-0015 §4)."""

import argparse
from itertools import islice
from typing import Any

from agent_memory import Client, Entry
from agent_memory.cli.arguments import (
    TIERS,
    Parser,
    add_command,
    parse_count,
    parse_text,
    parse_time,
)
from agent_memory.cli.columns import select_columns
from agent_memory.cli.connection import parse_document
from agent_memory.cli.failures import Failure
from agent_memory.cli.formatting import (
    ENTRY_HEADINGS,
    render_entry_fields,
    render_entry_row,
    render_summary,
    render_value,
)
from agent_memory.cli.output import note
from agent_memory.cli.session import Session
from agent_memory.cli.text import render_json_line
from agent_memory.requests import quote_segment

_VERSIONS = select_columns("version", "time", "actor", "change", "value")
ROWS = 100  # rows of a table by default


def add_commands(commands: Any) -> None:
    """Add the commands on entries."""
    _add_get_and_rm(commands)
    _add_query(commands)
    _add_history(commands)
    command = add_command(commands, "summary", "show an agent's memory in figures", summary)
    command.add_argument(
        "--agent", metavar="ID", type=parse_text, help="the principal; by default yourself"
    )


def _add_get_and_rm(commands: Any) -> None:
    for name, help_text, run in (
        ("get", "show an entry", get),
        ("rm", "delete an entry", remove),
    ):
        command = add_command(commands, name, help_text, run)
        command.add_argument("namespace", metavar="NAMESPACE|ID", type=parse_text)
        command.add_argument("key", metavar="KEY", nargs="?", type=parse_text)
        command.add_argument(
            "--type",
            choices=TIERS,
            help="the tier; by default, your own entry, or else the shared one",
        )
        command.add_argument(
            "--agent",
            metavar="ID",
            type=parse_text,
            help="the agent of the entry; by default yourself",
        )
        if name == "get":
            command.add_argument(
                "--value", action="store_true", help="print only its value, as JSON"
            )
            command.add_argument("--version", type=parse_count, help="show an earlier version")
            command.add_argument(
                "--as-of", metavar="TIME", type=parse_time, help="show the entry as of this time"
            )
        else:
            command.add_argument("--version", type=parse_count, help="delete only this version")
            command.add_argument(
                "--history", action="store_true", help="delete only its earlier versions"
            )


def _add_history(commands: Any) -> None:
    for name, help_text, run in (
        ("history", "list the versions of an entry, newest first", show_history),
        ("restore", "write the value of an earlier version again", restore),
    ):
        command = add_command(commands, name, help_text, run)
        command.add_argument("namespace", metavar="NAMESPACE|ID", type=parse_text)
        command.add_argument("key", metavar="KEY", nargs="?", type=parse_text)
        command.add_argument(
            "--type",
            choices=TIERS,
            help="the tier; by default, your own entry, or else the shared one",
        )
        if name == "history":
            command.add_argument("--limit", type=parse_count, help="the maximum number")
        else:
            command.add_argument("--version", type=parse_count, required=True)


def _name_entry(session: Session) -> dict[str, Any]:
    given = session.arguments
    if given.key is None:
        return {"id": given.namespace}
    return {"namespace": given.namespace, "key": given.key, "memory_type": given.type}


def show_history(session: Session) -> None:
    """`history`: the kept versions of an entry, newest first."""
    found = session.client.memory.history(limit=session.arguments.limit, **_name_entry(session))
    session.output.documents(found, *_VERSIONS)


def restore(session: Session) -> None:
    """`restore`: the value of an earlier version becomes the present one."""
    version = session.arguments.version
    entry = session.client.memory.restore(version=version, **_name_entry(session))
    session.output.lines([render_json_line(entry.value)])


def _add_query(commands: Any) -> None:
    command = add_command(commands, "query", "list the entries that match", query)
    add_filters(command)
    command.add_argument("--limit", type=parse_count, help="the maximum number; a table has 100")


def add_filters(command: Parser) -> None:
    """Add the filters of a query as options."""
    command.add_argument("--namespace", type=parse_text, help="`billing.*` is a prefix")
    command.add_argument("--key", type=parse_text)
    command.add_argument("--type", choices=TIERS)
    command.add_argument(
        "--tag", action="append", type=parse_text, help="only those with this tag; may be repeated"
    )
    command.add_argument(
        "--any-tag",
        action="append",
        type=parse_text,
        help="only those with one of these tags; may be repeated",
    )
    command.add_argument(
        "--agent",
        metavar="ID",
        type=parse_text,
        help="the agent; by default your own and shared entries",
    )
    command.add_argument("--task", metavar="ID", type=parse_text)
    command.add_argument("--intent", metavar="ID", type=parse_text)
    command.add_argument("--pinned", action=argparse.BooleanOptionalAction)
    command.add_argument("--updated-after", metavar="TIME", type=parse_text)
    command.add_argument("--updated-before", metavar="TIME", type=parse_text)
    command.add_argument(
        "--as-of", metavar="TIME", type=parse_time, help="list entries as of this time"
    )


def get(session: Session) -> None:
    """`get`: one entry; --value prints only its value, as JSON."""
    given, entry = session.arguments, _find(session)
    if given.version is not None or given.as_of is not None:
        past = session.client.memory.get_past(id=entry.id, version=given.version, as_of=given.as_of)
        if past is None:
            raise Failure(f"{_render_name(session)} did not exist then")
        entry = past
    if given.value:
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
    answer = client.request("GET", f"/api/v1/memory/{quote_segment(entry_id)}")
    return Entry.from_document(parse_document(answer, "id", "value"))


def _render_name(session: Session) -> str:
    given = session.arguments
    return str(given.namespace) if given.key is None else f"{given.namespace} / {given.key}"


def remove(session: Session) -> None:
    """`rm`: deletes one entry; with --version only this version."""
    entry = _find(session)
    if session.arguments.history:
        session.client.memory.remove_history(id=entry.id)
        session.output.document({"history": entry.id}, {"history removed": entry.id})
        return
    if not session.client.memory.delete(id=entry.id, version=session.arguments.version):
        raise Failure(f"there is no entry {_render_name(session)}")
    session.output.document({"deleted": entry.id}, {"deleted": entry.id})


def query(session: Session) -> None:
    """`query`: matching entries, newest first; a table has 100 rows by default."""
    limit, people = session.arguments.limit, not session.output.json
    found = iter(session.client.memory.query(**filters(session.arguments)))
    shown = islice(found, ROWS if people and limit is None else limit)
    rows = (entry.raw for entry in shown)
    session.output.documents(rows, ENTRY_HEADINGS, render_entry_row)
    if people and limit is None and next(found, None) is not None:
        note(f"there are more than {ROWS} entries; use --limit to show more")


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
        "as_of": given.as_of,
    }
    return {name: each for name, each in named.items() if each is not None}


def summary(session: Session) -> None:
    """`summary`: an agent's memory in figures; your own by default."""
    document = session.client.memory.summary(agent_id=session.arguments.agent).raw
    session.output.document(document, render_summary(document))
