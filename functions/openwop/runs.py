"""Runs: how they start and end, and how their puts are redacted (contract §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.openwop.model import MemoryRun, StartedRun
from functions.openwop.redaction import Redactor, build_redactor
from functions.openwop.references import MemoryReferences, assert_run_on, parse_run_partition
from functions.openwop.rules import CLOCK_SKEW, run_closed, run_not_found
from functions.openwop.run_secrets import RunSecrets, SecretPolicy
from functions.openwop.run_store import MemoryRunStore, RunConflict
from functions.openwop.sequence_store import SequenceNumbers
from functions.platform.clock import Clock
from functions.platform.errors import ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.limits import MAX_SECRETS_BYTES, OPENWOP_RUN_LIFETIME
from functions.platform.openwop_keys import (
    build_memory_partition,
    get_timestamp_of_sequence,
    hash_memory,
)
from functions.platform.retry import Backoff

if TYPE_CHECKING:
    from functions.openwop.requests import NewMemoryRun


class MemoryRuns:
    """Use cases of runs on memories."""

    def __init__(
        self,
        store: MemoryRunStore,
        numbers: SequenceNumbers,
        secrets: RunSecrets,
        references: MemoryReferences,
        clock: Clock,
    ) -> None:
        self._store = store
        self._numbers = numbers
        self._secrets = secrets
        self._references = references
        self._clock = clock

    def start(self, caller: Principal, new: NewMemoryRun, token: RequestToken | None) -> StartedRun:
        """Open a run on the memory of the caller, its agent and scope.

        A retry with the same Idempotency-Key gets the same run, while that is open.

        Raises:
            ValidationFailed: the secrets are too long, or a marker would contain one.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunEnded: the run that the Idempotency-Key started is closed.
        """
        redactor = build_redactor(new.secrets, self._secrets.edition)
        if sum(len(value.encode()) for _, value in redactor.secrets) > MAX_SECRETS_BYTES:
            raise ValidationFailed("secrets", f"hold {MAX_SECRETS_BYTES:,} bytes at most")
        request = token or RequestToken.create()
        memory = hash_memory(caller.id, new.agent, new.scope or "")
        run_id = self._references.make_run_id(caller.tenant, memory, request.key)
        encrypted = self._secrets.encrypt(redactor, caller.tenant, run_id)
        policy = SecretPolicy(new.on_secret, encrypted)
        run = self._open(build_memory_partition(caller.tenant, memory), run_id, policy, request)
        self._secrets.cache(run_id, policy)
        reference = self._references.make_reference(caller.tenant, memory)
        return StartedRun(run_id, reference, get_timestamp_of_sequence(run.snapshot))

    def _open(
        self, partition: str, run_id: str, policy: SecretPolicy, request: RequestToken
    ) -> MemoryRun:
        deadline = self._clock() + OPENWOP_RUN_LIFETIME
        backoff = Backoff("others are deleting from this memory")
        while True:
            head = self._numbers.take_snapshot(partition, deadline + CLOCK_SKEW)
            run = MemoryRun(run_id, head["seq"], deadline, policy.on_secret)
            try:
                self._store.open(partition, run, head, policy.encrypted, request)
            except RunConflict as conflict:
                if conflict.run is not None:
                    return self.assert_open(conflict.run)
            else:
                return run
            backoff.wait()

    def end(self, caller: Principal, run_id: str) -> None:
        """End a run: delete its secrets, and release what it pinned. Again changes nothing.

        Raises:
            NotFound: the caller's tenant has no such run.
        """
        partition = parse_run_partition(caller.tenant, run_id)
        run = self._store.get(partition, run_id)
        if run is None:
            raise run_not_found()
        self._secrets.invalidate(run_id)
        if not run.ended:
            self._store.end(partition, run, self._clock())

    def get_snapshot(self, tenant: str, partition: str, run_id: str) -> int:
        """Get the sequence number of an open run's snapshot: one read.

        Raises:
            NotFound: the memory has no such run.
            RunEnded: the run is closed.
        """
        assert_run_on(tenant, partition, run_id)
        return self.assert_open(self._store.get(partition, run_id)).snapshot

    def assert_open(self, run: MemoryRun | None) -> MemoryRun:
        """Return a run if it is open.

        Raises:
            NotFound: there is none.
            RunEnded: the run is closed.
        """
        if run is None:
            raise run_not_found()
        if run.is_closed(self._clock()):
            raise run_closed()
        return run

    def get_redactor(
        self, tenant: str, partition: str, run_id: str
    ) -> tuple[SecretPolicy, Redactor]:
        """Get how puts of a run are redacted: one call where this process has not cached it.

        Raises:
            NotFound: the memory has no such run.
            RunEnded: the run is closed.
        """
        assert_run_on(tenant, partition, run_id)
        policy = self._secrets.get_cached(run_id)
        if policy is None:
            run, encrypted = self._store.get_with_secrets(partition, run_id)
            policy = SecretPolicy(self.assert_open(run).on_secret, encrypted)
            self._secrets.cache(run_id, policy)
        return policy, self._secrets.decrypt(policy, tenant, run_id)
