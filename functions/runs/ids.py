"""Ids of runs: made here, and known again without any look-up (decision 30).

An id carries a message authentication code over tenant and address, under a key that follows from
the root key.
"""

import hmac

from functions.platform.run_keys import RunAddress, encode_mac

_PURPOSE = b"agent-memory: ids of runs"
_MAC_BYTES = 16


class RunIds:
    """Makes and checks ids of runs."""

    def __init__(self, root_key: str) -> None:
        self._key = hmac.digest(root_key.encode(), _PURPOSE, "sha256")

    def id(self, address: RunAddress) -> str:
        """The id of the run at an address."""
        named = f"{address.tenant}\n{address.unsigned_id}".encode()
        return address.unsigned_id + encode_mac(
            hmac.digest(self._key, named, "sha256")[:_MAC_BYTES]
        )

    def issued(self, address: RunAddress, text: str) -> bool:
        """Whether this id was given to a run here, under the present root key."""
        return hmac.compare_digest(text, self.id(address))
