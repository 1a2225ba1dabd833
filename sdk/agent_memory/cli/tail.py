"""The command `tail`: a log's last events, and later ones (RFC-0015 §5)."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from agent_memory import Event, Pages
from agent_memory.cli.arguments import add_command, parse_number, parse_text
from agent_memory.cli.formatting import render_event
from agent_memory.cli.session import Session
from agent_memory.cli.text import escape_controls, pad, render_json_line, width
from agent_memory.model import EventType

_WIDTHS = (24, 15, 16)  # widths of the first columns, since lines are written one by one


def add_commands(commands: Any) -> None:
    """Add the command `tail`."""
    command = add_command(commands, "tail", "show events, and wait for further ones", tail)
    log = command.add_mutually_exclusive_group()
    log.add_argument(
        "--agent", metavar="ID", type=parse_text, help="the log of an agent; by default your own"
    )
    log.add_argument("--intent", metavar="ID", type=parse_text, help="an intent's log")
    log.add_argument("--namespace", metavar="NAME", type=parse_text, help="a namespace's log")
    command.add_argument(
        "-f", "--follow", action="store_true", help="wait for further events until Ctrl-C"
    )
    command.add_argument(
        "-n", "--lines", type=parse_number, default=10, help="the number of last events; 10"
    )
    command.add_argument("--event", metavar="TYPE", type=parse_text, help="memory.created, …")


def tail(session: Session) -> None:
    """`tail`: the last events of a log; with --follow also later ones, until Ctrl-C."""
    given = session.arguments
    read = _log(session)
    found = read(newest_first=True, limit=max(given.lines, 1), type=given.event).list()
    last = found[::-1]
    render = render_json_line if session.output.json else _line
    _write(render, last[-given.lines :] if given.lines else [])
    if given.follow:
        _follow(read, last, given.event, lambda events: _write(render, events))


def _log(session: Session) -> Callable[..., Pages[Event]]:
    """Return the call that reads the chosen log."""
    given, events = session.arguments, session.client.events
    if given.intent is not None:
        return partial(events.list_for_intent, given.intent)
    if given.namespace is not None:
        return partial(events.list_for_namespace, given.namespace)
    return partial(events.list_for_agent, given.agent or session.client.principals.me().id)


def _follow(
    read: Callable[..., Pages[Event]],
    last: list[Event],
    kind: EventType | None,
    write: Callable[[list[Event]], None],
) -> None:
    """Write the events after the last ones, and later ones."""
    since = last[-1].timestamp if last else None
    known, position = {event.id for event in last}, None
    for page in read(since=since, type=kind).pages():
        write([event for event in page if event.id not in known])
        position = page.next
    for event in read(after=position, type=kind, follow=True):
        write([event])


def _write(render: Callable[[dict[str, Any]], str], events: list[Event]) -> None:
    for event in events:
        sys.stdout.write(f"{render(dict(event.raw))}\n")
    sys.stdout.flush()


def _line(event: dict[str, Any]) -> str:
    *first, last = map(escape_controls, render_event(event))
    cells = [pad(cell, max(most, width(cell))) for cell, most in zip(first, _WIDTHS, strict=True)]
    return "  ".join([*cells, last]).rstrip()
