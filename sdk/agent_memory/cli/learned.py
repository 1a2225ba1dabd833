"""The commands on what agents learned to do, and on OpenWOP runs."""

from typing import Any

from agent_memory.cli.arguments import add_command, add_group, parse_count, parse_text
from agent_memory.cli.columns import select_columns, show
from agent_memory.cli.session import Session
from agent_memory.openwop import MemoryAdapter

_WORKFLOWS = select_columns("workflow_id", "mean", "alpha", "beta", "outcomes", "updated_at")
_TASK_TYPES = select_columns("task_type")
_RUNS = select_columns("runId", "state", "startedAt", "endsAt", "replayOf")


def add_commands(commands: Any) -> None:
    """Add the commands `procedures` and `openwop`."""
    each = add_group(commands, "procedures", "list workflows, and what was learned of them")
    command = add_command(each, "types", "list the types of task with workflows", list_types)
    command.add_argument("agent_type", metavar="AGENT_TYPE", type=parse_text)
    command = add_command(each, "list", "list the workflows of a type of task", list_workflows)
    command.add_argument("agent_type", metavar="AGENT_TYPE", type=parse_text)
    command.add_argument("task_type", metavar="TASK_TYPE", type=parse_text)
    each = add_group(commands, "openwop", "list and show OpenWOP runs")
    command = add_command(each, "list", "list the runs that you started, newest first", list_runs)
    command.add_argument("--limit", type=parse_count, help="at most so many")
    command = add_command(each, "show", "show the state of a run", show_run)
    command.add_argument("run_id", metavar="ID", type=parse_text)


def list_types(session: Session) -> None:
    """`procedures types`: of an agent type."""
    found = session.client.procedures.list_task_types(session.arguments.agent_type)
    session.output.documents(({"task_type": each} for each in found), *_TASK_TYPES)


def list_workflows(session: Session) -> None:
    """`procedures list`: with the mean of each one's score."""
    given = session.arguments
    found = session.client.procedures.list(given.agent_type, given.task_type)
    session.output.documents(found, *_WORKFLOWS)


def list_runs(session: Session) -> None:
    """`openwop list`: the runs that the key's principal started."""
    runs = MemoryAdapter(session.client).list_runs(limit=session.arguments.limit)
    session.output.documents(runs, *_RUNS)


def show_run(session: Session) -> None:
    """`openwop show`: a run's state."""
    show(session, MemoryAdapter(session.client).get_state(session.arguments.run_id))
