"""Use cases of runs: start, replay and end them, and add secrets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from secrets import randbits

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize
from functions.identity.model import Principal
from functions.openwop import rules
from functions.openwop.authority import CHANGE_RUN, DELETE_RUN
from functions.openwop.model import ListedMemory, MemoryOwner, MemoryRun
from functions.openwop.redaction import LabelledSecret, Redactor, collect_secrets
from functions.openwop.requests import NewMemory, NewMemoryRun, NewSecrets
from functions.openwop.rules import MemoryReferences
from functions.openwop.run_store import (
    MemoryRunStore,
    build_partitions,
    check_kept,
    check_snapshot,
)
from functions.openwop.secret_store import MemorySecrets
from functions.openwop.sequence_store import MemoryListStore, SequenceNumbers, build_listing
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.idempotency import RequestToken, build_idempotency_conflict
from functions.platform.items import Item
from functions.platform.openwop_keys import hash_memory
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write

_SECRETS_NUMBER_BITS = 62


@dataclass(eq=False)
class MemoryRuns:
    """Use cases of runs on memories."""

    _store: MemoryRunStore
    _lists: MemoryListStore
    _numbers: SequenceNumbers
    _secrets: MemorySecrets
    _references: MemoryReferences
    _audit: AuditTrail
    _clock: Clock

    def start(self, caller: Principal, new: NewMemoryRun, token: RequestToken | None) -> MemoryRun:
        """Open a run on memories, or on the snapshot of another run.

        A retry with the same Idempotency-Key gets the same run, while it is open.

        Raises:
            AccessDenied: a reference was not issued for the caller's tenant.
            NotFound: there is no such run to replay.
            ValidationFailed: a duration or a secret is not allowed.
            IdempotencyConflict: the Idempotency-Key came with another body.
            RunEnded: the run that the Idempotency-Key started is closed, or the snapshot of the run
                to replay is no longer kept.
            CapacityExceeded: the open runs of a memory have too many secrets.
        """
        request, now = token or RequestToken.create(), self._clock()
        original = None if new.replay_of is None else self.get(caller, new.replay_of)
        agent, scope = new.memory_name
        run = MemoryRun(
            run_id=self._references.make_run_id(caller.tenant, request.key),
            memories=self._find_memories(caller, new) if original is None else original.memories,
            snapshot=0 if original is None else original.snapshot,
            started_by=caller.id,
            started_at=now,
            deadline=now + rules.parse_run_lifetime(new.ttl),
            retention=rules.parse_retention(new.retain_snapshot),
            on_secret=new.on_secret,
            redaction_marker=new.redaction_marker,
            agent=agent,
            scope=scope,
            replay_of=new.replay_of,
            request=request.stored,
        )
        if run.run_id == new.replay_of:  # the id follows from the Idempotency-Key
            raise build_idempotency_conflict()
        secrets = collect_secrets(new.secrets, (), self._secrets.edition)
        run, writes = self._give_secrets(caller.tenant, run, secrets)
        listing: Item | None = None if agent is None else {}
        if run.agent is not None:
            owner = rules.find_owner(caller)
            listing = build_listing(caller.tenant, owner, run.agent, scope, now)
        return self._open(caller.tenant, run, original, listing, writes, request)

    def _find_memories(self, caller: Principal, new: NewMemoryRun) -> tuple[str, ...]:
        """Find the memories that a request names, by their hashes, each once."""
        references = [new.memory_ref] if new.memory_ref is not None else new.memory_refs
        if references is None:
            return (hash_memory(*rules.find_owner(caller), new.agent or "", new.scope or ""),)
        found = (self._references.resolve(caller.tenant, each) for each in references)
        return tuple(dict.fromkeys(found))

    def _open(
        self,
        tenant: str,
        run: MemoryRun,
        original: MemoryRun | None,
        listing: Item | None,
        secrets: Sequence[Write],
        request: RequestToken,
    ) -> MemoryRun:
        backoff = Backoff("others are writing to these memories", attempts=25)
        while True:
            if original is None:
                number, heads = self._numbers.take_snapshot(build_partitions(tenant, run), listing)
                run = run._replace(snapshot=number)
                checks = check_snapshot(tenant, run, heads)
            else:
                checks = check_kept(tenant, run, original, self._clock())
            try:
                opened = self._store.open(tenant, run, checks, secrets, request)
            except ConditionFailed as refused:
                if original is not None:
                    raise rules.snapshot_gone() from refused
            else:
                return rules.assert_open(opened, self._clock())
            backoff.wait()

    def get(self, caller: Principal, run_id: str) -> MemoryRun:
        """Get a run of the caller's tenant: one read.

        Raises:
            NotFound: there is none, or its snapshot was dropped more than a day ago.
        """
        run = self._store.get(caller.tenant, run_id)
        if run is None:
            raise rules.run_not_found()
        return run

    def list_own(self, caller: Principal, wanted: WantedPage) -> Iterator[MemoryRun]:
        """List the runs that the caller started, newest first.

        Other principals' runs aren't listed: a caller that knows a run's id may use it.
        """
        return self._store.list_started(caller.tenant, caller.id, wanted)

    def name_memory(self, caller: Principal, new: NewMemory) -> str:
        """Add the caller's memory of an agent and a scope to its list; return its hash."""
        owner = rules.find_owner(caller)
        return self._lists.add(caller.tenant, owner, new.agent, new.scope, self._clock())

    def list_memories(self, caller: Principal, wanted: WantedPage) -> Iterator[ListedMemory]:
        """List the memories of the caller's principal and of its agent type, the last one first.

        Other principals' memories aren't listed: a caller with the reference may use them.
        """
        # The caller's agent type may have been set after its first memory.
        owners = dict.fromkeys([MemoryOwner("principal", caller.id), rules.find_owner(caller)])
        owned = [self._lists.list_owned(caller.tenant, owner, wanted) for owner in owners]
        return merge(*owned, key=lambda each: each.position, reverse=True)

    def get_open(self, tenant: str, memory: str, run_id: str) -> MemoryRun:
        """Get an open run on a memory: one read.

        Raises:
            NotFound: the memory has no such run.
            RunEnded: the run is closed.
        """
        return rules.assert_open(self._store.get(tenant, run_id), self._clock(), memory)

    def get_kept(
        self, caller: Principal, run_id: str, reference: str | None
    ) -> tuple[MemoryRun, str]:
        """Get a run whose snapshot is kept, and one of its memories; None for the first one.

        Raises:
            NotFound: there is no such run, or it isn't on this memory.
            RunEnded: the snapshot is no longer kept.
        """
        run = self.get(caller, run_id)
        memory = run.memories[0]
        if reference is not None:
            memory = self._references.resolve(caller.tenant, reference)
        if memory not in run.memories:
            raise rules.run_not_found()
        if run.snapshot_kept_until <= self._clock():
            raise rules.snapshot_gone()
        return run, memory

    @retry_on(ConditionFailed, "others are changing this run")
    def add_secrets(self, caller: Principal, run_id: str, new: NewSecrets) -> MemoryRun:
        """Add secrets to an open run: after the response, puts into its memories redact them.

        Raises:
            AccessDenied: the run is another principal's, and the caller may not write.
            NotFound: the caller's tenant has no such run.
            RunEnded: the run is closed.
            ValidationFailed: a secret is not allowed.
            CapacityExceeded: the open runs of a memory have too many secrets.
        """
        before = rules.assert_open(self.get(caller, run_id), self._clock())
        authorize(caller, CHANGE_RUN, before)
        known = self._secrets.read_of_run(caller.tenant, before)
        secrets = collect_secrets(new.secrets, known, self._secrets.edition)
        if len(secrets) == len(known):
            return before
        run, writes = self._give_secrets(caller.tenant, before, secrets)
        audit = self._audit_use(caller, CHANGE_RUN, before)
        self._store.set_secrets(caller.tenant, before, run, writes, self._clock(), *audit)
        return run

    def _give_secrets(
        self, tenant: str, run: MemoryRun, secrets: Sequence[LabelledSecret]
    ) -> tuple[MemoryRun, Sequence[Write]]:
        """Set the secrets of a run; return it with the writes that store them.

        If the memory's name holds a secret, the name is removed: names are stored in clear.
        """
        if not secrets:
            return run, ()
        names = [name for name in (run.agent, run.scope) if name is not None]
        if Redactor(secrets, self._secrets.edition).find_labels(names):
            run = run._replace(agent=None, scope=None)
        run = run._replace(
            secrets=tuple(label for label, _ in secrets),
            secret_bytes=sum(len(value.encode()) for _, value in secrets),
            secrets_number=randbits(_SECRETS_NUMBER_BITS) + 1,
        )
        return run, self._secrets.build_puts(secrets, tenant, run)

    @retry_on(ConditionFailed, "others are changing this run")
    def end(self, caller: Principal, run_id: str) -> None:
        """End a run: delete its secrets, and keep its snapshot for its retention.

        Repeating the request changes nothing.

        Raises:
            AccessDenied: the run is another principal's, and the caller may not write.
            NotFound: the caller's tenant has no such run.
        """
        run, now = self.get(caller, run_id), self._clock()
        authorize(caller, CHANGE_RUN, run)
        if run.is_closed(now):
            return
        audit = self._audit_use(caller, CHANGE_RUN, run)
        self._store.end(caller.tenant, run, now, *audit)

    @retry_on(ConditionFailed, "others are changing this run")
    def delete(self, caller: Principal, run_id: str) -> None:
        """Delete a run, its secrets, and its pin of the snapshot; replays keep their pins.

        Raises:
            AccessDenied: the run is another principal's, and the caller lacks `memory.admin`.
            NotFound: the caller's tenant has no such run.
        """
        run = self.get(caller, run_id)
        authorize(caller, DELETE_RUN, run)
        audit = self._audit_use(caller, DELETE_RUN, run)
        self._store.delete(caller.tenant, run, self._clock(), *audit)

    def _audit_use(
        self, caller: Principal, action: Action[MemoryRun], run: MemoryRun
    ) -> list[Write]:
        if run.started_by == caller.id:
            return []
        before = {"principal": run.started_by, "state": run.get_state(self._clock())}
        return [self._audit.record(caller, action, f"openwop-run:{run.run_id}", before)]
