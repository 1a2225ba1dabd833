"""References to memories and ids of runs, which are verified without any look-up.

A reference carries a message authentication code over tenant and memory. Its key is derived from
the root key; memories do not depend on it, so a new root key outdates references, not memories.
"""

import hmac

from functions.openwop.rules import run_not_found
from functions.platform.errors import AccessDenied
from functions.platform.openwop_keys import (
    build_memory_partition,
    build_memory_run_id,
    build_reference,
    parse_memory_run_id,
    parse_reference,
)

_PURPOSE = b"agent-memory: references to OpenWOP memories"
_SEED_BYTES = 16


class MemoryReferences:
    """Makes and verifies references, and makes run ids."""

    def __init__(self, root_key: str) -> None:
        self._key = hmac.digest(root_key.encode(), _PURPOSE, "sha256")

    def make_reference(self, tenant: str, memory: str) -> str:
        """Make the reference of a tenant's memory, always the same."""
        return build_reference(self._seed("memory", tenant, memory), memory)

    def resolve(self, tenant: str, text: str) -> str:
        """Find the partition of the memory that a reference names.

        Raises:
            AccessDenied: the reference was not issued by this service for this tenant.
        """
        memory = parse_reference(text)
        if memory is None or not hmac.compare_digest(text, self.make_reference(tenant, memory)):
            raise AccessDenied("this memoryRef is not one that was issued to your tenant")
        return build_memory_partition(tenant, memory)

    def make_run_id(self, tenant: str, memory: str, request: bytes) -> str:
        """Make the id of the run that a request starts; the same for a retry."""
        return build_memory_run_id(self._seed("run", tenant, memory, request.hex()), memory)

    def _seed(self, *parts: str) -> bytes:
        return hmac.digest(self._key, "\n".join(parts).encode(), "sha256")[:_SEED_BYTES]


def parse_run_partition(tenant: str, text: str) -> str:
    """Find the partition of the memory that a run id names.

    Raises:
        NotFound: the text is no run id.
    """
    memory = parse_memory_run_id(text)
    if memory is None:
        raise run_not_found()
    return build_memory_partition(tenant, memory)


def assert_run_on(tenant: str, partition: str, run: str) -> None:
    """Check that a run id names the memory in this partition.

    Raises:
        NotFound: it names another one, or is no run id.
    """
    if parse_run_partition(tenant, run) != partition:
        raise run_not_found()
