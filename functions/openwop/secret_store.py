"""The encrypted secrets of open runs, in the partition of each memory that the run is on.

Each run's secrets have a random number, and the memory's head has their sum. A put has the sum of
the secrets that it redacted as a condition, so it never misses a secret, even if a read sees a part
of another request's transaction (OpenWOP RFC 0004 §D).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import orjson

from functions.openwop.model import Edition, MemoryRun
from functions.openwop.redaction import LabelledSecret, Redactor
from functions.openwop.rules import CLOCK_SKEW
from functions.openwop.sequence_store import REMOVE_LISTING
from functions.platform.clock import to_ttl_seconds
from functions.platform.errors import CapacityExceeded
from functions.platform.item_types import MEMORY, RUN_SECRETS
from functions.platform.items import Item
from functions.platform.json_text import loads
from functions.platform.keys import build_due_attributes
from functions.platform.limits import MAX_MEMORY_SECRETS, MAX_MEMORY_SECRETS_BYTES
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store, Table
from functions.platform.values import ValueCodec
from functions.platform.writes import Write, delete, put, update

_IS_ROOM = (
    "(attribute_not_exists(secret_bytes) OR "
    "(secret_bytes <= :most_bytes AND secret_count <= :most_count))"
)


@dataclass(frozen=True, slots=True)
class SecretsChange:
    """The change of the sum, the count and the bytes of a memory's secrets.

    `forgets_name`: the memory's name holds one of them, so it is removed from its owner's list.
    """

    number: int
    count: int
    size: int
    forgets_name: bool = False

    @classmethod
    def between(cls, before: MemoryRun | None, after: MemoryRun | None) -> Self:
        """Compute the change when the secrets of `before` become those of `after`."""
        number, count, size = (
            b - a for a, b in zip(_measure(before), _measure(after), strict=True)
        )
        had_name = before is not None and before.agent is not None
        return cls(number, count, size, had_name and after is not None and after.agent is None)


def _measure(run: MemoryRun | None) -> tuple[int, int, int]:
    return (0, 0, 0) if run is None else (run.secrets_number, len(run.secrets), run.secret_bytes)


def remove_secrets(partition: str, run: MemoryRun) -> list[Write]:
    """Remove the secrets of a run that has secrets from a memory."""
    row = delete(RUN_SECRETS.build_key_in(partition, run=run.run_id), "attribute_exists(pk)")
    return [row, count_secrets(partition, SecretsChange.between(run, None))]


def count_secrets(
    partition: str, change: SecretsChange, condition: str | None = None, **values: int
) -> Write:
    """Change the sum and the number of the secrets of a memory's open runs.

    Args:
        condition: another condition on the memory's head, with its `values`.
    """
    conditions = [condition] if condition else []
    if change.count > 0:
        conditions.append(_IS_ROOM)
        values |= {
            "most_bytes": MAX_MEMORY_SECRETS_BYTES - change.size,
            "most_count": MAX_MEMORY_SECRETS - change.count,
        }
    return update(
        MEMORY.build_key_in(partition),
        "ADD secrets_sum :number, secret_count :count, secret_bytes :size"
        + (f" {REMOVE_LISTING}" if change.forgets_name else ""),
        " AND ".join(conditions) or None,
        number=change.number,
        count=change.count,
        size=change.size,
        **values,
    )


def assert_room(partitions: Sequence[str], change: SecretsChange, refused: ConditionFailed) -> None:
    """Raise `CapacityExceeded` if a transaction failed because a memory has too many secrets."""
    for partition in partitions:
        head = refused.failed.get(MEMORY.build_key_in(partition)) or {}
        present = head.get("secret_count", 0), head.get("secret_bytes", 0)
        for limit, used, more, most in (
            ("open_run_secrets", present[0], change.count, MAX_MEMORY_SECRETS),
            ("open_run_secret_bytes", present[1], change.size, MAX_MEMORY_SECRETS_BYTES),
        ):
            if more > 0 and used + more > most:
                raise CapacityExceeded(limit, used, most, "end runs of this memory first")


_MAX_CACHED_MEMORIES = 128


def sum_secrets(rows: Iterable[Item]) -> int:
    """Sum the random numbers of the secrets of runs."""
    return sum(row["secrets_number"] for row in rows)


class MemorySecrets(Store):
    """Encrypts secrets, and caches the secrets of memories that this process has used.

    The cache may be old: each put has the sum as a condition, and reads again if the sum has
    changed. The cache holds only encrypted secrets.
    """

    def __init__(self, table: Table, values: ValueCodec, edition: Edition) -> None:
        super().__init__(table)
        self._values = values
        self.edition = edition
        self._known: dict[str, Sequence[Item]] = {}

    def remove(self, item: Item) -> bool:
        """Remove the secrets of a run that is past its deadline, by their item."""
        key = item["pk"], item["sk"]
        removed = SecretsChange(
            -item["secrets_number"], -item["secret_count"], -item["secret_bytes"]
        )
        writes = [delete(key, "attribute_exists(pk)"), count_secrets(key[0], removed)]
        return self._table.try_write(*writes)

    def build_puts(
        self, secrets: Sequence[LabelledSecret], tenant: str, run: MemoryRun
    ) -> list[Write]:
        """Build the writes that store a run's secrets, encrypted, on each of its memories.

        They are removed after the run's deadline.
        """
        text, due = orjson.dumps(secrets), run.deadline + CLOCK_SKEW
        item = {
            "deadline": run.deadline,
            "secrets_number": run.secrets_number,
            "secret_count": len(run.secrets),
            "secret_bytes": run.secret_bytes,
            TTL_ATTRIBUTE: to_ttl_seconds(due),
        }
        writes = []
        for memory in run.memories:
            partition = MEMORY.build_partition(tenant, memory=memory)
            name = f"{partition}#{run.run_id}"
            encrypted = self._values.encrypt(text, tenant, name, run.secrets_number)
            key = RUN_SECRETS.build_key_in(partition, run=run.run_id)
            writes.append(put(key, item | encrypted | build_due_attributes(partition, due)))
        return writes

    def read_of_run(self, tenant: str, run: MemoryRun) -> list[LabelledSecret]:
        """Read the secrets of an open run: one call, if it has any."""
        if not run.secrets:
            return []
        partition = MEMORY.build_partition(tenant, memory=run.memories[0])
        row = self._table.get(RUN_SECRETS.build_key_in(partition, run=run.run_id))
        return [] if row is None else self._decrypt(tenant, row)

    def get_known(self, partition: str) -> Sequence[Item]:
        """Get the cached items of a memory's secrets."""
        return self._known.get(partition, ())

    def refresh(self, partition: str) -> None:
        """Read the secrets of all runs on a memory, strongly consistent: a call per megabyte."""
        rows = list(self._table.query(partition, RUN_SECRETS.sort_prefix))
        if len(self._known) >= _MAX_CACHED_MEMORIES:
            self._known = {}
        self._known[partition] = rows

    def build_redactor(
        self, tenant: str, rows: Iterable[Item], now: int, marker: Edition | None = None
    ) -> Redactor:
        """Build the redactor of the secrets of open runs, with an edition's marker."""
        open_rows = [row for row in rows if row["deadline"] > now]
        pairs = {pair for row in open_rows for pair in self._decrypt(tenant, row)}
        return Redactor(pairs, marker or self.edition)

    def _decrypt(self, tenant: str, row: Item) -> list[LabelledSecret]:
        name = f"{row['pk']}#{RUN_SECRETS.parse(row['sk'])}"
        decrypted = loads(self._values.decode(row, tenant, name, row["secrets_number"]))
        return [(label, value) for label, value in decrypted]
