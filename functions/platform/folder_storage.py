"""Store files in a folder, as a bucket does in the cloud.

In the cloud, S3 signs and checks the addresses of files. Here an address holds what it permits for
some minutes, and a message authentication code of that under a key of the deployment.
"""

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from functions.platform.archive_storage import Address
from functions.platform.clock import Clock
from functions.platform.encryption import Cipher
from functions.platform.errors import Unavailable
from functions.platform.macs import SignedTexts

FILES_PATH = "/files/"
_ENCRYPTED = ".encrypted"
_KEY_LENGTH_BYTES = 2  # before the wrapped data key of an encrypted file
_CIPHER_BYTES = 28  # that a ciphertext has more than its plaintext: nonce and tag
_VERSION = 1  # of what is encrypted: a name is written once


class FileGrant(NamedTuple):
    """Tells what an address permits.

    Attributes:
        name: of the file.
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
        addresses: signs what addresses permit.
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
        """Store data under a name that nothing has; whether nothing had it."""
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
            raise Unavailable("the storage no longer has this") from error

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
        """Return what a path permits; None if it wasn't signed, has expired, or permits another."""
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
