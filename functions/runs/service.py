"""Use cases of runs (ADR-043 Tier 1 turn state, Tier 2; contract §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import RunClosed
from functions.platform.idempotency import RequestToken
from functions.platform.run_keys import create_run_address
from functions.runs.model import Run, RunStatus
from functions.runs.rules import RunIds, end_run, parse_address, render_value
from functions.runs.store import RunChanged, RunStore

if TYPE_CHECKING:
    from functions.runs.requests import NewRun


class Runs:
    """The runs of a caller's tenant, open to all of its principals.

    Methods that take a `run_id` raise `NotFound` where no run of the last 90 days has this id.
    """

    def __init__(self, store: RunStore, ids: RunIds, clock: Clock) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock

    def start(self, caller: Principal, new: NewRun, token: RequestToken) -> Run:
        """Start a run: one write. A retry returns the run of the first try.

        Raises:
            ValueTooLarge: the input has over 65,536 bytes of compact JSON.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunClosed: the run that the Idempotency-Key started has ended.
        """
        now = self._clock()
        address = create_run_address(caller.tenant, new.agent_type, token.key, now)
        run = Run(
            id=self._ids.make_id(address),
            agent_type=new.agent_type,
            instance=new.instance_id,
            status="running",
            version=1,
            created=now,
            author=caller.id,
            input=render_value(new.input, "input"),
            sensitivity=new.sensitivity,
            request=token.stored,
        )
        try:
            self._store.create(address, run)
        except RunChanged as changed:
            run = changed.run
            token.matches(run.request)  # raises, if it had another body
            if run.ended is not None or run.expires <= self._clock():
                message = "the run that this Idempotency-Key started is over; use a fresh key"
                raise RunClosed(message) from changed
        return run

    def get(self, caller: Principal, run_id: str) -> Run:
        """Get one run: one read."""
        return self._store.get(caller.tenant, run_id, self._clock())

    def complete(self, caller: Principal, run_id: str, output: object, token: RequestToken) -> Run:
        """End a run that succeeded: a read and a write.

        Raises:
            ValueTooLarge: the output has over 65,536 bytes of compact JSON.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunClosed: another request has ended the run.
        """
        return self._end(caller, run_id, "completed", render_value(output, "output"), token)

    def fail(self, caller: Principal, run_id: str, error: object, token: RequestToken) -> Run:
        """End a run that failed; raises as `complete`."""
        return self._end(caller, run_id, "failed", render_value(error, "error"), token)

    def _end(
        self, caller: Principal, run_id: str, status: RunStatus, result: bytes, token: RequestToken
    ) -> Run:
        now = self._clock()
        run = self._store.get(caller.tenant, run_id, now)
        if run.ended is None:
            ended = end_run(run, status, result, caller.id, token.stored, now)
            try:
                self._store.replace(parse_address(caller.tenant, run_id, now), run, ended)
            except RunChanged as changed:
                run = changed.run
            else:
                return ended
        if token.matches(run.end_request):
            return run
        raise RunClosed(f"this run is over ({run.status}); its result stays as it is")

    def list_by_type(
        self, caller: Principal, agent_type: str, status: RunStatus | None, limit: int, offset: int
    ) -> tuple[list[Run], int]:
        """List a page of an agent type's runs, newest first; return it and how many there are."""
        keys = self._store.list_keys(caller.tenant, agent_type, status, self._clock())
        found = self._store.get_many(caller.tenant, keys[offset : offset + limit])
        return [run for run in found if status in (None, run.status)], len(keys)
