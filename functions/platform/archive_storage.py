"""Store archived conversations and large objects: in a bucket, or in a folder on a laptop.

In the cloud, S3 signs and checks the addresses of files. An address of a folder's file holds what
it permits for some minutes, with a message authentication code under a key of the deployment.
"""

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import orjson
from botocore.exceptions import ClientError

from functions.platform.aws import translate_aws_errors
from functions.platform.clock import Clock
from functions.platform.encryption import Cipher
from functions.platform.errors import Unavailable
from functions.platform.macs import SignedTexts

_MISSING = ("403", "404")  # a role that may not list gets 403 for a missing file
FILES_PATH = "/files/"
_ENCRYPTED = ".encrypted"
_KEY_LENGTH_BYTES = 2  # before the wrapped data key of an encrypted file
_CIPHER_BYTES = 28  # bytes that encryption adds: nonce and tag
_VERSION = 1  # for encryption: a name is written once


class Address(NamedTuple):
    """An address to which a client may send a file for some minutes, with required headers.

    A path without a host is on the host that was called.
    """

    url: str
    headers: dict[str, str]


class ArchiveStorage(Protocol):
    """Store bytes under names, which may have slashes.

    All methods raise `Unavailable` if the storage doesn't respond; `get` and `get_range` also if
    the name is missing.
    """

    def put(self, name: str, data: bytes) -> None:
        """Store `data` under the name, and replace earlier data."""

    def get(self, name: str) -> bytes:
        """Read the data of a name."""

    def get_range(self, name: str, start: int, end: int) -> bytes:
        """Read the bytes from `start` to before `end`."""

    def get_size(self, name: str) -> int | None:
        """Return the size of the name's data in bytes; None if there is none."""

    def delete(self, name: str) -> None:
        """Delete the data of a name, if any."""

    def sign_upload(self, name: str, size: int, seconds: int, *, is_sensitive: bool) -> Address:
        """Sign an address to which a client sends exactly `size` bytes, once.

        A second PUT is rejected with 412, so stored data never changes.
        """

    def sign_download(self, name: str, seconds: int, content_type: str) -> str:
        """Sign a URL from which a client reads a file, or a range of it."""

    def list_names(self, prefix: str) -> Iterator[str]:
        """List the names with a prefix, which ends with a slash."""


