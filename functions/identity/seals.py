"""Seals of principals: codes by which the service knows what it wrote itself.

Whoever writes to the table past the service can't make one. So an item of its making is no
principal, and one that it changed is none any more (contract §1).
"""

import hmac
from collections.abc import Callable
from functools import cached_property

from functions.identity.model import Principal
from functions.platform.json_text import dumps
from functions.platform.keys import Key

_PURPOSE = b"agent-memory: principals"


class PrincipalSeals:
    """Makes and verifies seals.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    @cached_property
    def _key(self) -> bytes:
        return self._derive_key(_PURPOSE)

    def prepare(self) -> None:
        """Read the key now, so that no request has to.

        Raises:
            Unavailable: the deployment's secret can't be read.
            NewerDataError: a later release has written the data.
        """
        _ = self._key

    def make(self, key: Key, principal: Principal, key_partition: str) -> bytes:
        """Make the seal of an item: it binds a principal to the item's key.

        Args:
            key: of the item.
            principal: what it holds.
            key_partition: the partition of the principal's present API key.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        statement = [
            *key,
            key_partition,
            principal.tenant,
            principal.id,
            principal.kind,
            sorted(principal.permissions),
            principal.agent_type,
            principal.expires,
            principal.created,
        ]
        return hmac.digest(self._key, dumps(statement), "sha256")

    def is_genuine(
        self, seal: bytes | None, key: Key, principal: Principal, key_partition: str
    ) -> bool:
        """Whether the service made this seal, for these."""
        made = self.make(key, principal, key_partition)
        return seal is not None and hmac.compare_digest(made, seal)
