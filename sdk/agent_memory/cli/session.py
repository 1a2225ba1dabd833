"""The context of a command."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from agent_memory import Client
from agent_memory.cli.output import Output


@dataclass(frozen=True)
class Session:
    """The user's arguments, a client of the chosen server, and the output."""

    arguments: argparse.Namespace
    client: Client
    output: Output


Command = Callable[[Session], None]
