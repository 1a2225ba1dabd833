"""Use cases of objects: write, rename and delete them."""

import secrets
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeGuard

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize
from functions.identity.model import Principal
from functions.namespaces.rules import find_owner
from functions.objects import rules
from functions.objects.authority import DELETE_OBJECTS, WRITE_OBJECTS
from functions.objects.model import (
    NewObject,
    Precondition,
    Space,
    SpaceTarget,
    StoredObject,
)
from functions.objects.requests import ObjectRename
from functions.objects.store import ObjectStore, decode_description, describe, is_expired, put_space
from functions.platform.clock import Clock, compute_expiry
from functions.platform.errors import ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write

BUSY, ATTEMPTS = "others are writing this object", 30
_DELETED_AT_ONCE = 20  # objects in one transaction; each may have a file
_DELETE_SECONDS = 15.0  # of the 29 that a request has


class Content(NamedTuple):
    """The stored form of an object's bytes.

    Attributes:
        generation: names the write; the id of the upload that has brought the file, if one has.
        attributes: of the object's item.
        file: what is to be written into its file, if it needs one.
        is_uploaded: whether an upload has brought the file.
        is_completed: whether an object has had the file of the upload.
    """

    generation: str
    size: int
    attributes: Item
    file: bytes | None = None
    is_uploaded: bool = False
    is_completed: bool = False


class _Found(NamedTuple):
    """The item and the object under a key.

    Attributes:
        item: the stored item, even if it has expired.
        present: the object; None if it has expired.
    """

    space: Space | None
    item: Item | None
    present: StoredObject | None


