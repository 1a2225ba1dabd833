"""Use cases of episodes: appended in one write, recalled by one query (ADR-043 Tier 2)."""

from collections.abc import Iterator
from dataclasses import dataclass

from functions.audit.service import AuditTrail
from functions.identity.model import Principal
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.errors import NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.run_keys import build_episode_id, build_episode_sort_token
from functions.runs.authority import APPEND_EPISODE
from functions.runs.deletion_store import RunDeletionStore
from functions.runs.model import Episode, Run, compute_expiry
from functions.runs.requests import NewEpisode
from functions.runs.rules import render_episode_text, run_not_found
from functions.runs.store import EpisodeStore, RunStore


@dataclass(eq=False)
class Episodes:
    """The episodes of a caller's tenant, open to all of its principals."""

    _store: EpisodeStore
    _runs: RunStore
    _deletions: RunDeletionStore
    _audit: AuditTrail
    _clock: Clock

    def append(
        self, caller: Principal, run_id: str, new: NewEpisode, token: RequestToken | None
    ) -> Episode:
        """Append an episode to a run, ended or not: one write, and one read after it.

        An append to another principal's run reads the run first, and is recorded.

        The read shows whether the run was deleted: then the episode is, too. A deletion that comes
        later finds the episode itself.

        Raises:
            NotFound: no kept run has this id.
            ValueTooLarge: content or metadata is too large.
            CapacityExceeded: the tenant has no room for another episode.
            IdempotencyConflict: the token's key came with another body.
        """
        now = self._clock()
        address, starter = self._runs.find_address(caller, run_id, now)
        request = (token or RequestToken.create()).key
        sort_token = build_episode_sort_token(now, request)
        episode = Episode(
            id=build_episode_id(sort_token),
            run_id=run_id,
            text=render_episode_text(new),
            created_at=now,
            created_by=caller.id,
            expires_at=compute_expiry(address.started),
            sensitivity=new.sensitivity,
        )
        target, before = f"run:{run_id}", {"created_by": starter}
        records = self._audit.record_foreign(caller, starter, APPEND_EPISODE, target, before)
        earlier = self._store.append(address, episode, sort_token, token, records)
        appended = earlier or episode
        if self._store.is_run_deleted(address):
            self._deletions.delete_episode(address.partition, appended.id, lambda _: [])
            raise run_not_found()
        return appended

    def get(self, caller: Principal, run_id: str, id: str) -> Episode:
        """Get one episode: one read. Both ids may be the parts of a short reference.

        Raises:
            NotFound: the tenant has no such episode.
        """
        read = self._store.get if run_id.startswith("run_") else self._store.find
        episode = read(caller.tenant, run_id, id, self._clock())
        if episode is None:
            raise NotFound("there is no such episode")
        return episode

    def list_by_type(
        self, caller: Principal, agent_type: str, wanted: WantedPage
    ) -> Iterator[Episode]:
        """List an agent type's episodes across its runs, newest first: a call per page.

        The index that they come from may lag behind an append.

        Args:
            wanted: the page; its position is the id of an episode.
        """
        return self._store.list_by_type(caller.tenant, agent_type, wanted, self._clock())

    def list_by_run(
        self, caller: Principal, run_id: str, wanted: WantedPage
    ) -> tuple[Run, Iterator[Episode]]:
        """List the episodes of a run, newest first.

        The index that they come from may lag behind an append.

        Args:
            wanted: the page; its position is the id of an episode.

        Raises:
            NotFound: no kept run has this id.
        """
        return self._store.list_by_run(caller.tenant, run_id, wanted, self._clock())
