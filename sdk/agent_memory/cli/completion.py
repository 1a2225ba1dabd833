"""The command `completion`: a shell's completion of all commands, by `shtab`."""

import argparse
import sys
from collections.abc import Callable
from typing import Any

from agent_memory.cli.arguments import add_command
from agent_memory.cli.failures import Failure

_SHELLS = ("bash", "zsh", "tcsh")
_INSTALL = "pip install 'agent-memory[completion]'"


def add_commands(commands: Any) -> None:
    """Add the command `completion`; the program runs it, since it needs no client."""
    command = add_command(commands, "completion", "write a shell's completion script", None)
    command.add_argument("shell", choices=_SHELLS)


def write_completion(shell: str, build_parser: Callable[[], argparse.ArgumentParser]) -> None:
    """`completion`: writes the script to stdout.

    Raises:
        Failure: `shtab` isn't installed.
    """
    try:
        import shtab  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Failure(f"completion needs shtab; install it: {_INSTALL}") from error
    sys.stdout.write(f"{shtab.complete(build_parser(), shell)}\n")