class Objects:
    """The objects of a caller's tenant.

    Methods raise `AccessDenied` if the caller may not do it, and `ValidationFailed` if a key is too
    long.
    """

    def __init__(self, store: ObjectStore, audit: AuditTrail, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock

    def put(
        self,
        caller: Principal,
        space: str,
        key: str,
        new: NewObject,
        data: bytes,
        expected: Precondition,
        token: RequestToken | None,
    ) -> tuple[StoredObject, bool]:
        """Create or replace an object; return True if it was created.

        The first object of a space creates the space, which belongs to the caller.

        Raises:
            NotFound, VersionMismatch, EntryExists: the present object isn't the expected one.
        """
        generation = secrets.token_hex(16)
        content, file = self._store.encode(caller.tenant, (space, key), generation, new, data)
        staged = Content(generation, len(data), content, file)
        return self.replace(caller, space, key, new, staged, expected, token)

    def replace(
        self,
        caller: Principal,
        space: str,
        key: str,
        new: NewObject,
        content: Content,
        expected: Precondition,
        token: RequestToken | None,
    ) -> tuple[StoredObject, bool]:
        """Store an object of encoded content; arguments and errors are those of `put`.

        Raises:
            ConditionFailed: another request may have completed the upload.
        """
        rules.assert_key(key, "key")
        generation, is_staged = content.generation, content.file is None
        backoff = Backoff(BUSY, attempts=ATTEMPTS)
        while True:
            found, now = self._find(caller, space, key), self._clock()
            authorize(caller, WRITE_OBJECTS, SpaceTarget(space, found.space))
            if _is_written(found.present, content, token):
                return found.present, found.present.created_at == found.present.updated_at
            rules.assert_precondition(found.present, expected)
            if content.is_completed:
                raise VersionMismatch("this upload was completed before; begin another one")
            made = found.space or rules.build_space(space, caller.id, now)
            stored = _build_object(caller, made, key, new, found, content, now, token)
            if content.file is not None and not is_staged:
                self._store.stage(caller.tenant, space, generation, content.file, now)
                is_staged = True
            further = [] if found.space else [put_space(caller.tenant, None, made)]
            further += self._record(caller, WRITE_OBJECTS, space, [found.present])
            item = describe(caller.tenant, stored) | content.attributes
            try:
                self._store.put(item, found.item, now, further)
            except ConditionFailed:
                if content.is_uploaded:
                    raise
                backoff.wait()
            else:
                return stored, found.present is None

    @retry_on(ConditionFailed, BUSY, attempts=ATTEMPTS)
    def rename(
        self,
        caller: Principal,
        space: str,
        wanted: ObjectRename,
        expected: Precondition,
        token: RequestToken,
    ) -> StoredObject:
        """Rename an object without copying its bytes.

        Args:
            expected: the conditions of If-Match.

        Raises:
            NotFound: no object has the former key.
            EntryExists: another object has the new key, and `replace` isn't given.
            VersionMismatch: it isn't at the expected version.
        """
        rules.assert_key(wanted.source, "from")
        rules.assert_key(wanted.target, "to")
        if wanted.source == wanted.target:
            raise ValidationFailed("to", "must differ from the present key")
        keys, now = (wanted.source, wanted.target), self._clock()
        made, items = self._store.find(caller.tenant, space, keys)
        if made is None and find_owner(space) is None:
            raise rules.build_not_found()
        authorize(caller, WRITE_OBJECTS, SpaceTarget(space, made))
        moved, replaced = (self._find_live(caller, items.get(each), now) for each in keys)
        if replaced is not None and token.matches(replaced.request):
            return replaced
        rules.assert_precondition(moved, expected)
        new = rules.rename_object(moved, replaced, wanted, now, secrets.randbelow(1000))
        new = new._replace(created_by=caller.id, request=token.stored)
        records = self._record(caller, WRITE_OBJECTS, space, [moved, replaced])
        source, old = items[wanted.source], items.get(wanted.target)
        self._store.rename(caller.tenant, new, source, old, now, records)
        return new

    @retry_on(ConditionFailed, BUSY, attempts=ATTEMPTS)
    def delete(self, caller: Principal, space: str, key: str, expected: Precondition) -> None:
        """Delete an object.

        Raises:
            NotFound: there is none.
            VersionMismatch: it isn't at the expected version.
        """
        rules.assert_key(key, "key")
        found, now = self._find(caller, space, key), self._clock()
        if found.space is None and find_owner(space) is None:
            raise rules.build_not_found()
        authorize(caller, DELETE_OBJECTS, SpaceTarget(space, found.space))
        rules.assert_precondition(found.present, expected)
        if found.present is None or found.item is None:
            raise rules.build_not_found()
        records = self._record(caller, DELETE_OBJECTS, space, [found.present])
        self._store.delete([found.item], now, records)

    def delete_prefix(self, caller: Principal, space: str, prefix: str) -> tuple[int, bool]:
        """Delete all objects with a prefix; return their number, and whether none are left.

        It stops after 15 seconds. Each of its transactions deletes up to 20 objects.
        """
        made = self._store.get_space(caller.tenant, space)
        if made is None and find_owner(space) is None:
            return 0, True
        authorize(caller, DELETE_OBJECTS, SpaceTarget(space, made))
        deadline, deleted = time.monotonic() + _DELETE_SECONDS, 0
        for group in self._group(caller, space, prefix):
            if time.monotonic() > deadline:
                return deleted, False
            deleted += self._delete_group(caller, space, group)
        return deleted, True

    def _group(self, caller: Principal, space: str, prefix: str) -> Iterator[list[Item]]:
        items = self._store.list_items(caller.tenant, space, prefix, None, _DELETED_AT_ONCE * 5)
        while group := list(islice(items, _DELETED_AT_ONCE)):
            yield group

    def _delete_group(self, caller: Principal, space: str, group: list[Item]) -> int:
        """Delete the present objects; return the number of unexpired ones."""
        backoff = Backoff(BUSY, attempts=ATTEMPTS)
        while group:
            now = self._clock()
            live = [decode_description(each) for each in group if not is_expired(each, now)]
            try:
                self._store.delete(group, now, self._record(caller, DELETE_OBJECTS, space, live))
            except ConditionFailed:
                backoff.wait()
                keys = [decode_description(each).key for each in group]
                group = list(self._store.find(caller.tenant, space, keys)[1].values())
            else:
                return len(live)
        return 0

    def remove_expired(self, item: Item) -> bool:
        """Remove an expired object; return False if it was changed since it was read."""
        now = self._clock()
        if not is_expired(item, now):
            return False
        try:
            self._store.delete([item], now)
        except ConditionFailed:
            return False
        return True

    def _find(self, caller: Principal, space: str, key: str) -> _Found:
        made, items = self._store.find(caller.tenant, space, [key])
        item = items.get(key)
        return _Found(made, item, self._find_live(caller, item, self._clock()))

    def _find_live(self, caller: Principal, item: Item | None, now: int) -> StoredObject | None:
        if item is None or is_expired(item, now):
            return None
        return self._store.decode(caller.tenant, item)

    def _record(
        self,
        caller: Principal,
        action: Action[SpaceTarget],
        space: str,
        changed: Sequence[StoredObject | None],
    ) -> list[Write]:
        """Record the changes of a write to other principals' objects, by their keys."""
        others = [each for each in changed if each is not None and each.created_by != caller.id]
        if not others:
            return []
        before = {"objects": [{"key": each.key, "version": each.version} for each in others]}
        return [self._audit.record(caller, action, f"object-space:{space}", before)]


def _build_object(
    caller: Principal,
    space: Space,
    key: str,
    new: NewObject,
    found: _Found,
    content: Content,
    now: int,
    token: RequestToken | None,
) -> StoredObject:
    stored = None if found.item is None else decode_description(found.item)
    return StoredObject(
        space=space.name,
        key=key,
        version=rules.compute_version(stored, now, secrets.randbelow(1000)),
        size=content.size,
        content_type=new.content_type,
        metadata=new.metadata,
        sensitivity=new.sensitivity,
        created_by=caller.id,
        created_at=now if found.present is None else found.present.created_at,
        updated_at=now,
        expires_at=compute_expiry(new.ttl, None, now),
        generation=content.generation,
        owner=space.owner,
        request=None if token is None else token.stored,
    )


def _is_written(
    present: StoredObject | None, content: Content, token: RequestToken | None
) -> TypeGuard[StoredObject]:
    """Tell whether this request, or the upload that it completes, has written the object."""
    if present is None:
        return False
    is_its_write = present.generation == content.generation
    return is_its_write or (token is not None and token.matches(present.request))
