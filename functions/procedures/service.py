"""Use cases of procedures (ADR-043 Tier 4; contract §8). They are the tenant's: any principal with
the permission reads, selects and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, TypeVar

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.jsontext import bounded_json
from functions.platform.keys import Key
from functions.platform.lifetimes import duration
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Refused
from functions.procedures import rules
from functions.procedures.model import MOST_SPEC_BYTES, Evidence, Place, Standing, Workflow
from functions.procedures.store import Addition, WorkflowStore

if TYPE_CHECKING:
    from functions.procedures.requests import NewWorkflow

_ATTEMPTS = 20
_BUSY = "others are writing this workflow"
_UNFADING = Evidence(0, 0, 0, 0)  # what most workflows have: no half-life
Done = TypeVar("Done")


class Procedures:
    """The procedures of a caller's tenant."""

    def __init__(self, store: WorkflowStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def put(
        self, caller: Principal, place: Place, id: str, new: NewWorkflow, version: int | None
    ) -> tuple[Standing, bool]:
        """Sets a workflow's spec; the workflow, and whether it is new.

        What was learned stays, unless `reset`; the same again changes nothing.

        Raises:
            ValueTooLarge: the spec has over 65,536 bytes of compact JSON.
            NotFound, VersionMismatch: If-Match names a version, and it isn't there.
        """
        spec = bounded_json(new.spec, "spec", MOST_SPEC_BYTES)
        half_life = None if new.half_life is None else duration(new.half_life, "half_life")
        at = self._store.key(caller.tenant, place, id)

        def attempt() -> tuple[Workflow, bool]:
            seen = self._seen(at, version)
            now = self._clock()
            if seen is None:
                blank = Evidence(0, 0, 0, now, half_life)
                made = Workflow(place, id, spec, new.half_life, blank, 1, now, now)
                self._store.create(at, made)
                return made, True
            after = _revised(seen, spec, new, half_life, now)
            if after is not seen:
                self._store.replace(at, seen, after)
            return after, False

        stored, first = _retried(attempt)
        return self._standing(stored), first

    def get(self, caller: Principal, place: Place, id: str) -> Standing:
        """One workflow: one read. Raises `NotFound`."""
        return self._standing(_there(self._store.get(self._store.key(caller.tenant, place, id))))

    def all(self, caller: Principal, place: Place) -> list[Standing]:
        """A procedure's workflows, the newest first: one query."""
        found = self._store.all(caller.tenant, place)
        newest = sorted(found, key=lambda each: (each.created, each.id), reverse=True)
        return [self._standing(each) for each in newest]

    def select(self, caller: Principal, place: Place, seed: int | None) -> Standing:
        """The workflow to try next: one query.

        Args:
            seed: the same on the same evidence selects the same.

        Raises:
            NotFound: there is none to select from.
        """
        workflows = sorted(self._store.all(caller.tenant, place), key=lambda each: each.id)
        if not workflows:
            raise NotFound("there are no workflows for this type of task; PUT one first")
        return rules.selected(workflows, self._clock(), Random(seed))  # noqa: S311 - a sample

    def outcome(
        self, caller: Principal, place: Place, id: str, score: float, token: RequestToken | None
    ) -> Standing:
        """Counts how well a workflow did: one atomic addition; none is ever lost.

        Args:
            score: from 0, a failure, to 1, a success.
            token: of the Idempotency-Key; with it, the outcome is counted once.

        Raises:
            NotFound: there is no such workflow.
            IdempotencyConflict: the key came with another score.
        """
        at = self._store.key(caller.tenant, place, id)
        evidence = _UNFADING
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            try:
                return self._standing(self._add(at, self._weighed(at, evidence, score), token))
            except (ConditionFailed, Refused) as prevented:
                if token is not None and self._store.noted(at, token, prevented):
                    return self.get(caller, place, id)
                evidence = _there(self._store.stood(at, prevented)).evidence
                backoff.wait()

    def _add(self, at: Key, addition: Addition, token: RequestToken | None) -> Workflow:
        if token is None:
            return self._store.add(at, addition)
        self._store.add_once(at, addition, token, self._clock())
        return _there(self._store.get(at))

    def _weighed(self, at: Key, evidence: Evidence, score: float) -> Addition:
        """An outcome by the terms of the evidence that it is added to."""
        now = self._clock()
        if rules.outgrown(evidence, now):
            newer = rules.renewed(evidence, now, evidence.half_life)
            self._store.renew(at, evidence, newer)
            evidence = newer
        base = None if evidence.half_life is None else evidence.base
        return Addition(*rules.counted(evidence, score, now), base)

    def delete(self, caller: Principal, place: Place, id: str, version: int | None) -> None:
        """Removes a workflow with what was learned of it.

        Raises:
            NotFound, VersionMismatch: as they say.
        """
        at = self._store.key(caller.tenant, place, id)

        def attempt() -> None:
            seen = self._seen(at, version)
            if seen is None:
                raise _unknown()
            self._store.delete(at, seen)

        _retried(attempt)

    def _standing(self, workflow: Workflow) -> Standing:
        return rules.standing(workflow, self._clock())

    def _seen(self, at: Key, version: int | None) -> Workflow | None:
        found = self._store.get(at)
        if version is not None and found is None:
            raise _unknown()
        if version is not None and found is not None and found.version != version:
            message = f"the workflow is at version {found.version}; read it and try again"
            raise VersionMismatch(message, version=found.version)
        return found


def _retried(attempt: Callable[[], Done]) -> Done:
    backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
    while True:
        try:
            return attempt()
        except (ConditionFailed, Refused):
            backoff.wait()


def _there(found: Workflow | None) -> Workflow:
    if found is None:
        raise _unknown()
    return found


def _revised(
    seen: Workflow, spec: bytes, new: NewWorkflow, half_life: int | None, now: int
) -> Workflow:
    """The workflow under a new spec and new terms; itself, if nothing changes."""
    evidence = seen.evidence
    if half_life != evidence.half_life:
        evidence = rules.renewed(evidence, now, half_life)
    if new.reset and evidence.outcomes:
        evidence = Evidence(0, 0, 0, now, half_life)
    after = replace(seen, spec=spec, half_life_text=new.half_life, evidence=evidence)
    if after == seen:
        return seen
    return replace(after, version=seen.version + 1, updated=now)


def _unknown() -> NotFound:
    return NotFound("there is no such workflow; PUT it first")
