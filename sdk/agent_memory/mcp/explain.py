"""Explain failures so that a model can act on them, with names and versions, never values."""

from collections.abc import Iterable

from pydantic import ValidationError as ArgumentError

from agent_memory.exceptions import (
    AgentMemoryError,
    AuthenticationError,
    ConnectionFailedError,
    MemoryCapacityError,
    MemoryConflictError,
)

_PREFIX = "Value error, "  # of pydantic, before a validator's message
_DOUBT = "; an earlier attempt of this call may have succeeded, so check before you try again"


def invalid(error: ArgumentError, known: Iterable[str]) -> str:
    """Return the wrong argument and its problem; `known` are the names of a tool."""
    unknown = f"there is no such argument; there are {', '.join(known)}"
    reasons = [
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: "
        + (unknown if each["type"] == "extra_forbidden" else each["msg"].removeprefix(_PREFIX))
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "nothing was done; " + "; ".join(reasons)


def failed(error: AgentMemoryError) -> str:
    """Return the reason of a failed call, and the remedy."""
    doubt = _DOUBT if error.may_have_happened else ""
    return f"{_reason(error)}{doubt}"


def _reason(error: AgentMemoryError) -> str:
    if isinstance(error, MemoryConflictError):
        return _conflict(error)
    if isinstance(error, MemoryCapacityError):
        return f"{error}; `forget` what isn't needed any more"
    if isinstance(error, AuthenticationError):
        return (
            "the memory service doesn't accept this API key; set a valid one for this MCP client: "
            "AGENT_MEMORY_API_KEY, or over HTTP `Authorization: Bearer KEY`"
        )
    if isinstance(error, ConnectionFailedError):
        return f"the memory service can't be reached: {error}"
    return str(error)


def _conflict(error: MemoryConflictError) -> str:
    if error.code == "ENTRY_EXISTS":
        return (
            f"a memory with this namespace and key exists, at version "
            f"{error.current_version}; read it and change that version, or use another key"
        )
    if error.code == "VERSION_MISMATCH":
        return (
            f"this memory has changed: its version is {error.current_version} now, and nothing was "
            "done; read it again, and repeat with that version if it is still right"
        )
    return str(error)
