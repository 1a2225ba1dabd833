"""Prefix rules: permissions of all namespaces whose names begin alike.

A tenant has few of them, and every access to semantic memory needs them. So a function remembers
them for some seconds, and reads them again after its own changes.
"""

from collections.abc import Callable
from typing import NamedTuple

from functions.namespaces.model import Namespace
from functions.namespaces.rules import select_rules
from functions.platform.clock import Clock

LIFETIME = 5_000  # ms
_MAX_TENANTS = 1_000


class _Remembered(NamedTuple):
    rules: tuple[Namespace, ...]
    until: int  # epoch ms


class PrefixRules:
    """The prefix rules of tenants, as they were within the last five seconds.

    Args:
        read: reads a tenant's rules: one call.
    """

    def __init__(self, read: Callable[[str], list[Namespace]], clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._remembered: dict[str, _Remembered] = {}

    def find(self, tenant: str, name: str) -> tuple[Namespace, ...]:
        """Return the rules of a tenant that fit a name, the longest first."""
        now, remembered = self._clock(), self._remembered
        found = remembered.get(tenant)
        if found is None or now >= found.until:
            if len(remembered) >= _MAX_TENANTS:
                remembered.clear()
            found = _Remembered(tuple(self._read(tenant)), now + LIFETIME)
            remembered[tenant] = found
        return select_rules(found.rules, name) if found.rules else ()

    def forget(self) -> None:
        """Forget all rules, since one was changed."""
        self._remembered = {}  # a read under way writes into the former one
