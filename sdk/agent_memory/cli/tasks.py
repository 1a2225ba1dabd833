"""The commands on tasks and workflows."""

import sys
from pathlib import Path
from typing import Any

from agent_memory.cli.arguments import add_command, parse_text
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.formatting import (
    TASK_HEADINGS,
    Document,
    reject_foreign,
    render_task_fields,
    render_task_row,
)
from agent_memory.cli.jsontext import decode_utf8
from agent_memory.cli.session import Session


def add_commands(commands: Any) -> None:
    """Add the commands on tasks and workflows."""
    _add_tasks(commands)
    _add_workflow(commands)


def _add_tasks(commands: Any) -> None:
    group = add_command(commands, "tasks", "list and show tasks", None)
    each = group.add_subparsers(dest="tasks_command", required=True, metavar="COMMAND")
    command = add_command(each, "list", "list an intent's tasks", list_tasks)
    command.add_argument("--intent", metavar="ID", type=parse_text, required=True)
    command.add_argument("--status", type=parse_text)
    command = add_command(each, "show", "show a task", show_task)
    command.add_argument("task", metavar="ID", type=parse_text)
    command = add_command(each, "assigned", "list an agent's open tasks", assigned_tasks)
    command.add_argument(
        "--agent", metavar="ID", type=parse_text, help="the principal; by default yourself"
    )
    command.add_argument("--status", type=parse_text)


def _add_workflow(commands: Any) -> None:
    group = add_command(commands, "workflow", "apply workflow files", None)
    each = group.add_subparsers(dest="workflow_command", required=True, metavar="COMMAND")
    command = add_command(each, "apply", "apply a workflow file", apply_workflow)
    command.add_argument("file", metavar="FILE", type=parse_text, help="YAML or JSON; - for stdin")


def list_tasks(session: Session) -> None:
    """`tasks list`: an intent's tasks."""
    given = session.arguments
    tasks = session.client.tasks.list(given.intent, status=given.status)
    _print_tasks(session, tasks)


def assigned_tasks(session: Session) -> None:
    """`tasks assigned`: the open tasks of an agent; your own by default."""
    given = session.arguments
    _print_tasks(session, session.client.tasks.list_assigned(given.agent, status=given.status))


def _print_tasks(session: Session, tasks: Any) -> None:
    session.output.documents((task.raw for task in tasks), TASK_HEADINGS, render_task_row)


def show_task(session: Session) -> None:
    """`tasks show`: one task."""
    task = session.client.tasks.get(session.arguments.task).raw
    session.output.document(task, render_task_fields(task))


def apply_workflow(session: Session) -> None:
    """`workflow apply`: applies a workflow file (RFC-0015 §7)."""
    applied = session.client.workflows.apply(_workflow(session.arguments.file)).raw
    session.output.document(applied, _applied_fields(applied))


def _workflow(file: str) -> str:
    try:
        return decode_utf8(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes())
    except OSError as error:
        raise UsageFailure(f"can't read {file}: {error.strerror}") from error
    except ValueError as error:
        raise UsageFailure(f"{file}: {error}") from error


@reject_foreign
def _applied_fields(applied: Document) -> dict[str, str]:
    tasks = [f"{task['name']} ({task['id']})" for task in applied["tasks"]]
    fields = {
        "workflow": f"{applied['name']} {applied['version'] or ''}",
        "intent": applied["intent_id"],
        "namespaces": ", ".join(applied["semantic_namespaces"]),
        "agents": ", ".join(agent["agent_id"] for agent in applied["agents"]),
        "tasks": ", ".join(tasks),
    }
    return {name: text for name, text in fields.items() if text}
