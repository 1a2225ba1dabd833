"""The secrets of all open runs of a memory, which no put stores (RFC 0004 §D, SR-1)."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import orjson

from functions.openwop.model import Edition, MemoryRun
from functions.openwop.redaction import LabelledSecret, Redactor
from functions.openwop.secret_store import EncryptedSecrets, RunSecretStore, StoredSecrets
from functions.platform.json_text import loads
from functions.platform.openwop_keys import build_memory_partition
from functions.platform.values import ValueCodec

_MAX_CACHED_MEMORIES = 128


class KnownSecrets(NamedTuple):
    """The encrypted secrets of a memory's runs, and the sum of their random numbers."""

    sum: int
    secrets: Sequence[StoredSecrets]


_NONE = KnownSecrets(0, ())


class MemorySecrets:
    """Encrypts secrets, and knows those of memories as far as this process has met them.

    What it knows may be old: each put has the sum as a condition, and reads again when that has
    changed. It holds secrets encrypted only.
    """

    def __init__(self, store: RunSecretStore, values: ValueCodec, edition: Edition) -> None:
        self._store = store
        self._values = values
        self.edition = edition
        self._lock = Lock()
        self._known: OrderedDict[str, KnownSecrets] = OrderedDict()

    def encrypt(
        self, secrets: Sequence[LabelledSecret], tenant: str, run: MemoryRun
    ) -> EncryptedSecrets:
        """Make the attributes that keep the secrets of a run in the partition of each memory."""
        text, number = orjson.dumps(secrets), run.secrets_number
        partitions = [build_memory_partition(tenant, memory) for memory in run.memories]
        return {
            each: self._values.encrypt(text, tenant, f"{each}#{run.run_id}", number)
            for each in partitions
        }

    def read_of_run(self, tenant: str, run: MemoryRun) -> list[LabelledSecret]:
        """Read the secrets of an open run: one call, if it has any."""
        if not run.secrets:
            return []
        rows = self._store.list_secrets(build_memory_partition(tenant, run.memories[0]))
        return [
            pair for row in rows if row.run == run.run_id for pair in self._decrypt(tenant, row)
        ]

    def get_known(self, partition: str) -> KnownSecrets:
        """Get what is known of a memory; nothing at first."""
        with self._lock:
            return self._known.get(partition, _NONE)

    def refresh(self, partition: str) -> None:
        """Read the secrets of a memory: one call."""
        rows = self._store.list_secrets(partition)
        known = KnownSecrets(sum(row.number for row in rows), rows)
        with self._lock:
            self._known[partition] = known
            self._known.move_to_end(partition)
            if len(self._known) > _MAX_CACHED_MEMORIES:
                self._known.popitem(last=False)

    def build_redactor(
        self, tenant: str, known: KnownSecrets, now: int, marker: Edition | None = None
    ) -> Redactor:
        """Build the redactor of the secrets of the runs that are open, with an edition's marker."""
        open_rows = [row for row in known.secrets if row.deadline > now]
        pairs = {pair for row in open_rows for pair in self._decrypt(tenant, row)}
        return Redactor(pairs, marker or self.edition)

    def _decrypt(self, tenant: str, row: StoredSecrets) -> list[LabelledSecret]:
        name = f"{row.encrypted['pk']}#{row.run}"
        decrypted = loads(self._values.decode(row.encrypted, tenant, name, row.number))
        return [(label, value) for label, value in decrypted]
