"""What an import of an adapter says when its framework isn't installed."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Name the extra that installs what an import inside misses.

    Raises:
        ModuleNotFoundError: raised when a module is missing, with the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        message = f"{missing.msg}: pip install 'agent-memory[{extra}]'"
        raise ModuleNotFoundError(message, name=missing.name) from missing
