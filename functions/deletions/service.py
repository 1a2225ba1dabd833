"""Delete tenants, agents and persons.

A request stores the deletion and removes keys and permissions: nothing new is written after that.
The schedule, or an operator's command, removes the rest step by step, and continues after an
interruption. The deletion's item stays, so that data that is replayed or restored later is deleted,
too.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.deletions.authority import DELETE_ACTIONS
from functions.deletions.model import Deletion, Subject, continue_after, count_found, is_waiting
from functions.deletions.principal_data import PrincipalData
from functions.deletions.store import DeletionStore, build_begin, find_types, get_key
from functions.identity.model import Principal
from functions.identity.store import Persons
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, Throttled
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.writes import Write
from functions.usage.service import LimitService

_MORE_FILES = ("files", "")  # where the stage of files continues
_SHARING = 50  # deletions that share a scan


@dataclass(eq=False)
class Deletions:
    """Begins deletions and runs them.

    Args:
        revoke: revokes a principal of the caller's tenant by its id, in one transaction with
            further writes.
        remove_principals: removes all keys and principals of a tenant; returns their number.
    """

    _store: DeletionStore
    _principal_data: PrincipalData
    _revoke: Callable[[Principal, str, *tuple[Write, ...]], None]
    _remove_principals: Callable[[str], int]
    _has_tenant: Callable[[str], bool]
    _limits: LimitService
    _persons: Persons
    _audit: AuditTrail
    _clock: Clock

    def begin(self, caller: Principal, subject: Subject, *, is_preview: bool = False) -> Deletion:
        """Begin a deletion, keys and permissions first; return it, or the one that is running.

        For a deleted tenant, the earlier deletion is returned. The deletion of a person that no
        item of the tenant names ends at once, and isn't counted.

        Raises:
            AccessDenied: the caller may not delete this.
            NotFound: there is no such tenant, and there never was one that was deleted.
            QuotaExceeded: the tenant has used its previews of the day.
            Throttled: another request begins it at the same time.
        """
        action = DELETE_ACTIONS[subject.kind]
        authorize(caller, action, subject)
        new = Deletion(subject, self._clock(), caller.actor, is_preview)
        old = self._store.get(get_key(new))
        if old is not None and self._is_same(old, subject):
            self._revoke_subject(caller, old)  # the tenant may have been created again
            return self._take_permissions(old)
        if subject.kind == "tenant" and not self._has_tenant(subject.tenant):
            raise NotFound("no tenant has this id")
        new = new._replace(revision=1 if old is None else old.revision + 1)
        target = f"{subject.kind}:{subject.id}"
        after = {"dry_run": is_preview} if is_preview else None
        record = self._audit.record(caller, action, target, after=after)
        if not self._is_known(subject):
            new = new._replace(stage="done", finished_at=new.requested_at)
        writes = build_begin(new, old, record)
        if subject.name is not None and not new.is_done:
            writes.append(self._limits.build_deletion_count(subject.tenant, is_preview=is_preview))
        if not (self._revoke_subject(caller, new, writes) or self._store.try_commit(writes)):
            raise Throttled("the deletion is running; try again")
        return self._take_permissions(new)

    def _is_known(self, subject: Subject) -> bool:
        """Tell whether a scan may find something: not for a person that no item names."""
        if subject.kind != "person":
            return True
        tests = (
            self._persons.is_known,
            self._store.has_facts_about,
            self._principal_data.is_in_a_name,
        )
        return any(is_named(subject.tenant, subject.id) for is_named in tests)

    def _revoke_subject(
        self, caller: Principal, deletion: Deletion, writes: Sequence[Write] = ()
    ) -> bool:
        """Revoke the principal that is deleted, with the writes; False if there is none."""
        if deletion.subject.name is None or deletion.dry_run:
            return False
        try:
            self._revoke(caller, deletion.subject.name, *writes)
        except NotFound:
            return False
        return True

    def _is_same(self, old: Deletion, subject: Subject) -> bool:
        """Tell whether a deletion is running, or has deleted a tenant."""
        if not old.is_done:
            return old.subject == subject
        return subject.kind == "tenant" and not self._has_tenant(subject.tenant)

    def _take_permissions(self, deletion: Deletion) -> Deletion:
        """Remove the permissions; of a tenant, all keys by which more could be written."""
        if deletion.dry_run:
            return deletion
        counts = self._remove_access(deletion.subject)
        new = count_found(deletion, +counts)
        if counts.total() and self._store.save(new, deletion):
            return new
        return deletion

    def _remove_access(self, subject: Subject) -> Counter[str]:
        if subject.name is not None:
            return self._principal_data.take_permissions(subject)
        return Counter(principal=self._remove_principals(subject.tenant))

    def take_permissions_again(self) -> None:
        """Remove the permissions of all deleted subjects, which a backup has restored."""
        for each in self._store.list_all():
            if each.subject.name is not None:
                self._principal_data.take_permissions(each.subject)

    def get(self, caller: Principal, subject: Subject, *, is_preview: bool = False) -> Deletion:
        """Read a deletion and its progress.

        Raises:
            AccessDenied: the caller may not delete this.
            NotFound: there is no such deletion.
        """
        authorize(caller, DELETE_ACTIONS[subject.kind], subject)
        found = self._store.get(get_key(Deletion(subject, 0, caller.actor, is_preview)))
        if found is None or found.subject.kind != subject.kind:
            raise NotFound("there is no such deletion")
        return found

    def resume(self, key: Key, seconds: float) -> bool:
        """Run a deletion for some seconds; return True if nothing is due now.

        Args:
            key: of the deletion's item.
        """
        deadline = time.monotonic() + seconds
        deletion, others = self._store.get(key), None
        while deletion is not None and not deletion.is_done:
            if is_waiting(deletion, self._clock()):
                return True
            if time.monotonic() >= deadline:
                return False
            if not deletion.is_scanning:
                new, others = self._take_step(deletion), None
            else:
                if others is None:
                    others = self._list_due_others(deletion)
                if not deletion.has_begun_scan and any(each.has_begun_scan for each in others):
                    return True  # the present scan serves others; the next one serves this deletion
                new, others = self._process_shared_page(deletion, others)
            if not self._store.save(new, deletion):
                return True  # another worker continues
            deletion = new
        return True

    def _list_due_others(self, deletion: Deletion) -> list[Deletion]:
        """List the other deletions that are due, and those that wait.

        All deletions that are due when a scan begins share it.
        """
        now, own = self._clock(), get_key(deletion)
        others = [each for each in self._store.list_due(now) if get_key(each) != own]
        if any(each.has_begun_scan for each in (deletion, *others)):
            return others
        return [self._prepare_scan(each, now) for each in others[:_SHARING]]

    def _prepare_scan(self, deletion: Deletion, now: int) -> Deletion:
        """Run a deletion up to its next scan, unless another worker does."""
        while not (deletion.is_scanning or deletion.is_done or is_waiting(deletion, now)):
            new = self._take_step(deletion)
            if not self._store.save(new, deletion):
                break
            deletion = new
        return deletion

    def _process_shared_page(
        self, deletion: Deletion, others: Sequence[Deletion]
    ) -> tuple[Deletion, list[Deletion]]:
        """Read a page once for all deletions that need it; return these after it."""
        at = (deletion.stage, deletion.after)
        together = [each for each in others if (each.stage, each.after) == at][:_SHARING]
        tenants = dict.fromkeys(each.subject.tenant for each in (deletion, *together))
        items, after = self._store.scan(deletion, tenants)
        changed = [(self._process_page(each, items, after), each) for each in together]
        saved = [new for new, old in changed if self._store.save(new, old)]
        return self._process_page(deletion, items, after), saved

    def _take_step(self, deletion: Deletion) -> Deletion:
        """Remove access or files; a preview only counts files."""
        counts, after = Counter[str](), None
        if deletion.stage == "keys" and not deletion.dry_run:
            counts = self._remove_access(deletion.subject)
        elif deletion.stage == "files" and deletion.subject.kind == "tenant":
            tenant = deletion.subject.tenant
            if deletion.dry_run:
                counts["file"] = sum(1 for _ in self._store.list_files(tenant))
            elif removed := self._store.delete_files(tenant):
                counts["file"], after = removed, _MORE_FILES
        return continue_after(count_found(deletion, counts), after, self._clock())

    def _process_page(
        self, deletion: Deletion, found: Sequence[Item], after: Key | None
    ) -> Deletion:
        """Remove or count the subject's items of a page; return the deletion after it."""
        own, is_log = f"{deletion.subject.tenant}#", deletion.stage == "log"
        items = [item for item in found if item["pk"].startswith(own)]
        typed = find_types(items, is_log=is_log)
        if deletion.subject.kind == "tenant":
            if not deletion.dry_run:
                self._store.delete_items(items, is_log=is_log)
            counts = Counter("other" if each is None else each.name for each, _ in typed)
        elif deletion.dry_run:
            counts = self._principal_data.count(deletion.subject, typed)
        else:
            is_last = deletion.passes > 0
            counts = self._principal_data.remove(deletion.subject, typed, is_last=is_last)
        return continue_after(count_found(deletion, counts), after, self._clock())
