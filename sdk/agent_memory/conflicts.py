"""What a refusal tells of an earlier attempt of the same call, whose answer was lost."""

from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError


def may_be_ours(refusal: MemoryConflictError | MemoryNotFoundError, version: int | None) -> bool:
    """Whether a lost attempt may have been carried out before others wrote or deleted.

    Had it been carried out and nothing since, its retry would have been answered as the first time.
    So if just one version came after the one that it was to replace, that is somebody else's, and
    the attempt was never carried out; if several came, it may be among them.

    Args:
        version: what the call was to replace; None if it was to create.
    """
    if not refusal.may_have_happened or isinstance(refusal, MemoryNotFoundError):
        return refusal.may_have_happened
    return refusal.current_version != (version or 0) + 1
