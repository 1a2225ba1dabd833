"""Logs on stderr: warnings and errors, without content of memories."""

import logging
import sys
import traceback
from types import TracebackType

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _Places(logging.Formatter):
    """Formats the type and place of an exception; its message may quote memory."""

    def formatException(self, ei: _Raised) -> str:  # noqa: N802 - the name that logging calls
        if ei[0] is None:
            return ""
        return "".join([*traceback.format_tb(ei[2]), ei[0].__name__])


def to_stderr() -> None:
    """Send all logs to stderr; stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Places("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
