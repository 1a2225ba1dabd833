"""The program `agent-memory`: from the command line to the exit code."""

import contextlib
import os
import signal
import sys
from argparse import Namespace
from types import FrameType
from typing import NoReturn

from agent_memory.cli.arguments import parser
from agent_memory.cli.connection import chosen_profile, connect
from agent_memory.cli.failures import (
    INTERRUPTED,
    PIPE_CLOSED,
    TERMINATED,
    Failure,
    exit_code,
    message,
)
from agent_memory.cli.login import list_profiles, login, logout
from agent_memory.cli.output import Output, note
from agent_memory.cli.session import Session
from agent_memory.exceptions import AgentMemoryError


def main(arguments: list[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: what was typed after the program's name; the process's own unless given.

    Returns:
        The exit code, as `agent_memory.cli.failures` lists them.
    """
    signal.signal(signal.SIGTERM, _terminate)
    try:
        _run(parser().parse_args(arguments))
        sys.stdout.flush()
    except Failure as failure:
        return _failed(str(failure), failure.exit_code)
    except AgentMemoryError as error:
        return _failed(message(error), exit_code(error))
    except KeyboardInterrupt:
        return _silenced(INTERRUPTED)
    except BrokenPipeError:
        return _silenced(PIPE_CLOSED)
    return 0


def _run(given: Namespace) -> None:
    output = Output(json=given.json)
    match given.command:
        case "login":
            login(given.profile, given.url, given.timeout, output)
        case "logout":
            logout(given.profile, output)
        case "profiles":
            list_profiles(output)
        case _:
            profile = chosen_profile(given.profile, os.environ)
            with connect(profile, given.timeout) as client:
                given.run(Session(given, client, output))


def _failed(said: str, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        note(f"error: {said}")
        return code
    return _silenced(code)


def _silenced(code: int) -> int:
    """Leaves nothing for the interpreter to flush into a closed pipe at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(TERMINATED)
