"""The secret of the deployment, from which keys of message authentication codes are derived.

It is random, created at its first use, and stored in the table, encrypted. It does not depend on
other keys: signed texts stay valid when the root key changes, and a reader of the table learns
nothing.

Its item has the version of the deployment's data. A release reads data of its version and of all
earlier ones. The operator raises the version when earlier releases must no longer run.
"""

import hmac
import secrets

from functions.platform.encryption import Cipher
from functions.platform.errors import Unavailable
from functions.platform.item_types import DATA_VERSION, DEPLOYMENT_SECRET
from functions.platform.items import Item
from functions.platform.table import ConditionFailed, Table
from functions.platform.values import ValueCodec
from functions.platform.writes import put_new, update

_BYTES = 32
_OWNER = DEPLOYMENT_SECRET.partition  # the context under which the key service encrypts the secret
_NAME, _VERSION = "secret", 1  # a further part of the context


class NewerDataError(Unavailable):
    """The data has a version that only later releases read."""


class DeploymentSecret:
    """Reads the secret at its first use, or creates it: one call, or two to create it.

    Args:
        is_maker: whether this function creates the secret; others wait for it.
    """

    def __init__(self, table: Table, cipher: Cipher, *, is_maker: bool) -> None:
        self._table = table
        self._values = ValueCodec(cipher)
        self._is_maker = is_maker
        self._secret = b""
        self._keys: dict[bytes, bytes] = {}

    def derive_key(self, purpose: bytes) -> bytes:
        """Derive the key of a purpose, at its first use; it is always the same."""
        key = self._keys.get(purpose)
        if key is None:
            self._secret = self._secret or self._read()
            key = self._keys[purpose] = hmac.digest(self._secret, purpose, "sha256")
        return key

    def check_version(self) -> None:
        """Check that this release reads the data: one call."""
        self._get()

    def raise_version(self, version: int = DATA_VERSION) -> None:
        """Set the version of the data; releases that don't read it reject requests."""
        item = self._get() or self._create()
        if item.get("data_version", 1) < version:
            key = DEPLOYMENT_SECRET.build_key()
            self._table.update(update(key, "SET data_version = :version", version=version))

    def _read(self) -> bytes:
        item = self._get() or self._create()
        if "data_key" not in item:  # a codec takes plain values, too, and anyone could choose one
            raise Unavailable("the deployment's secret is not one that this service encrypted")
        return self._values.decode(item, _OWNER, _NAME, _VERSION)

    def _get(self) -> Item | None:
        item = self._table.get(DEPLOYMENT_SECRET.build_key())
        stored = (item or {}).get("data_version", 1)
        if stored > DATA_VERSION:
            raise NewerDataError(
                f"this data has version {stored}, and this release reads it up to version "
                f"{DATA_VERSION}: start a later release"
            )
        return item

    def _create(self) -> Item:
        """Store a new secret, unless another function has; return the stored one."""
        if not self._is_maker:
            raise Unavailable("the deployment has no secret yet; call its API once to create it")
        created = self._values.encrypt(secrets.token_bytes(_BYTES), _OWNER, _NAME, _VERSION)
        created |= {"data_version": DATA_VERSION}
        key = DEPLOYMENT_SECRET.build_key()
        try:
            self._table.put(put_new(key, created))
        except ConditionFailed:
            return self._table.get(key) or created
        return created
