"""Runs: their start and their end (ADR-043 Tier 1 turn state, Tier 2; contract §8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import RunClosed
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.run_keys import build_runs_partition, create_run_address
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put
from functions.runs.ids import RunIds
from functions.runs.items import ABSENT, RunItems
from functions.runs.model import Run, RunStatus
from functions.runs.rules import expires, json_text
from functions.runs.store import RunStore

if TYPE_CHECKING:
    from functions.runs.requests import NewRun

_AS_SEEN = "version = :seen"


class Runs:
    """The runs of a caller's tenant; each of its principals may use them all."""

    def __init__(
        self, table: Table, store: RunStore, items: RunItems, ids: RunIds, clock: Clock
    ) -> None:
        self._table = table
        self._store = store
        self._items = items
        self._ids = ids
        self._clock = clock

    def start(self, caller: Principal, new: NewRun, token: RequestToken) -> Run:
        """A new run: one write. That of `token`, if it runs already.

        Raises:
            ValueTooLarge, ValidationFailed: the input can't be kept.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunClosed: the run that the Idempotency-Key started has ended.
        """
        now = self._clock()
        address = create_run_address(caller.tenant, new.agent_type, token.key, now)
        run = Run(
            id=self._ids.id(address),
            agent_type=new.agent_type,
            instance=new.instance_id,
            status="running",
            version=1,
            created=now,
            author=caller.id,
            input=json_text(new.input, "input"),
            sensitivity=new.sensitivity,
            request=token.stored,
        )
        try:
            self._table.put(put(address.item_key, self._items.run(address, run), ABSENT))
        except ConditionFailed as failed:
            return self._replayed(caller, failed.item or {}, token)
        return run

    def _replayed(self, caller: Principal, item: Item, token: RequestToken) -> Run:
        token.matches(item["req"])  # raises, if it had another body
        run = self._items.run_of(caller.tenant, item)
        if run.ended is not None or expires(run.created) <= self._clock():
            raise RunClosed("the run that this Idempotency-Key started is over; use a fresh key")
        return run

    def get(self, caller: Principal, run_id: str) -> Run:
        """One run: one read.

        Raises:
            NotFound: no run of the last 90 days has this id.
        """
        _, run = self._store.run(caller.tenant, run_id, self._clock())
        return run

    def complete(self, caller: Principal, run_id: str, output: object, token: RequestToken) -> Run:
        """Ends a run that went well.

        Raises:
            NotFound, ValueTooLarge, ValidationFailed, IdempotencyConflict: as they say.
            RunClosed: it has ended.
        """
        text = json_text(output, "output")
        return self._end(
            caller, run_id, lambda run: replace(run, status="completed", output=text), token
        )

    def fail(self, caller: Principal, run_id: str, error: object, token: RequestToken) -> Run:
        """Ends a run that didn't; raises as `complete`."""
        text = json_text(error, "error")
        return self._end(
            caller, run_id, lambda run: replace(run, status="failed", error=text), token
        )

    def _end(
        self, caller: Principal, run_id: str, with_result: Callable[[Run], Run], token: RequestToken
    ) -> Run:
        now = self._clock()
        address, run = self._store.run(caller.tenant, run_id, now)
        if run.ended is None:
            after = replace(
                with_result(run),
                version=run.version + 1,
                ended=now,
                ender=caller.id,
                end_request=token.stored,
            )
            item = self._items.run(address, after)
            try:
                self._table.put(put(address.item_key, item, _AS_SEEN, seen=run.version))
            except ConditionFailed:
                _, run = self._store.run(caller.tenant, run_id, now)
            else:
                return after
        if token.matches(run.end_request):
            return run
        raise RunClosed(f"this run is over ({run.status}); its result stays as it is")

    def of_type(
        self, caller: Principal, agent_type: str, status: RunStatus | None, limit: int, offset: int
    ) -> tuple[list[Run], int]:
        """A page of an agent type's runs, newest first, and how many there are in all."""
        partition = build_runs_partition(caller.tenant, agent_type)
        rows = [
            (row["pk"], row["sk"])
            for row in self._store.of_type(partition, self._clock())
            if status in (None, row["status"])
        ]
        found = self._store.runs(caller.tenant, rows[offset : offset + limit])
        return [run for run in found if status in (None, run.status)], len(rows)
