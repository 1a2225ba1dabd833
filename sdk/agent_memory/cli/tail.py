"""The command `tail`: a log's last events, and those to come (RFC-0015 §5)."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from agent_memory import Client
from agent_memory.cli.arguments import add_command, parse_number, parse_text
from agent_memory.cli.connection import parse_document
from agent_memory.cli.formatting import render_event
from agent_memory.cli.session import Session
from agent_memory.cli.text import escape_controls, pad, render_json_line, width
from agent_memory.responses import parse_items

_PAGE = 1000
_WIDTHS = (24, 15, 16)  # of what each line begins with; the lines come one by one


def add_commands(commands: Any) -> None:
    """Add the command `tail`."""
    command = add_command(commands, "tail", "show what happened, and what happens", tail)
    log = command.add_mutually_exclusive_group()
    log.add_argument("--agent", metavar="ID", type=parse_text, help="an agent's log; one's own")
    log.add_argument("--intent", metavar="ID", type=parse_text, help="an intent's log")
    log.add_argument("--namespace", metavar="NAME", type=parse_text, help="a namespace's log")
    command.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    command.add_argument(
        "-n", "--lines", type=parse_number, default=10, help="the last so many; 10"
    )
    command.add_argument("--event", metavar="TYPE", type=parse_text, help="memory.created, …")


def tail(session: Session) -> None:
    """`tail`: the last events of a log; with --follow whatever comes, until Ctrl-C."""
    given, client = session.arguments, session.client
    log, name = _log(session)
    last: deque[dict[str, Any]] = deque(maxlen=given.lines)
    position: str | None = None
    for page in _pages(client, _path(log, name), given.event):
        last.extend(parse_items(page["events"]))
        position = page["next"]
    render = render_json_line if session.output.json else _line
    _write(render, last)
    if given.follow:
        follow = getattr(client.events, log)
        for event in follow(name, after=position, type=given.event, follow=True):
            _write(render, [event.raw])


def _log(session: Session) -> tuple[str, str]:
    given = session.arguments
    if given.intent is not None:
        return "intent", given.intent
    if given.namespace is not None:
        return "namespace", given.namespace
    return "agent", given.agent or session.client.principals.me().id


def _path(log: str, name: str) -> str:
    folder = {"intent": "intents", "namespace": "memory/namespaces", "agent": "agents"}[log]
    return f"/api/v1/{folder}/{quote(name, safe='')}/events"


def _pages(client: Client, path: str, kind: str | None) -> Iterator[dict[str, Any]]:
    """Yield what the log holds by now, page by page."""
    query = {"limit": str(_PAGE)} | ({} if kind is None else {"type": kind})
    before = None
    while True:
        page = parse_document(client.request("GET", path, params=query), "events", "next")
        yield page
        if page["next"] == before:
            return
        before = query["after"] = page["next"]


def _write(render: Callable[[dict[str, Any]], str], events: Any) -> None:
    for event in events:
        sys.stdout.write(f"{render(event)}\n")
    sys.stdout.flush()


def _line(event: dict[str, Any]) -> str:
    *first, last = map(escape_controls, render_event(event))
    cells = [pad(cell, max(most, width(cell))) for cell, most in zip(first, _WIDTHS, strict=True)]
    return "  ".join([*cells, last]).rstrip()
