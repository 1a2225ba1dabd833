"""What can be typed: `agent-memory [options] COMMAND …`."""

import argparse
from typing import Any, NoReturn, get_args

from agent_memory.cli import entries, tail, tasks, transfer
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.failures import __doc__ as _failures
from agent_memory.cli.importing import Policy
from agent_memory.cli.session import Command
from agent_memory.model import ENTRY_FIELDS, FieldInfo, MemoryType

_TIERS = get_args(MemoryType)
_POLICIES: tuple[Policy, ...] = ("fail", "skip", "overwrite")
_DESCRIPTION = "Memory for AI agents: entries, logs, tasks, workflows."
_EPILOG = """\
The server and the key come from AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY, or from a profile:
`agent-memory login URL` asks for the key and keeps it in ~/.config/agent-memory/profiles.toml.

exit codes:
"""
_PATIENCE = 30.0  # seconds


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are `UsageFailure`s, with hostile arguments made harmless."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageFailure(f"{message}; see {self.prog} --help")


def parser() -> Parser:
    """The parser of the whole command line; `run` is the command's function."""
    exit_codes = (_failures or "").partition("\n\n")[2]
    top = Parser(
        prog="agent-memory",
        description=_DESCRIPTION,
        epilog=_EPILOG + exit_codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _common(top, profile=None, json=False, timeout=_PATIENCE)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_set(commands)
    _add_get_and_rm(commands)
    _add_query(commands)
    _add_tail_and_summary(commands)
    _add_tasks(commands)
    _add_workflow(commands)
    _add_transfer(commands)
    _add_profiles(commands)
    return top


def _common(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """The options that stand before or after a command's name."""
    parser.add_argument("--profile", metavar="NAME", help="the profile to use")
    parser.add_argument("--json", action="store_true", help="JSON; JSON Lines for lists")
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="of a request; 30")
    parser.set_defaults(**defaults)


def _command(commands: Any, name: str, help_text: str, run: Command | None) -> Parser:
    parser: Parser = commands.add_parser(
        name, help=help_text, description=help_text, argument_default=argparse.SUPPRESS
    )
    _common(parser)
    parser.argument_default = None
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def _add_set(commands: Any) -> None:
    command = _command(commands, "set", "create an entry, or replace one", entries.set_entry)
    command.add_argument("namespace", metavar="NAMESPACE", type=_text)
    command.add_argument("key", metavar="KEY", type=_text)
    command.add_argument(
        "value", metavar="VALUE", type=_text, help="a JSON object, @FILE, or - for stdin"
    )
    command.add_argument("--type", choices=_TIERS, help="the tier; working unless given")
    command.add_argument("--tag", action="append", type=_text, help="may be repeated")
    for name in entries.PLAIN_FIELDS:
        _add_field(command, ENTRY_FIELDS[name])
    command.add_argument("--task", metavar="ID", type=_text, help="the task in its scope")
    command.add_argument("--intent", metavar="ID", type=_text, help="the intent in its scope")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--version", type=_count, help="replace this version, and no other")
    how.add_argument("--overwrite", action="store_true", help="replace whatever stands there")


def _add_field(command: Parser, field: FieldInfo) -> None:
    """Add the option of an entry's field, as the service describes it."""
    options: dict[str, Any] = {"help": field.description.replace("%", "%%") or None}
    if field.type == "boolean":
        options["action"] = argparse.BooleanOptionalAction
    elif field.choices:
        options["choices"] = field.choices
    else:
        options |= {"type": _text, "metavar": field.name.upper()}
    command.add_argument(f"--{field.name.replace('_', '-')}", **options)


def _add_get_and_rm(commands: Any) -> None:
    for name, help_text, run in (
        ("get", "show an entry", entries.get),
        ("rm", "delete an entry", entries.remove),
    ):
        command = _command(commands, name, help_text, run)
        command.add_argument("namespace", metavar="NAMESPACE|ID", type=_text)
        command.add_argument("key", metavar="KEY", nargs="?", type=_text)
        command.add_argument("--type", choices=_TIERS, help="the tier; own entries first")
        command.add_argument("--agent", metavar="ID", type=_text, help="whose entry; one's own")
        if name == "get":
            command.add_argument("--value", action="store_true", help="its value alone, as JSON")
        else:
            command.add_argument("--version", type=_count, help="only if this is its version")


def _add_query(commands: Any) -> None:
    command = _command(commands, "query", "list the entries that match", entries.query)
    _filters(command)
    command.add_argument("--limit", type=_count, help="at most so many; a table has 100")


def _filters(command: Parser) -> None:
    command.add_argument("--namespace", type=_text, help="`billing.*` is a prefix")
    command.add_argument("--key", type=_text)
    command.add_argument("--type", choices=_TIERS)
    command.add_argument("--tag", action="append", type=_text, help="has all of these")
    command.add_argument("--any-tag", action="append", type=_text, help="has one of these")
    command.add_argument("--agent", metavar="ID", type=_text, help="whose; one's own and shared")
    command.add_argument("--task", metavar="ID", type=_text)
    command.add_argument("--intent", metavar="ID", type=_text)
    command.add_argument("--pinned", action=argparse.BooleanOptionalAction)
    command.add_argument("--updated-after", metavar="TIME", type=_text)
    command.add_argument("--updated-before", metavar="TIME", type=_text)


def _add_tail_and_summary(commands: Any) -> None:
    command = _command(commands, "tail", "show what happened, and what happens", tail.tail)
    log = command.add_mutually_exclusive_group()
    log.add_argument("--agent", metavar="ID", type=_text, help="an agent's log; one's own")
    log.add_argument("--intent", metavar="ID", type=_text, help="an intent's log")
    log.add_argument("--namespace", metavar="NAME", type=_text, help="a namespace's log")
    command.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    command.add_argument("-n", "--lines", type=_number, default=10, help="the last so many; 10")
    command.add_argument("--event", metavar="TYPE", type=_text, help="memory.created, …")
    command = _command(commands, "summary", "show an agent's memory in figures", entries.summary)
    command.add_argument("--agent", metavar="ID", type=_text, help="whose; one's own")


def _add_tasks(commands: Any) -> None:
    group = _command(commands, "tasks", "list and show tasks", None)
    each = group.add_subparsers(dest="tasks_command", required=True, metavar="COMMAND")
    command = _command(each, "list", "list an intent's tasks", tasks.list_tasks)
    command.add_argument("--intent", metavar="ID", type=_text, required=True)
    command.add_argument("--status", type=_text)
    command = _command(each, "show", "show a task", tasks.show_task)
    command.add_argument("task", metavar="ID", type=_text)
    command = _command(each, "assigned", "list an agent's open tasks", tasks.assigned_tasks)
    command.add_argument("--agent", metavar="ID", type=_text, help="whose; one's own")
    command.add_argument("--status", type=_text)


def _add_workflow(commands: Any) -> None:
    group = _command(commands, "workflow", "apply workflow files", None)
    each = group.add_subparsers(dest="workflow_command", required=True, metavar="COMMAND")
    command = _command(each, "apply", "set what a workflow file says", tasks.apply_workflow)
    command.add_argument("file", metavar="FILE", type=_text, help="YAML or JSON; - for stdin")


def _add_transfer(commands: Any) -> None:
    command = _command(commands, "export", "write entries as JSON Lines", transfer.export)
    _filters(command)
    command.add_argument(
        "-o", "--output", metavar="FILE", type=_text, help="replaced once the export is whole"
    )
    command = _command(commands, "import", "write what was exported", transfer.import_entries)
    command.add_argument("file", metavar="FILE", nargs="?", default="-", type=_text)
    command.add_argument(
        "--on-conflict", choices=_POLICIES, default="fail", help="where another entry stands"
    )
    command.add_argument(
        "--reassign", action="store_true", help="other agents' private entries become one's own"
    )


def _add_profiles(commands: Any) -> None:
    command = _command(commands, "login", "keep a server's key, read from stdin", None)
    command.add_argument("url", metavar="URL", type=_text)
    _command(commands, "logout", "forget a profile", None)
    _command(commands, "profiles", "list the profiles", None)


def _text(given: str) -> str:
    if not given:
        raise argparse.ArgumentTypeError("is empty")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("isn't UTF-8") from error
    return given


def _count(given: str) -> int:
    number = _number(given)
    if number < 1:
        raise argparse.ArgumentTypeError("is a number from 1")
    return number


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        raise argparse.ArgumentTypeError("is a whole number")
    return int(given)


def _seconds(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= 3600.0:
        raise argparse.ArgumentTypeError("is a number of seconds, at most 3600")
    return seconds
