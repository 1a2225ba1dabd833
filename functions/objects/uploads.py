"""Use cases of uploads: a client sends bytes to a signed address, not through a function.

A client begins an upload, sends its bytes to the address, and completes it by a PUT of an object,
in one write.
"""

from dataclasses import dataclass

from functions.authorization.rules import authorize
from functions.identity.model import Principal
from functions.objects.authority import WRITE_OBJECTS
from functions.objects.file_store import ObjectFiles
from functions.objects.model import NewObject, ObjectUpload, Precondition, SpaceTarget, StoredObject
from functions.objects.requests import NewObjectUpload
from functions.objects.service import ATTEMPTS, BUSY, Content, Objects
from functions.objects.store import ObjectStore
from functions.platform.archive_storage import Address
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import OBJECT
from functions.platform.limits import UPLOAD_ADDRESS_SECONDS, UPLOAD_LIFETIME
from functions.platform.retry import retry_on
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.table import ConditionFailed

UPLOAD_HEADER = "X-Object-Upload"


@dataclass(eq=False)
class ObjectUploads:
    """The uploads of a caller's tenant; only the principal that began one completes it."""

    _objects: Objects
    _store: ObjectStore
    _files: ObjectFiles
    _clock: Clock

    def begin(
        self, caller: Principal, space: str, new: NewObjectUpload, token: RequestToken
    ) -> tuple[ObjectUpload, Address]:
        """Begin an upload; a repeated request returns the same one.

        Raises:
            AccessDenied: the caller may not write in the space.
            VersionMismatch: the request is repeated, and its upload was completed or has expired.
        """
        made, now = self._store.get_space(caller.tenant, space), self._clock()
        authorize(caller, WRITE_OBJECTS, SpaceTarget(space, made))
        upload = ObjectUpload(
            upload_id=token.key.hex(),
            writer=caller.id,
            size=new.size,
            is_sensitive=new.sensitivity in ENCRYPTED,
            expires_at=now + UPLOAD_LIFETIME,
            address_expires_at=now + UPLOAD_ADDRESS_SECONDS * 1000,
            request=token.stored,
        )
        partition = OBJECT.build_partition(caller.tenant, space=space)
        if not self._files.begin_upload(partition, upload):
            upload = self._find_repeated(partition, token, now)
        return upload, self._files.sign_upload(partition, upload)

    def _find_repeated(self, partition: str, token: RequestToken, now: int) -> ObjectUpload:
        upload = self._files.get_upload(partition, token.key.hex())
        is_open = upload is not None and not upload.is_completed and upload.address_expires_at > now
        if upload is None or not is_open or not token.matches(upload.request):
            raise VersionMismatch("the upload of this request has been completed or has expired")
        return upload

    @retry_on(ConditionFailed, BUSY, attempts=ATTEMPTS)
    def complete(
        self,
        caller: Principal,
        space: str,
        key: str,
        upload_id: str,
        new: NewObject,
        expected: Precondition,
        token: RequestToken | None,
    ) -> tuple[StoredObject, bool]:
        """Store an object with the bytes of an upload; arguments and errors as of `Objects.put`.

        Raises:
            NotFound: the caller has no such upload, or it has expired.
            ValidationFailed: its bytes haven't arrived, or the sensitivity differs.
        """
        partition = OBJECT.build_partition(caller.tenant, space=space)
        upload = self._files.get_upload(partition, upload_id)
        if upload is None or upload.writer != caller.id:
            raise _build_not_found()
        if not upload.is_completed:
            self._assert_ready(partition, upload, new)
        attributes = self._store.encode_upload(caller.tenant, (space, key), upload, new)
        content = Content(
            upload.upload_id,
            upload.size,
            attributes,
            is_uploaded=True,
            is_completed=upload.is_completed,
        )
        return self._objects.replace(caller, space, key, new, content, expected, token)

    def _assert_ready(self, partition: str, upload: ObjectUpload, new: NewObject) -> None:
        if upload.expires_at <= self._clock():
            raise _build_not_found()
        if upload.is_sensitive != (new.sensitivity in ENCRYPTED):
            raise ValidationFailed(UPLOAD_HEADER, "must be an upload of the same sensitivity")
        if self._files.get_size(partition, upload.upload_id) != upload.size:
            raise ValidationFailed(
                UPLOAD_HEADER, "must be an upload whose bytes have been sent to its address"
            )


def _build_not_found() -> NotFound:
    return NotFound("you have no such upload; begin one")
