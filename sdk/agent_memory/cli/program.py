"""The program `agent-memory`: from the command line to the exit code."""

import argparse
import contextlib
import os
import signal
import sys
from functools import cache
from importlib.metadata import version
from types import FrameType
from typing import NoReturn

from agent_memory.cli import (
    completion,
    conversations,
    demo,
    entries,
    learned,
    principals,
    search,
    set_entry,
    shared,
    tail,
    tasks,
    transfer,
    verbs,
)
from agent_memory.cli import login as profile_commands
from agent_memory.cli import serve as serve_command
from agent_memory.cli.arguments import Parser, add_common_options
from agent_memory.cli.completion import write_completion
from agent_memory.cli.connection import connect, select_profile
from agent_memory.cli.failures import (
    INTERRUPTED,
    PIPE_CLOSED,
    TERMINATED,
    Failure,
    UsageFailure,
    render_message,
    to_exit_code,
)
from agent_memory.cli.failures import __doc__ as _failures
from agent_memory.cli.login import list_profiles, login, logout
from agent_memory.cli.output import Output, note
from agent_memory.cli.serve import serve
from agent_memory.cli.session import Session
from agent_memory.exceptions import AgentMemoryError

_MODULES = (
    *(verbs, set_entry, entries, search, tail, tasks, conversations, shared, learned, principals),
    *(transfer, demo, profile_commands, serve_command, completion),
)
_EPILOG = """\
The server and the key come from AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY, or from a profile:
`agent-memory login URL` asks for the key and keeps it in ~/.config/agent-memory/profiles.toml.
Without both, they are those of the service that `agent-memory serve` runs in the present folder.

exit codes:
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the arguments after the program's name; by default, the process's own.

    Returns:
        The exit code, as `agent_memory.cli.failures` lists them.
    """
    signal.signal(signal.SIGTERM, _terminate)
    try:
        _run(build_parser().parse_args(arguments))
        sys.stdout.flush()
    except Failure as failure:
        return _report_failure(str(failure), failure.exit_code)
    except AgentMemoryError as error:
        return _report_failure(render_message(error), to_exit_code(error))
    except KeyboardInterrupt:
        return _silence(INTERRUPTED)
    except BrokenPipeError:
        return _silence(PIPE_CLOSED)
    return 0


@cache
def build_parser() -> Parser:
    """Return the parser of the whole command line; `run` is the command's function."""
    exit_codes = (_failures or "").partition("\n\n")[2]
    top = Parser(
        prog="agent-memory",
        description="Memory for AI agents: entries, conversations, facts, runs, tasks, logs.",
        epilog=_EPILOG + exit_codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument(
        "--version", action="version", version=f"agent-memory {version('agent-memory')}"
    )
    add_common_options(top, profile=None, json=False, timeout=30.0)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in _MODULES:
        module.add_commands(commands)
    return top


def _run(given: argparse.Namespace) -> None:
    output = Output(json=given.json)
    match given.command:
        case "serve":
            serve(given, os.environ)
        case "completion":
            write_completion(given.shell, build_parser)
        case "login":
            login(given.profile, given.url, given.timeout, output)
        case "logout":
            logout(given.profile, output)
        case "profiles":
            list_profiles(output)
        case _:
            profile = select_profile(given.profile, os.environ)
            with connect(profile, given.timeout) as client:
                _run_command(Session(given, client, output))


def _run_command(session: Session) -> None:
    """Run a command of the service.

    Raises:
        UsageFailure: raised when the client or the system rejects an argument, such as a name with
            a slash or a file's name that is too long.
    """
    try:
        session.arguments.run(session)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageFailure(f"{error.strerror or error}") from error
    except ValueError as error:
        raise UsageFailure(str(error)) from error


def _report_failure(said: str, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        note(f"error: {said}")
        return code
    return _silence(code)


def _silence(code: int) -> int:
    """Prevent the interpreter from flushing into a closed pipe at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(TERMINATED)
