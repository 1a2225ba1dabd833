"""The commands on learning, and on OpenWOP runs."""

from typing import Any, get_args

from agent_memory.cli.arguments import add_command, add_group, parse_count, parse_text
from agent_memory.cli.columns import select_columns, show
from agent_memory.cli.failures import Failure
from agent_memory.cli.session import Session
from agent_memory.model.literals import StrategyKind
from agent_memory.openwop import MemoryAdapter

_WORKFLOWS = select_columns("workflow_id", "mean", "alpha", "beta", "outcomes", "updated_at")
_TASK_TYPES = select_columns("task_type")
_STRATEGIES = select_columns("name", "kind", "namespace", "enabled", "version")
_RUNS = select_columns("runId", "state", "startedAt", "endsAt", "replayOf")


def add_commands(commands: Any) -> None:
    """Add the commands `consolidation`, `strategies`, `procedures` and `openwop`."""
    _add_consolidation(commands)
    _add_strategies(commands)
    each = add_group(commands, "procedures", "list workflows and their results")
    command = add_command(each, "types", "list the task types that have workflows", list_types)
    command.add_argument("agent_type", metavar="AGENT_TYPE", type=parse_text)
    command = add_command(each, "list", "list the workflows of a type of task", list_workflows)
    command.add_argument("agent_type", metavar="AGENT_TYPE", type=parse_text)
    command.add_argument("task_type", metavar="TASK_TYPE", type=parse_text)
    each = add_group(commands, "openwop", "list and show OpenWOP runs")
    command = add_command(each, "list", "list the runs that you started, newest first", list_runs)
    command.add_argument("--limit", type=parse_count, help="the maximum number")
    command = add_command(each, "show", "show the state of a run", show_run)
    command.add_argument("run_id", metavar="ID", type=parse_text)


def _add_consolidation(commands: Any) -> None:
    each = add_group(commands, "consolidation", "merge equal facts, and end unused ones")
    add_command(each, "preview", "show the changes without making them", preview)
    add_command(each, "start", "start a consolidation", start_consolidation)
    for name, help_text, run in (
        ("show", "show a consolidation and its changes", show_consolidation),
        ("undo", "undo its changes of facts that have not changed since", undo_consolidation),
    ):
        command = add_command(each, name, help_text, run)
        command.add_argument("id", metavar="ID", type=parse_text)
    command = add_command(
        each, "settings", "show or change the settings of consolidation", configure
    )
    command.add_argument(
        "--every",
        metavar="DURATION",
        help="the interval, such as P7D; `never` to run only on request",
    )
    command.add_argument(
        "--decay-after",
        metavar="DURATION",
        help="the time after which unused facts lose confidence, such as P90D, or never",
    )
    command.add_argument(
        "--end-below",
        metavar="CONFIDENCE",
        type=float,
        help="the confidence below which weakened facts end, such as 0.2",
    )


def preview(session: Session) -> None:
    """`consolidation preview`: the changes that a consolidation would make."""
    show(session, session.client.consolidation.preview())


def start_consolidation(session: Session) -> None:
    """`consolidation start`: the schedule does the work."""
    show(session, session.client.consolidation.start())


def show_consolidation(session: Session) -> None:
    """`consolidation show`: its progress and steps."""
    id = session.arguments.id
    found = session.client.consolidation.get(id)
    if found is None:
        raise Failure(f"there is no consolidation {id}")
    show(session, found)


def undo_consolidation(session: Session) -> None:
    """`consolidation undo`: by its id."""
    show(session, session.client.consolidation.undo(session.arguments.id))


def configure(session: Session) -> None:
    """`consolidation settings`: shows the settings, or changes the given ones."""
    client, given = session.client.consolidation, session.arguments
    names = ("every", "decay_after", "end_below")
    changes = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    present = client.get_settings()
    if changes:
        chosen = {name: getattr(present, name) for name in names} | changes
        cleared: dict[str, Any] = {
            name: None if each == "never" else each for name, each in chosen.items()
        }
        present = client.put_settings(**cleared)
    show(session, present)


def _add_strategies(commands: Any) -> None:
    each = add_group(
        commands, "strategies", "list and set strategies that learn from conversations"
    )
    add_command(each, "list", "list the strategies", list_strategies)
    command = add_command(each, "set", "create or replace a strategy", set_strategy)
    command.add_argument("name", metavar="NAME", type=parse_text)
    command.add_argument("kind", choices=get_args(StrategyKind))
    command.add_argument(
        "--instructions", metavar="TEXT", help="a text for the model: what to look for"
    )
    command.add_argument(
        "--namespace",
        metavar="TEMPLATE",
        help="the namespace of what is learned, such as users/{user_id}/memory",
    )
    command.add_argument("--model", metavar="NAME", help="a model of the deployment")
    command.add_argument(
        "--messages", type=parse_count, help="the number of new messages that are read together"
    )
    command.add_argument(
        "--idle", metavar="DURATION", help="the time after the last message, such as PT10M"
    )
    command.add_argument("--disabled", action="store_true", help="stop the strategy")
    for name, help_text, run in (
        ("show", "show a strategy", show_strategy),
        ("status", "show the progress of a strategy", show_status),
        ("delete", "delete a strategy; what it has learned stays", delete_strategy),
    ):
        command = add_command(each, name, help_text, run)
        command.add_argument("name", metavar="NAME", type=parse_text)


def list_strategies(session: Session) -> None:
    """`strategies list`: by their names."""
    session.output.documents(session.client.strategies.list(), *_STRATEGIES)


def set_strategy(session: Session) -> None:
    """`strategies set`: replaces a strategy, or adds one."""
    given = session.arguments
    names = ("instructions", "namespace", "model", "messages", "idle")
    chosen = {name: getattr(given, name) for name in names}
    client = session.client.strategies
    show(session, client.put(given.name, given.kind, **chosen, enabled=not given.disabled))


def show_strategy(session: Session) -> None:
    """`strategies show`: one strategy."""
    name = session.arguments.name
    found = session.client.strategies.get(name)
    if found is None:
        raise Failure(f"there is no strategy {name}")
    show(session, found)


def show_status(session: Session) -> None:
    """`strategies status`: with the budget of the day."""
    show(session, session.client.strategies.get_status(session.arguments.name))


def delete_strategy(session: Session) -> None:
    """`strategies delete`: by its name."""
    name = session.arguments.name
    if not session.client.strategies.delete(name):
        raise Failure(f"there is no strategy {name}")
    show(session, {"deleted": name})


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
    """`openwop list`: the runs of the key's principal."""
    runs = MemoryAdapter(session.client).list_runs(limit=session.arguments.limit)
    session.output.documents(runs, *_RUNS)


def show_run(session: Session) -> None:
    """`openwop show`: a run's state."""
    show(session, MemoryAdapter(session.client).get_state(session.arguments.run_id))