class S3ArchiveStorage:
    """Store in an S3 bucket.

    Args:
        sensitive_key: the KMS key by which S3 encrypts sensitive files uploaded to an address.
    """

    def __init__(self, s3: Any, bucket: str, sensitive_key: str | None) -> None:
        self._client = s3
        self._bucket = bucket
        self._sensitive_key = sensitive_key

    def put(self, name: str, data: bytes) -> None:
        self._call("put_object", name, Body=data)

    def get(self, name: str) -> bytes:
        data: bytes = self._call("get_object", name)["Body"].read()
        return data

    def get_range(self, name: str, start: int, end: int) -> bytes:
        asked = f"bytes={start}-{end - 1}"
        data: bytes = self._call("get_object", name, Range=asked)["Body"].read()
        return data

    def get_size(self, name: str) -> int | None:
        with translate_aws_errors("the archive"):
            try:
                found = self._client.head_object(Bucket=self._bucket, Key=name)
            except ClientError as error:
                if error.response["Error"]["Code"] in _MISSING:
                    return None
                raise
        return int(found["ContentLength"])

    def delete(self, name: str) -> None:
        self._call("delete_object", name)

    def sign_upload(self, name: str, size: int, seconds: int, *, is_sensitive: bool) -> Address:
        headers = {"If-None-Match": "*"}
        request: dict[str, Any] = {"ContentLength": size, "IfNoneMatch": "*"}
        if is_sensitive:
            headers |= {
                "x-amz-server-side-encryption": "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id": str(self._sensitive_key),
            }
            request |= {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": self._sensitive_key}
        return Address(self._sign("put_object", name, seconds, **request), headers)

    def sign_download(self, name: str, seconds: int, content_type: str) -> str:
        return self._sign("get_object", name, seconds, ResponseContentType=content_type)

    def _sign(self, operation: str, name: str, seconds: int, **request: Any) -> str:
        parameters = {"Bucket": self._bucket, "Key": name, **request}
        url: str = self._client.generate_presigned_url(operation, parameters, seconds)
        return url

    def list_names(self, prefix: str) -> Iterator[str]:
        with translate_aws_errors("the archive"):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                yield from (each["Key"] for each in page.get("Contents", ()))

    def _call(self, operation: str, name: str, **request: Any) -> dict[str, Any]:
        with translate_aws_errors("the archive"):
            response: dict[str, Any] = getattr(self._client, operation)(
                Bucket=self._bucket, Key=name, **request
            )
        return response


class FileGrant(NamedTuple):
    """The permission in an address.

    Attributes:
        expires: epoch ms.
        size: how many bytes a PUT sends.
        content_type: with which a GET is answered.
        is_sensitive: whether a PUT is stored encrypted.
    """

    method: Literal["GET", "PUT"]
    name: str
    expires: int
    size: int = 0
    content_type: str = ""
    is_sensitive: bool = False


@dataclass(eq=False)
class FolderArchiveStorage:
    """Store in a folder; a partly written file never has its name.

    Args:
        cipher: encrypts sensitive files that come by an address.
    """

    _root: Path
    _addresses: SignedTexts
    _cipher: Cipher | None
    _clock: Clock

    def put(self, name: str, data: bytes) -> None:
        path = self._root / name
        self._write(path, data).replace(path)

    def put_new(self, name: str, data: bytes, *, is_sensitive: bool) -> bool:
        """Store data under a new name; return False if the name exists."""
        path = self._root / name
        if is_sensitive:
            path, data = path.with_suffix(_ENCRYPTED), self._encrypt(name, data)
        partial = self._write(path, data)
        try:
            os.link(partial, path)
        except FileExistsError:
            return False
        finally:
            partial.unlink()
        return True

    def _write(self, path: Path, data: bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_suffix(f".{secrets.token_hex(8)}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return partial

    def get(self, name: str) -> bytes:
        path = self._root / name
        try:
            return path.read_bytes()
        except FileNotFoundError:
            pass
        try:
            return self._decrypt(name, path.with_suffix(_ENCRYPTED).read_bytes())
        except FileNotFoundError as error:
            raise Unavailable("the storage no longer has this file") from error

    def get_range(self, name: str, start: int, end: int) -> bytes:
        return self.get(name)[start:end]

    def get_size(self, name: str) -> int | None:
        path = self._root / name
        if path.exists():
            return path.stat().st_size
        encrypted = path.with_suffix(_ENCRYPTED)
        if not encrypted.exists():
            return None
        with encrypted.open("rb") as file:
            key_bytes = int.from_bytes(file.read(_KEY_LENGTH_BYTES))
        return encrypted.stat().st_size - _KEY_LENGTH_BYTES - key_bytes - _CIPHER_BYTES

    def delete(self, name: str) -> None:
        path = self._root / name
        for each in (path, path.with_suffix(_ENCRYPTED)):
            each.unlink(missing_ok=True)

    def list_names(self, prefix: str) -> Iterator[str]:
        for each in (self._root / prefix).rglob("*"):
            if each.is_file():
                yield str(each.relative_to(self._root))

    def sign_upload(self, name: str, size: int, seconds: int, *, is_sensitive: bool) -> Address:
        grant = FileGrant("PUT", name, self._clock() + seconds * 1000, size, "", is_sensitive)
        return Address(self._sign(grant), {"If-None-Match": "*"})

    def sign_download(self, name: str, seconds: int, content_type: str) -> str:
        expires = self._clock() + seconds * 1000
        return self._sign(FileGrant("GET", name, expires, content_type=content_type))

    def _sign(self, grant: FileGrant) -> str:
        return FILES_PATH + self._addresses.sign(orjson.dumps(tuple(grant)))

    def verify(self, method: str, path: str) -> FileGrant | None:
        """Return the permission in a path; None if it is unsigned, expired, or another method's."""
        text = self._addresses.verify(path.removeprefix(FILES_PATH))
        if text is None:
            return None
        grant = FileGrant(*orjson.loads(text))
        return grant if grant.method == method and grant.expires > self._clock() else None

    def _encrypt(self, name: str, data: bytes) -> bytes:
        ciphertext, wrapped = self._required_cipher.encrypt(data, _tenant(name), name, _VERSION)
        return len(wrapped).to_bytes(_KEY_LENGTH_BYTES) + wrapped + ciphertext

    def _decrypt(self, name: str, stored: bytes) -> bytes:
        start = _KEY_LENGTH_BYTES + int.from_bytes(stored[:_KEY_LENGTH_BYTES])
        wrapped, ciphertext = stored[_KEY_LENGTH_BYTES:start], stored[start:]
        return self._required_cipher.decrypt(ciphertext, wrapped, _tenant(name), name, _VERSION)

    @property
    def _required_cipher(self) -> Cipher:
        if self._cipher is None:
            raise ValueError("a sensitive file can't be used without a cipher")
        return self._cipher


def _tenant(name: str) -> str:
    return name.split("/")[1]
