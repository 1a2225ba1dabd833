"""References to memories and ids of runs.

A reference carries a message authentication code over tenant and memory, which is verified without
any look-up. Its key is derived from the deployment's secret, so it outlives the root key.
"""

import hmac
from collections.abc import Callable

from functions.platform.errors import AccessDenied
from functions.platform.openwop_keys import build_memory_run_id, build_reference, parse_reference

_PURPOSE = b"agent-memory: references to OpenWOP memories"
_SEED_BYTES = 16


class MemoryReferences:
    """Makes and verifies references, and makes run ids.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def make_reference(self, tenant: str, memory: str) -> str:
        """Make the reference of a tenant's memory, always the same."""
        return build_reference(self._seed("memory", tenant, memory), memory)

    def resolve(self, tenant: str, text: str) -> str:
        """Find the memory that a reference names, by its hash."""
        memory = parse_reference(text)
        if memory is None or not hmac.compare_digest(text, self.make_reference(tenant, memory)):
            raise AccessDenied("this memoryRef was not issued to your tenant")
        return memory

    def make_run_id(self, tenant: str, request: bytes) -> str:
        """Make the id of the run that a request starts; the same for a retry."""
        return build_memory_run_id(self._seed("run", tenant, request.hex()))

    def _seed(self, *parts: str) -> bytes:
        message = "\n".join(parts).encode()
        return hmac.digest(self._derive_key(_PURPOSE), message, "sha256")[:_SEED_BYTES]
