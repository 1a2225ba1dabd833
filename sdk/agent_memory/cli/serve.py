"""The command `serve`: the whole service on this machine, from the package of the service."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, NoReturn

from agent_memory.cli.arguments import add_command, parse_number, parse_text
from agent_memory.cli.failures import Failure

_SERVICE = "agent_memory_service"
_INSTALL = """pip install "$(echo dist/agent_memory_runtime-*.whl)[local]\""""
_OPTIONS = {"port": "AGENT_MEMORY_PORT", "host": "AGENT_MEMORY_HOST", "data": "AGENT_MEMORY_DATA"}
Execute = Callable[[str, list[str], Mapping[str, str]], NoReturn]


def add_commands(commands: Any) -> None:
    """Add the command `serve`; the program runs it, since it needs no client."""
    command = add_command(commands, "serve", "run the service on this machine", None)
    command.add_argument("--port", type=parse_number, help="the port; 8080 by default")
    command.add_argument(
        "--host", type=parse_text, help="the address to listen on; 127.0.0.1 by default"
    )
    command.add_argument(
        "--data",
        metavar="FOLDER",
        type=parse_text,
        help="the folder of the data; .agent-memory by default",
    )


def serve(
    given: argparse.Namespace, environment: Mapping[str, str], execute: Execute = os.execve
) -> NoReturn:
    """`serve`: replaces this process by the service.

    Raises:
        Failure: the service isn't installed.
    """
    if find_spec(_SERVICE) is None:
        raise Failure(
            f"the service isn't installed; `make wheels` in its repository builds it: {_INSTALL}"
        )
    named = {name: getattr(given, option) for option, name in _OPTIONS.items()}
    chosen = {name: str(each) for name, each in named.items() if each is not None}
    # -P: packages of the current folder don't hide installed ones
    command = [sys.executable, "-P", "-m", f"{_SERVICE}.local"]
    execute(sys.executable, command, {**environment, **chosen})
