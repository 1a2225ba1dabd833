"""The secrets of open runs, encrypted in storage and in memory alike."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import orjson

from functions.openwop.model import OnSecret
from functions.openwop.redaction import Edition, Redactor
from functions.platform.encryption import Cipher
from functions.platform.items import Item
from functions.platform.values import ValueCodec

_MAX_CACHED_RUNS = 1_000
_VERSION = 1  # a run's secrets never change


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """What a put needs to know of its run; `encrypted` is None for a run without secrets."""

    on_secret: OnSecret
    encrypted: Item | None


class RunSecrets:
    """Encrypts and decrypts the secrets of runs, and caches the encrypted ones.

    Each put has the open run as a condition, so what is cached may be older than the run's end.
    """

    def __init__(self, cipher: Cipher, edition: Edition) -> None:
        self._values = ValueCodec(cipher)
        self.edition = edition
        self._lock = Lock()
        self._cache: OrderedDict[str, SecretPolicy] = OrderedDict()

    def encrypt(self, redactor: Redactor, tenant: str, run: str) -> Item | None:
        """Make the attributes that keep a run's secrets, bound to the run."""
        if not redactor.secrets:
            return None
        return self._values.encrypt(orjson.dumps(redactor.secrets), tenant, run, _VERSION)

    def decrypt(self, policy: SecretPolicy, tenant: str, run: str) -> Redactor:
        """Make the redactor of a run's encrypted secrets."""
        if policy.encrypted is None:
            return Redactor((), self.edition)
        secrets = orjson.loads(self._values.decode(policy.encrypted, tenant, run))
        return Redactor([(label, value) for label, value in secrets], self.edition)

    def get_cached(self, run: str) -> SecretPolicy | None:
        """Get what is cached of a run."""
        with self._lock:
            return self._cache.get(run)

    def cache(self, run: str, policy: SecretPolicy) -> None:
        """Keep what the next put of a run needs."""
        with self._lock:
            self._cache[run] = policy
            if len(self._cache) > _MAX_CACHED_RUNS:
                self._cache.popitem(last=False)

    def invalidate(self, run: str) -> None:
        """Drop what is cached of a run."""
        with self._lock:
            self._cache.pop(run, None)
