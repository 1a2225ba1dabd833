"""Options that take JSON, as text, from a file or from stdin."""

import sys
from pathlib import Path
from typing import Any

from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.jsontext import BOM, parse_json


def read_vector(given: str | None) -> list[float] | None:
    """Return the numbers of `--vector`; None if it isn't given.

    Raises:
        UsageFailure: it is no array of numbers.
    """
    numbers = None if given is None else read_json("--vector", given)
    if numbers is None or (
        isinstance(numbers, list) and all(isinstance(each, int | float) for each in numbers)
    ):
        return numbers
    raise UsageFailure("--vector must be a JSON array of numbers")


def read_json(name: str, given: str) -> Any:
    """Return the value of an option: JSON, `@FILE`, or `-` for stdin.

    Raises:
        UsageFailure: it is no JSON, or the file can't be read.
    """
    try:
        text = _read_text(given)
        return parse_json(text.removeprefix(BOM) if isinstance(text, bytes) else text)
    except ValueError as error:
        raise UsageFailure(f"{name}: {error}") from error


def _read_text(given: str) -> str | bytes:
    if given == "-":
        return sys.stdin.buffer.read()
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_bytes()
    except OSError as error:
        raise UsageFailure(f"can't read {given[1:]}: {error.strerror}") from error
