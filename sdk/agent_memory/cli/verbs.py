"""The commands `remember`, `say`, `recall`, `forget` and `hand-over`."""

from dataclasses import asdict
from typing import Any, get_args

from agent_memory.cli.arguments import (
    add_command,
    parse_count,
    parse_number,
    parse_score,
    parse_text,
    parse_time,
)
from agent_memory.cli.columns import select_columns
from agent_memory.cli.failures import Failure, UsageFailure
from agent_memory.cli.formatting import render_entry_fields
from agent_memory.cli.session import Session
from agent_memory.cli.text import escape_controls
from agent_memory.model import RecallSource, Sensitivity
from agent_memory.requests import drop_none

_NARROWING = ("agent_id", "agent_type", "namespace", "session_id", "run_id")

_ANSWERS = select_columns("time", "session_id", "role", "text")


def add_commands(commands: Any) -> None:
    """Add the verbs."""
    _add_remember(commands)
    command = add_command(commands, "say", "append to a conversation, or create it", say)
    command.add_argument("session_id", metavar="SESSION", type=parse_text)
    command.add_argument("--said", metavar="TEXT", type=parse_text, help="the message of the user")
    command.add_argument(
        "--answered", metavar="TEXT", type=parse_text, help="the answer of the assistant"
    )
    command.add_argument(
        "--uses",
        action="append",
        metavar="REFERENCE",
        type=parse_text,
        help="a reference that the answer was made from",
    )
    command.add_argument(
        "--join", action="store_true", help="continue a conversation of another principal or user"
    )
    _add_user(command)
    _add_recall(commands)
    command = add_command(commands, "answers", "list the answers made from an item", list_answers)
    command.add_argument("reference", metavar="REFERENCE", type=parse_text)
    command = add_command(commands, "forget", "delete an item, or everything about a user", forget)
    command.add_argument("reference", metavar="REFERENCE", nargs="?", type=parse_text)
    command.add_argument(
        "--everything", action="store_true", help="with --user: everything about the user"
    )
    _add_user(command)
    command = add_command(commands, "hand-over", "hand a task to another agent", hand_over)
    command.add_argument("task_id", metavar="TASK", type=parse_text)
    command.add_argument("to", metavar="AGENT", type=parse_text)
    command.add_argument("--note", type=parse_text, help="a note for the next agent")


def _add_remember(commands: Any) -> None:
    command = add_command(commands, "remember", "store a memory once", remember)
    command.add_argument("text", metavar="TEXT", type=parse_text)
    command.add_argument("--tag", action="append", type=parse_text, help="a label to query by")
    command.add_argument(
        "--key", type=parse_text, help="the name of the memory; derived from the text by default"
    )
    command.add_argument(
        "--ttl",
        metavar="DURATION",
        help="the lifetime, such as P30D; by default, it does not expire",
    )
    command.add_argument("--sensitivity", choices=get_args(Sensitivity))
    command.add_argument("--source", metavar="TEXT", help="its source")
    command.add_argument(
        "--occurred-at", metavar="TIME", type=parse_time, help="the time when the content happened"
    )
    _add_user(command)


def _add_recall(commands: Any) -> None:
    command = add_command(commands, "recall", "ask all memory one question", recall)
    command.add_argument("query", metavar="QUERY", type=parse_text)
    command.add_argument(
        "--since", metavar="TIME", type=parse_time, help="only items about this time or later"
    )
    command.add_argument(
        "--until", metavar="TIME", type=parse_time, help="only items about an earlier time"
    )
    command.add_argument(
        "--limit", type=parse_count, default=10, help="the maximum number of items; 10 by default"
    )
    command.add_argument(
        "--max-tokens", type=parse_count, help="the maximum size of the text, in tokens"
    )
    command.add_argument(
        "--tag", action="append", type=parse_text, help="only those with this tag; may be repeated"
    )
    command.add_argument(
        "--source", action="append", choices=get_args(RecallSource), help="may be repeated"
    )
    for name in _NARROWING:
        command.add_argument(f"--{name.replace('_', '-')}", type=parse_text)
    command.add_argument(
        "--exclude",
        action="append",
        metavar="REFERENCE",
        type=parse_text,
        help="a reference to leave out",
    )
    command.add_argument("--min-score", type=parse_score, help="the lowest score")
    command.add_argument(
        "--neighbours",
        type=parse_number,
        help="the number of messages around a message; 2 by default",
    )
    command.add_argument("--explain", action="store_true", help="show the parts of the scores")
    command.add_argument("--wait", action="store_true", help="wait until all writes are found")
    _add_user(command)


