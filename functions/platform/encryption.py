"""Encrypt sensitive values (RFC-0015 §9.2) by AES-256-GCM under data keys.

A data key is created and wrapped by KMS in the cloud and by a key file on a laptop. The ciphertext
is bound to tenant, entry id and version, so a copy under another key can't be decrypted.
"""

import base64
import secrets
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from botocore.exceptions import ClientError

from functions.platform.aws import translate_aws_errors
from functions.platform.errors import UnreadableValue

_NONCE_BYTES = 12
_USES_PER_KEY = 10_000  # uses of a key; far below the 2^32 at which random nonces collide
_CACHED_KEYS = 1_000


class DataKeys(Protocol):
    """Create data keys for a tenant, and unwrap them."""

    def create(self, tenant: str) -> tuple[bytes, bytes]:
        """Create a data key: its 32 bytes, plain and wrapped."""

    def unwrap(self, tenant: str, wrapped: bytes) -> bytes:
        """Unwrap a data key."""


class FileKeys:
    """Wrap data keys with the 32 bytes, in base64, of a local file."""

    def __init__(self, path: Path) -> None:
        self._master = base64.b64decode(path.read_bytes(), validate=True)

    def create(self, tenant: str) -> tuple[bytes, bytes]:
        plain = secrets.token_bytes(32)
        return plain, _encrypt(self._master, plain, tenant.encode())

    def unwrap(self, tenant: str, wrapped: bytes) -> bytes:
        return _decrypt(self._master, wrapped, tenant.encode())


class KmsKeys:
    """Wrap data keys with a KMS key, bound to the tenant by the encryption context."""

    def __init__(self, client: Any, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def create(self, tenant: str) -> tuple[bytes, bytes]:
        response = self._call("generate_data_key", tenant, KeySpec="AES_256")
        return response["Plaintext"], response["CiphertextBlob"]

    def unwrap(self, tenant: str, wrapped: bytes) -> bytes:
        plain: bytes = self._call("decrypt", tenant, CiphertextBlob=wrapped)["Plaintext"]
        return plain

    def _call(self, operation: str, tenant: str, **request: Any) -> dict[str, Any]:
        context = {"tenant": tenant}
        with translate_aws_errors("the key service"):
            try:
                response: dict[str, Any] = getattr(self._client, operation)(
                    KeyId=self._key_id, EncryptionContext=context, **request
                )
            except ClientError as error:
                if error.response["Error"]["Code"] == "InvalidCiphertextException":
                    raise UnreadableValue from error
                raise
        return response


@dataclass(slots=True)
class _Current:
    plain: bytes
    wrapped: bytes
    uses: int = 0


class Cipher:
    """Encrypt and decrypt values; cache data keys, so that most calls need no KMS."""

    def __init__(self, keys: DataKeys) -> None:
        self._keys = keys
        self._lock = Lock()
        self._current: dict[str, _Current] = {}
        self._unwrap = lru_cache(_CACHED_KEYS)(keys.unwrap)

    def encrypt(
        self, plain: bytes, tenant: str, entry_id: str, version: int
    ) -> tuple[bytes, bytes]:
        """Encrypt a value into the ciphertext and the wrapped data key to store with it."""
        current = self._get_current_key(tenant)
        return _encrypt(current.plain, plain, _bind(tenant, entry_id, version)), current.wrapped

    def decrypt(
        self, ciphertext: bytes, wrapped: bytes, tenant: str, entry_id: str, version: int
    ) -> bytes:
        """Decrypt a value."""
        key = self._unwrap(tenant, wrapped)
        return _decrypt(key, ciphertext, _bind(tenant, entry_id, version))

    def _get_current_key(self, tenant: str) -> _Current:
        with self._lock:
            current = self._current.get(tenant)
            if current is None or current.uses >= _USES_PER_KEY:
                current = self._current[tenant] = _Current(*self._keys.create(tenant))
            current.uses += 1
            return current


def _bind(tenant: str, entry_id: str, version: int) -> bytes:
    return f"{tenant}\n{entry_id}\n{version}".encode()


def _encrypt(key: bytes, plain: bytes, associated: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 30 ms

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, associated)


def _decrypt(key: bytes, ciphertext: bytes, associated: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - 30 ms
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 30 ms

    try:
        return AESGCM(key).decrypt(ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], associated)
    except (InvalidTag, ValueError) as error:
        raise UnreadableValue from error
