"""Decide on writes of objects, parts of them, and permissions of spaces; pure."""

import re
from dataclasses import replace

from functions.namespaces.model import USERS, Namespace, NamespaceTarget, list_spellings
from functions.namespaces.rules import change_permissions
from functions.objects.model import Precondition, Space, StoredObject
from functions.objects.requests import ObjectRename, SpaceChange
from functions.platform import limits
from functions.platform.errors import (
    EntryExists,
    NotFound,
    RangeNotSatisfiable,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken

_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII | re.IGNORECASE)
_MOST_DIGITS = 18  # of a position; no object has so large a size
_VERSIONS_PER_MS = 1000
_SLASHES = ("/", "%2F")


def is_about(user_id: str, space: str, key: str = "") -> bool:
    """Tell whether a space, or an object in the space `users`, is about a person by its name.

    Its name is `users/{user_id}`, or begins with `users/{user_id}/`; a slash may be encoded.
    """
    spellings = list_spellings(user_id)
    roots = [f"{USERS}{slash}{each}" for each in spellings for slash in _SLASHES]
    below = tuple(f"{root}{slash}" for root in roots for slash in _SLASHES)
    is_below_key = space == USERS and key.startswith(tuple(f"{each}/" for each in spellings))
    return is_below_key or space in roots or space.startswith(below)


def assert_key(key: str, field: str) -> None:
    """Check an object's key."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError as error:
        raise ValidationFailed(field, "must be UTF-8") from error
    if not 0 < size <= limits.MAX_OBJECT_KEY_BYTES:
        raise ValidationFailed(field, f"must have 1 to {limits.MAX_OBJECT_KEY_BYTES} UTF-8 bytes")


def compute_version(old: StoredObject | None, now: int, random: int) -> int:
    """Compute the version of a new write, which exceeds all earlier versions of the key.

    It begins with the time, so that no version repeats after a deletion.

    Args:
        old: the replaced object.
        random: distinguishes writes of one millisecond; 0 to 999.
    """
    version = now * _VERSIONS_PER_MS + random % _VERSIONS_PER_MS
    return version if old is None else max(version, old.version + 1)


def assert_precondition(present: StoredObject | None, expected: Precondition) -> None:
    """Check If-Match and If-None-Match against the present object."""
    if present is None:
        if expected.version is not None:
            raise build_not_found()
        return
    if expected.must_not_exist:
        raise EntryExists("an object with this key exists", version=present.version)
    if expected.version not in (None, present.version):
        raise VersionMismatch.of("the object", present.version)


def rename_object(
    moved: StoredObject | None,
    replaced: StoredObject | None,
    wanted: ObjectRename,
    now: int,
    random: int,
) -> StoredObject:
    """Return an object under its new key.

    Args:
        moved: the object with the former key.
        replaced: the object with the new key.
        random: as in `compute_version`.
    """
    if moved is None:
        raise build_not_found()
    if replaced is not None and not wanted.overwrite:
        raise EntryExists("an object with the new key exists", version=replaced.version)
    version = max(compute_version(old, now, random) for old in (moved, replaced))
    return moved._replace(key=wanted.target, version=version, updated_at=now)


def build_not_found() -> NotFound:
    """Build the error of a key without an object."""
    return NotFound("this space has no object with this key")


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Parse a Range header into the first byte and the one after the last (RFC 9110 §14).

    Returns:
        None to send all bytes: no header, or another one than a single range of bytes.
    """
    match = None if header is None else _RANGE.fullmatch(header.replace(" ", ""))
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, end = max(size - _parse_position(last), 0), size
    else:
        start = _parse_position(first)
        end = min(_parse_position(last) + 1, size) if last else size
        if last and _parse_position(last) < start:
            return None
    if start >= size:
        raise RangeNotSatisfiable(size)
    return start, end


def _parse_position(digits: str) -> int:
    """Parse a position of a range; a number of too many digits becomes a large one."""
    return int(digits.lstrip("0")[:_MOST_DIGITS] or "0")


def limit_address_seconds(stored: StoredObject, now: int) -> int:
    """Limit the time of an object's address: it ends with the object at the latest."""
    if stored.expires_at is None:
        return limits.DOWNLOAD_ADDRESS_SECONDS
    return max(1, min(limits.DOWNLOAD_ADDRESS_SECONDS, (stored.expires_at - now) // 1000))


def build_space(name: str, owner: str, now: int, version: int = 1) -> Space:
    """Build a space that only its owner can access."""
    return Space(owner, Namespace(name, "none", {owner: "admin"}, version, now, now))


def change_space(
    space: Space | None, name: str, owner: str, change: SpaceChange, now: int, token: RequestToken
) -> Space:
    """Return a space with changed permissions; create it if it does not exist."""
    before = space or build_space(name, owner, now, 0)
    target = NamespaceTarget(name, before.permissions)
    changed = change_permissions(target, change.permissions, now, token)
    return Space(before.owner, replace(changed, default=changed.default or "none"))