def _add_user(command: Any) -> None:
    command.add_argument("--user", metavar="ID", type=parse_text, help="the user whom it is about")


def remember(session: Session) -> None:
    """Store a memory of a user, or of the caller."""
    given, client = session.arguments, session.client
    owner = client if given.user is None else client.for_user(given.user)
    names = ("key", "ttl", "sensitivity", "source", "occurred_at")
    fields = drop_none(**{name: getattr(given, name) for name in names})
    entry = owner.remember(given.text, tags=given.tag, **fields)
    session.output.document(entry, render_entry_fields(entry.raw))


def say(session: Session) -> None:
    """Append a user's message and the answer."""
    given = session.arguments
    if given.said is None and given.answered is None:
        raise UsageFailure("give --said TEXT, --answered TEXT, or both")
    if given.uses and given.answered is None:
        raise UsageFailure("--uses needs --answered TEXT, which was made from it")
    appended = session.client.conversations.say(
        given.session_id,
        given.user,
        user=given.said,
        assistant=given.answered,
        uses=given.uses,
        join=given.join,
    )
    session.output.document(
        appended, {"session": given.session_id, "messages": str(appended.message_count)}
    )


def recall(session: Session) -> None:
    """Write the results for a question: the text for a prompt."""
    given = session.arguments
    found = session.client.recall(
        given.query,
        user_id=given.user,
        since=given.since,
        until=given.until,
        max_tokens=given.max_tokens,
        **_narrow(given),
    )
    fields = {"items": str(len(found.items)), "tokens": str(found.tokens)}
    lines = map(escape_controls, found.text.split("\n"))
    session.output.document(found, fields, "", *lines)


def list_answers(session: Session) -> None:
    """List the messages that use an item, newest first."""
    found = session.client.list_answers(session.arguments.reference)
    session.output.documents(found, *_ANSWERS)


def _narrow(given: Any) -> Any:
    """Return the given filters of a recall."""
    return drop_none(
        top_k=given.limit,
        tags=given.tag,
        sources=given.source,
        exclude=given.exclude,
        min_score=given.min_score,
        neighbours=given.neighbours,
        explain=given.explain or None,
        wait="indexed" if given.wait else None,
        **{name: getattr(given, name) for name in _NARROWING},
    )


def forget(session: Session) -> None:
    """Delete one item, or all memory about a user."""
    given = session.arguments
    is_user = given.user is not None and given.everything
    if (given.reference is not None) == is_user:
        raise UsageFailure("give a REFERENCE, or --user ID with --everything")
    if given.reference is not None:
        if not session.client.forget(given.reference):
            raise Failure(f"no item has the reference {given.reference}")
        session.output.document({"items": 1}, {"items": "1"})
        return
    done = session.client.for_user(given.user).forget()
    counts = {name: count for name, count in asdict(done).items() if name != "items"}
    session.output.document(counts, {name: str(count) for name, count in counts.items()})


def hand_over(session: Session) -> None:
    """Hand a task over, with a note."""
    given = session.arguments
    task = session.client.hand_over(given.task_id, to=given.to, note=given.note)
    session.output.document(
        task, {"task": task.id, "assigned": task.assigned_agent or "", "status": task.status}
    )
