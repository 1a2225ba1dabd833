"""References to memories, and ids of runs: made here, and known again without any look-up.

A reference carries a message authentication code over tenant and memory. Its key follows from the
root key; memories don't depend on it, so a new root key outdates references, not memories.
"""

import hmac

from functions.platform.errors import AccessDenied, NotFound
from functions.platform.snapshot_keys import (
    memory_of_reference,
    memory_of_run,
    memory_partition,
    reference,
    run_id,
)

_PURPOSE = b"agent-memory: references to OpenWOP memories"
_SEED_BYTES = 16


class Handles:
    """Makes and checks references and run ids."""

    def __init__(self, root_key: str) -> None:
        self._key = hmac.digest(root_key.encode(), _PURPOSE, "sha256")

    def reference(self, tenant: str, memory: str) -> str:
        """The reference of a tenant's memory, always the same."""
        return reference(self._seed("memory", tenant, memory), memory)

    def partition(self, tenant: str, text: str) -> str:
        """The partition of the memory that a reference stands for in this tenant.

        Raises:
            AccessDenied: it wasn't issued here for this tenant.
        """
        memory = memory_of_reference(text)
        if memory is None or not hmac.compare_digest(text, self.reference(tenant, memory)):
            raise AccessDenied("this memoryRef is not one that was issued to your tenant")
        return memory_partition(tenant, memory)

    def run(self, tenant: str, memory: str, request: bytes) -> str:
        """The id of the run that a request starts; the same for a retry."""
        return run_id(self._seed("run", tenant, memory, request.hex()), memory)

    def digest(self, body: bytes) -> bytes:
        """A body as it may be compared later, from which nobody can guess at it."""
        return hmac.digest(self._key, b"body\n" + body, "sha256")

    def _seed(self, *parts: str) -> bytes:
        return hmac.digest(self._key, "\n".join(parts).encode(), "sha256")[:_SEED_BYTES]


def partition_of_run(tenant: str, text: str) -> str:
    """The partition of the memory that a run is on.

    Raises:
        NotFound: this is no run's id.
    """
    memory = memory_of_run(text)
    if memory is None:
        raise no_such_run()
    return memory_partition(tenant, memory)


def no_such_run() -> NotFound:
    """What is said of a run that isn't one of this memory, in this tenant."""
    return NotFound("no run on this memory has this id")
