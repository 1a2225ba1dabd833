"""Encryption of sensitive values (RFC-0015 §9.2): AES-256-GCM under data keys of their own.

A data key is made and wrapped by KMS in the cloud and by a key file on a laptop. The ciphertext is
bound to tenant, entry id and version, so one copied to another place doesn't open.
"""

import base64
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.errors import Unavailable

_NONCE_BYTES = 12
_USES_PER_KEY = 10_000  # far below the 2^32 messages at which random nonces begin to meet
_REMEMBERED_KEYS = 1_000


class DataKeys(Protocol):
    """Makes data keys for a tenant, and opens the wrapped ones again."""

    def new(self, tenant: str) -> tuple[bytes, bytes]:
        """A fresh data key: 32 bytes in plain, and wrapped."""

    def unwrap(self, tenant: str, wrapped: bytes) -> bytes:
        """The plain data key."""


class FileKeys:
    """Data keys wrapped under the 32 bytes, in base64, of a local file."""

    def __init__(self, path: Path) -> None:
        self._master = base64.b64decode(path.read_bytes(), validate=True)

    def new(self, tenant: str) -> tuple[bytes, bytes]:
        plain = secrets.token_bytes(32)
        return plain, _encrypt(self._master, plain, tenant.encode())

    def unwrap(self, tenant: str, wrapped: bytes) -> bytes:
        return _decrypt(self._master, wrapped, tenant.encode())


class KmsKeys:
    """Data keys wrapped by a KMS key, bound to the tenant by the encryption context."""

    def __init__(self, client: Any, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def new(self, tenant: str) -> tuple[bytes, bytes]:
        answer = self._call("generate_data_key", tenant, KeySpec="AES_256")
        return answer["Plaintext"], answer["CiphertextBlob"]

    def unwrap(self, tenant: str, wrapped: bytes) -> bytes:
        plain: bytes = self._call("decrypt", tenant, CiphertextBlob=wrapped)["Plaintext"]
        return plain

    def _call(self, operation: str, tenant: str, **request: Any) -> dict[str, Any]:
        context = {"tenant": tenant}
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(
                KeyId=self._key_id, EncryptionContext=context, **request
            )
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("the key service did not answer; try again in a second") from error
        return answer


@dataclass(slots=True)
class _Current:
    plain: bytes
    wrapped: bytes
    uses: int = 0


class Cipher:
    """Seals and opens values; remembers data keys, so that most calls need no KMS."""

    def __init__(self, keys: DataKeys) -> None:
        self._keys = keys
        self._lock = Lock()
        self._current: dict[str, _Current] = {}
        self._opened: OrderedDict[tuple[str, bytes], bytes] = OrderedDict()

    def seal(self, plain: bytes, tenant: str, entry_id: str, version: int) -> tuple[bytes, bytes]:
        """The ciphertext of a value, and the wrapped data key to keep beside it."""
        current = self._sealing_key(tenant)
        return _encrypt(current.plain, plain, _bound(tenant, entry_id, version)), current.wrapped

    def open(
        self, sealed: bytes, wrapped: bytes, tenant: str, entry_id: str, version: int
    ) -> bytes:
        """The value that was sealed for exactly this tenant, entry and version.

        Raises:
            cryptography.exceptions.InvalidTag: it was not.
        """
        return _decrypt(
            self._opening_key(tenant, wrapped), sealed, _bound(tenant, entry_id, version)
        )

    def _sealing_key(self, tenant: str) -> _Current:
        with self._lock:
            current = self._current.get(tenant)
            if current is None or current.uses >= _USES_PER_KEY:
                current = self._current[tenant] = _Current(*self._keys.new(tenant))
            current.uses += 1
            return current

    def _opening_key(self, tenant: str, wrapped: bytes) -> bytes:
        with self._lock:
            plain = self._opened.get((tenant, wrapped))
        if plain is None:
            plain = self._keys.unwrap(tenant, wrapped)
            with self._lock:
                self._opened[tenant, wrapped] = plain
                if len(self._opened) > _REMEMBERED_KEYS:
                    self._opened.popitem(last=False)
        return plain


def _bound(tenant: str, entry_id: str, version: int) -> bytes:
    return f"{tenant}\n{entry_id}\n{version}".encode()


def _encrypt(key: bytes, plain: bytes, bound: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 30 ms

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, bound)


def _decrypt(key: bytes, sealed: bytes, bound: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 30 ms

    return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)
