"""Use cases of deleting runs and episodes, which frees the quota immediately."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import NotFound
from functions.platform.items import Item
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.runs.authority import DELETE_EPISODES, DELETE_RUN
from functions.runs.deletion_store import Audit, RunDeletionStore
from functions.runs.model import RunQuery
from functions.runs.rules import parse_address
from functions.runs.store import RunStore

_SECONDS = 15.0  # seconds of a request; the schedule deletes the rest of a run


@dataclass(eq=False)
class RunDeletions:
    """Deletes runs and episodes of a caller's tenant.

    Methods raise `AccessDenied` if the caller has neither `memory.write` nor `memory.admin`.
    """

    _runs: RunStore
    _store: RunDeletionStore
    _audit: AuditTrail
    _clock: Clock

    def delete_run(self, caller: Principal, run_id: str) -> None:
        """Delete a run with its episodes; the schedule deletes what exceeds a request's time.

        Raises:
            NotFound: no kept run has this id.
        """
        authorize(caller, DELETE_RUN, None)
        self._delete_run(caller, run_id, time.monotonic() + _SECONDS)

    def delete_runs(self, caller: Principal, query: RunQuery) -> tuple[int, int, bool]:
        """Delete the runs that a query selects, newest first, with their episodes.

        Returns:
            The numbers of deleted runs and episodes, and whether none are left.
        """
        authorize(caller, DELETE_RUN, None)
        deadline, runs, episodes = time.monotonic() + _SECONDS, 0, 0
        for row in filter(query.matches, self._runs.list_rows(caller.tenant, query, self._clock())):
            item = self._runs.get_items([(row["pk"], row["sk"])]).get((row["pk"], row["sk"]))
            if item is None:
                continue
            if time.monotonic() >= deadline:
                return runs, episodes, False
            try:
                episodes += self._delete_run(caller, item["id"], deadline)
            except NotFound:
                continue  # another request has deleted it
            runs += 1
        return runs, episodes, True

    def delete_episode(self, caller: Principal, run_id: str, episode_id: str) -> None:
        """Delete one episode.

        Raises:
            NotFound: the run has no such episode.
        """
        authorize(caller, DELETE_EPISODES, None)
        partition = parse_address(caller.tenant, run_id, self._clock()).partition
        audit = self._audit_foreign(caller, run_id)
        if not self._store.delete_episode(partition, episode_id, audit):
            raise NotFound("this run has no such episode")

    def _delete_run(self, caller: Principal, run_id: str, deadline: float) -> int:
        now, tenant = self._clock(), caller.tenant
        partition = parse_address(tenant, run_id, now).partition
        backoff = Backoff("others are writing this run")
        while not self._store.is_deletion_pending(partition):
            item = self._runs.get_item(tenant, run_id, now)
            try:
                self._store.delete_run(item, now, self._build_record(caller, item))
            except ConditionFailed:
                backoff.wait()
            else:
                break
        audit = self._audit_foreign(caller, run_id)
        return self._store.delete_episodes(partition, deadline, audit)[0]

    def _build_record(self, caller: Principal, run: Item) -> list[Write]:
        author, target = run["created_by"], f"run:{run['id']}"
        before = {"created_by": author, "status": run["status"]}
        return self._audit.record_foreign(caller, author, DELETE_RUN, target, before)

    def _audit_foreign(self, caller: Principal, run_id: str) -> Audit:

        def build(episodes: Sequence[Item]) -> list[Write]:
            authors = sorted({each["created_by"] for each in episodes} - {caller.id})
            if not authors:
                return []
            before = {"created_by": authors, "episodes": len(episodes)}
            return [self._audit.record(caller, DELETE_EPISODES, f"run:{run_id}", before)]

        return build
