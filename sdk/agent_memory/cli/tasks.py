"""The commands on tasks and workflows (contract §5)."""

import sys
from pathlib import Path
from typing import Any

from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.jsontext import decoded
from agent_memory.cli.session import Session
from agent_memory.cli.shapes import TASK_HEADINGS, Document, of_the_service, task_fields, task_row


def list_tasks(session: Session) -> None:
    """`tasks list`: an intent's tasks."""
    given = session.arguments
    tasks = session.client.tasks.list(given.intent, status=given.status)
    _listed(session, tasks)


def assigned_tasks(session: Session) -> None:
    """`tasks assigned`: the open tasks of an agent; one's own unless --agent says whose."""
    given = session.arguments
    _listed(session, session.client.tasks.assigned(given.agent, status=given.status))


def _listed(session: Session, tasks: Any) -> None:
    session.output.documents((task.raw for task in tasks), TASK_HEADINGS, task_row)


def show_task(session: Session) -> None:
    """`tasks show`: one task."""
    task = session.client.tasks.get(session.arguments.task).raw
    session.output.document(task, task_fields(task))


def apply_workflow(session: Session) -> None:
    """`workflow apply`: sets what a workflow file says (RFC-0015 §7)."""
    applied = session.client.workflows.apply(_workflow(session.arguments.file))
    session.output.document(applied, _applied_fields(applied))


def _workflow(file: str) -> str:
    try:
        return decoded(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes())
    except OSError as error:
        raise UsageFailure(f"can't read {file}: {error.strerror}") from error
    except ValueError as error:
        raise UsageFailure(f"{file}: {error}") from error


@of_the_service
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
