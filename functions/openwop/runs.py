"""Runs: their start, their end, and what they hold meanwhile (contract §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.openwop import writes
from functions.openwop.handles import Handles, no_such_run, partition_of_run
from functions.openwop.items import run_of
from functions.openwop.model import Run, StartedRun
from functions.openwop.positions import Positions
from functions.openwop.redaction import Harness, harness_of
from functions.openwop.registry import Registry, Sealed
from functions.openwop.rules import GRACE
from functions.openwop.store import MemoryStore
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, RunEnded, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.limits import MAX_SECRETS_BYTES, OPENWOP_RUN_LIFETIME
from functions.platform.retry import Backoff
from functions.platform.snapshot_keys import (
    memory_name,
    memory_partition,
    moment_of_position,
    run_item,
)
from functions.platform.table import Refused, Table

if TYPE_CHECKING:
    from functions.openwop.requests import NewMemoryRun


class Runs:
    """Use cases on runs."""

    def __init__(
        self,
        table: Table,
        store: MemoryStore,
        positions: Positions,
        registry: Registry,
        handles: Handles,
        clock: Clock,
    ) -> None:
        self._table = table
        self._store = store
        self._positions = positions
        self._registry = registry
        self._handles = handles
        self._clock = clock

    def start(self, caller: Principal, new: NewMemoryRun, token: RequestToken | None) -> StartedRun:
        """Opens a run on the memory of the caller's agent and scope; that of `token` if it is open.

        Raises:
            ValidationFailed: the secrets are too many, or a marker would hold one.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunEnded: the run that the Idempotency-Key started is over.
        """
        harness = harness_of(new.secrets, self._registry.edition)
        if sum(len(value.encode()) for _, value in harness.secrets) > MAX_SECRETS_BYTES:
            raise ValidationFailed("secrets", f"hold {MAX_SECRETS_BYTES:,} bytes at most")
        request = token or RequestToken.fresh()
        memory = memory_name(caller.id, new.agent, new.scope or "")
        run_id = self._handles.run(caller.tenant, memory, request.key)
        sealed = Sealed(new.on_secret, self._registry.seal(harness, caller.tenant, run_id))
        run = self._opened(memory_partition(caller.tenant, memory), run_id, sealed, request)
        self._registry.remember(run_id, sealed)
        reference = self._handles.reference(caller.tenant, memory)
        return StartedRun(run_id, reference, moment_of_position(run.position))

    def _opened(self, partition: str, run_id: str, sealed: Sealed, request: RequestToken) -> Run:
        deadline = self._clock() + OPENWOP_RUN_LIFETIME
        backoff = Backoff("others are deleting from this memory")
        while True:
            head = self._positions.take(partition, deadline + GRACE)
            run = Run(run_id, head["at_pos"], deadline, sealed.on_secret)
            opening = writes.start(partition, run, head, sealed.secrets, request.stored)
            try:
                self._table.transact(opening)
            except Refused as refused:
                there = refused.failed.get(run_item(partition, run_id))
                if there is not None:
                    return self._replayed(run_id, there, request)
            else:
                return run
            backoff.wait()

    def _replayed(self, run_id: str, there: Item, request: RequestToken) -> Run:
        """The run that an earlier try of the same request opened."""
        request.wrote(there["req"])  # raises, if it had another body
        run = run_of(run_id, there)
        if run.is_over(self._clock()):
            raise _over()
        return run

    def end(self, caller: Principal, run_id: str) -> None:
        """Ends a run: drops its secrets, and its hold on what was deleted. Again changes nothing.

        Raises:
            NotFound: no such run in the caller's tenant.
        """
        partition = partition_of_run(caller.tenant, run_id)
        run = self._store.run(partition, run_id)
        if run is None:
            raise no_such_run()
        self._registry.forget(run_id)
        if run.ended:
            return
        try:
            self._table.transact(writes.end(partition, run, self._clock()))
        except Refused:
            return  # somebody else has ended it

    def assert_open(self, run: Run | None) -> Run:
        """The run that was found, if it is open.

        Raises:
            NotFound: there is none.
            RunEnded: it is over.
        """
        if run is None:
            raise no_such_run()
        if run.is_over(self._clock()):
            raise _over()
        return run

    def refusal(self, there: Item | None) -> NotFound | RunEnded:
        """Why a write was refused on account of its run; `there` is the run's item."""
        return no_such_run() if there is None else _over()

    def harness(self, tenant: str, partition: str, run_id: str) -> tuple[Sealed, Harness]:
        """How the puts of a run are redacted: a call where this process doesn't remember it.

        Raises:
            NotFound: no such run on this memory.
            RunEnded: it is over.
        """
        assert_on(tenant, partition, run_id)
        sealed = self._registry.known(run_id)
        if sealed is None:
            run, secrets = self._store.run_with_secrets(partition, run_id)
            sealed = Sealed(self.assert_open(run).on_secret, secrets)
            self._registry.remember(run_id, sealed)
        return sealed, self._registry.open(sealed, tenant, run_id)


def assert_on(tenant: str, partition: str, run_id: str) -> None:
    """Raises `NotFound` unless a run's id is one of the memory in this partition."""
    if partition_of_run(tenant, run_id) != partition:
        raise no_such_run()


def _over() -> RunEnded:
    return RunEnded("this run is over: it was ended, or is older than 24 hours; start another one")
