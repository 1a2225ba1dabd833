"""The secrets of open runs: sealed in storage and in memory alike, gone with the run."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import orjson

from functions.openwop.model import OnSecret
from functions.openwop.redaction import Edition, Harness
from functions.platform.encryption import Cipher
from functions.platform.items import Item
from functions.platform.values import Values

_REMEMBERED = 1_000
_VERSION = 1  # a run's secrets never change


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a put needs to know of its run; without secrets there is no item."""

    on_secret: OnSecret
    secrets: Item | None


class Registry:
    """Seals and opens the secrets of runs, and remembers the sealed ones.

    That a run is still open is a condition of each put, so what is remembered may outlive it.
    """

    def __init__(self, cipher: Cipher, edition: Edition) -> None:
        self._values = Values(cipher)
        self._edition = edition
        self._lock = Lock()
        self._known: OrderedDict[str, Sealed] = OrderedDict()

    @property
    def edition(self) -> Edition:
        """How markers look."""
        return self._edition

    def seal(self, harness: Harness, tenant: str, run: str) -> Item | None:
        """The attributes that keep a run's secrets, bound to the run."""
        if not harness.secrets:
            return None
        return self._values.sealed(orjson.dumps(harness.secrets), tenant, run, _VERSION)

    def open(self, sealed: Sealed, tenant: str, run: str) -> Harness:
        """The harness of a run's sealed secrets."""
        if sealed.secrets is None:
            return Harness((), self._edition)
        secrets = orjson.loads(self._values.opened(sealed.secrets, tenant, run))
        return Harness([(label, value) for label, value in secrets], self._edition)

    def known(self, run: str) -> Sealed | None:
        """What is remembered of a run."""
        with self._lock:
            return self._known.get(run)

    def remember(self, run: str, sealed: Sealed) -> None:
        """Keeps what a run's next put needs."""
        with self._lock:
            self._known[run] = sealed
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def forget(self, run: str) -> None:
        """Drops what is remembered of a run that has ended."""
        with self._lock:
            self._known.pop(run, None)
