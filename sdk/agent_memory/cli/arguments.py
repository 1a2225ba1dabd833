"""Parse the command line: the common part; each command adds its own arguments."""

import argparse
import re
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, NoReturn, get_args

from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.session import Command
from agent_memory.model import MemoryType

_INVALID_CHOICE = re.compile(
    r"argument COMMAND: invalid choice: '(?P<name>.*?)' \(choose from (?P<known>.*)\)"
)
_OTHER_NAMES = {"add": "remember", "put": "set", "delete": "rm", "list": "query", "ls": "query"}
TIERS = get_args(MemoryType)


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageFailure`, with control characters of arguments escaped."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        if (found := _INVALID_CHOICE.fullmatch(message)) is not None:
            name, known = found["name"], re.findall(r"[\w-]+", found["known"])
            near = [_OTHER_NAMES.get(name), *get_close_matches(name, known)]
            message = f"there is no command {name}"
            message += next((f"; did you mean {each}?" for each in near if each in known), "")
        elif re.match(r"unrecognized arguments: [^-]", message):
            message += "; put a text of several words in quotes"
        raise UsageFailure(f"{message}; see {self.prog} --help")


def add_common_options(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """Add the options that are allowed before and after a command's name."""
    parser.add_argument("--profile", metavar="NAME", help="the profile to use")
    parser.add_argument("--json", action="store_true", help="print JSON, or JSON Lines for lists")
    parser.add_argument(
        "--timeout",
        type=parse_seconds,
        metavar="SECONDS",
        help="the timeout of a request; 30 by default",
    )
    parser.set_defaults(**defaults)


def add_command(commands: Any, name: str, help_text: str, run: Command | None) -> Parser:
    """Add a command with the common options; `run` is its function."""
    parser: Parser = commands.add_parser(
        name, help=help_text, description=help_text, argument_default=argparse.SUPPRESS
    )
    add_common_options(parser)
    parser.argument_default = None
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def add_group(commands: Any, name: str, help_text: str) -> Any:
    """Add a command with subcommands; return the object to add them to."""
    group = add_command(commands, name, help_text, None)
    return group.add_subparsers(dest=f"{name}_command", required=True, metavar="COMMAND")


def parse_text(given: str) -> str:
    """Parse a text that is not empty."""
    if not given:
        raise argparse.ArgumentTypeError("must not be empty")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("must be UTF-8") from error
    return given


def parse_count(given: str) -> int:
    """Parse a number from 1."""
    number = parse_number(given)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def parse_number(given: str) -> int:
    """Parse a whole number from 0."""
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        raise argparse.ArgumentTypeError("must be a whole number")
    return int(given)


def parse_time(given: str) -> datetime:
    """Parse a time with its zone, such as 2026-03-01T00:00:00Z; a day starts at 00:00 UTC."""
    try:
        time = datetime.fromisoformat(given)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a time, such as 2026-03-01T00:00:00Z") from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def parse_seconds(given: str) -> float:
    """Parse seconds, up to an hour."""
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= 3600.0:
        raise argparse.ArgumentTypeError("must be a number of seconds, at most 3600")
    return seconds


def parse_score(given: str, least: int = -1) -> float:
    """Parse a score, from -1 to 1."""
    try:
        score = float(given)
    except ValueError:
        score = 2.0
    if not least <= score <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a number from {least} to 1")
    return score


def parse_confidence(given: str) -> float:
    """Parse a confidence, from 0 to 1."""
    return parse_score(given, 0)
