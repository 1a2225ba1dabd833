"""Use cases of runs and their episodes (ADR-043 Tier 1 turn state, Tier 2)."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter

from functions.audit.service import AuditTrail
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, RunClosed
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.run_keys import (
    build_episode_id,
    build_episode_sort_token,
    create_run_address,
)
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.platform.table import ConditionFailed
from functions.runs.agent_type_store import AgentTypes
from functions.runs.authority import APPEND_EPISODE, END_RUN
from functions.runs.deletion_store import RunDeletionStore
from functions.runs.model import Episode, Run, RunQuery, RunResult, RunStatus, compute_expiry
from functions.runs.requests import NewEpisode, NewRun
from functions.runs.rules import RunIds, end_run, render_episode_text, render_value, run_not_found
from functions.runs.store import EpisodeStore, RunStore, decode_head, is_run

_ITEMS_AT_ONCE = 25


@dataclass(eq=False)
class Runs:
    """The runs of a caller's tenant, open to all of its principals.

    Methods that take a `run_id` raise `NotFound` if no kept run has this id.
    """

    _store: RunStore
    _ids: RunIds
    _agent_types: AgentTypes
    _audit: AuditTrail
    _clock: Clock

    def start(self, caller: Principal, new: NewRun, token: RequestToken) -> Run:
        """Start a run: one write. A retry returns the run of the first try.

        Raises:
            ValueTooLarge: the input is too large.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunClosed: the run that the Idempotency-Key started has ended, or was deleted.
        """
        now = self._clock()
        address = create_run_address(caller.tenant, new.agent_type, token.key, now)
        run = Run(
            id=self._ids.make_id(address, caller.id),
            agent_type=new.agent_type,
            instance_id=new.instance_id,
            status="running",
            version=1,
            created_at=address.started,
            created_by=caller.id,
            input=render_value(new.input, "input"),
            sensitivity=new.sensitivity,
            request=token.stored,
        )
        self._agent_types.record_use(caller.tenant, new.agent_type)
        try:
            self._store.create(address, run, now)
        except ConditionFailed as changed:
            item = changed.failed.get(address.item_key)
            return self._find_started(caller.tenant, item, token)
        return run

    def _find_started(self, tenant: str, item: Item | None, token: RequestToken) -> Run:
        if item is not None and is_run(item, item["id"]):
            token.matches(item.get("request"))  # raises, if it had another body
            if item.get("ended_at") is None and decode_head(item).expires_at > self._clock():
                return self._store.decode(tenant, item)
        raise RunClosed(
            "the run that this Idempotency-Key started has ended; use a new Idempotency-Key"
        )

    def get(self, caller: Principal, run_id: str) -> Run:
        """Get one run: one read, and one more call for each large value."""
        item = self._store.get_item(caller.tenant, run_id, self._clock())
        return self._store.decode(caller.tenant, item)

    def end(
        self,
        caller: Principal,
        run_id: str,
        field: RunResult,
        value: object,
        token: RequestToken,
    ) -> Run:
        """End a run with its output, or with its error if it failed.

        It takes a read and a write, and two calls for each large value.

        Raises:
            ValueTooLarge: the value is too large.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunClosed: another request has ended the run.
        """
        result, now, tenant = render_value(value, field), self._clock(), caller.tenant
        item = self._store.get_item(tenant, run_id, now)
        if item.get("ended_at") is None:
            run = self._store.decode(tenant, item)
            status: RunStatus = "completed" if field == "output" else "failed"
            ended = end_run(run, status, result, caller.id, token.stored, now)
            starter, target = run.created_by, f"run:{run_id}"
            before = {"created_by": starter}
            records = self._audit.record_foreign(caller, starter, END_RUN, target, before)
            try:
                self._store.end(tenant, item, ended, field, now, records)
            except ConditionFailed as changed:
                present = changed.failed.get((item["pk"], item["sk"]))
                if not is_run(present, run_id):
                    raise run_not_found() from changed
                item = present
            else:
                return ended
        if token.matches(item.get("end_request")):
            return self._store.decode(tenant, item)
        raise RunClosed(f"this run has ended ({item['status']}); its result can't change")

    def list_page(
        self, caller: Principal, query: RunQuery, wanted: WantedPage, *, has_values: bool
    ) -> tuple[BoundedPage[Item], Iterator[tuple[str, Run]]]:
        """List a page of the runs that a query selects, newest first, by an index that may lag.

        Returns its rows, and the existing runs with their positions, which are read as they are
        used.
        """
        rows = self._store.list_rows(caller.tenant, query, self._clock(), wanted)
        page = read_page(wanted, rows, query.matches, itemgetter(TYPE_ORDER_ATTRIBUTE))
        return page, self._load_rows(caller.tenant, page.elements, has_values=has_values)

    def _load_rows(
        self, tenant: str, rows: Sequence[Item], *, has_values: bool
    ) -> Iterator[tuple[str, Run]]:
        """Read the runs of index rows, a few at a time as they are used."""
        for start in range(0, len(rows), _ITEMS_AT_ONCE):
            group = rows[start : start + _ITEMS_AT_ONCE]
            items = self._store.get_items([(row["pk"], row["sk"]) for row in group])
            for row in group:
                item = items.get((row["pk"], row["sk"]))
                if item is not None:
                    with suppress(NotFound):
                        run = self._store.decode(tenant, item) if has_values else decode_head(item)
                        yield row[TYPE_ORDER_ATTRIBUTE], run


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
        """Append an episode to a run, even an ended one: one write, then one read.

        An append to another principal's run reads the run first, and is recorded.

        The read shows whether the run was deleted; if so, the episode is deleted, too. A later
        deletion of the run finds the episode.

        Raises:
            NotFound: no kept run has this id.
            ValueTooLarge: content or metadata is too large.
            CapacityExceeded: the tenant's quota of episodes is used up.
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
        """Get one episode: one read. Both ids may come from a short reference.

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

        The index may lag behind an append.

        Args:
            wanted: the page; its position is the id of an episode.
        """
        return self._store.list_by_type(caller.tenant, agent_type, wanted, self._clock())

    def list_by_run(
        self, caller: Principal, run_id: str, wanted: WantedPage
    ) -> tuple[Run, Iterator[Episode]]:
        """List the episodes of a run, newest first.

        The index may lag behind an append.

        Args:
            wanted: the page; its position is the id of an episode.

        Raises:
            NotFound: no kept run has this id.
        """
        return self._store.list_by_run(caller.tenant, run_id, wanted, self._clock())
