"""What the rooms' services stand on, made once per function; each service at its first use."""

from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from functions.platform.aws import client, client_later
from functions.platform.clock import Clock
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.settings import ApiSettings
from functions.platform.table import Table

Service = TypeVar("Service")


class Services:
    """The tables and keys that the settings name, and the services that were built on them.

    Attributes:
        settings: the function's.
        clock: gives the time in epoch ms.
        table: holds all but the logs.
        log_table: holds the logs.
        cipher: of sensitive values.
        root_key: the operator's.
    """

    def __init__(self, settings: ApiSettings, clock: Clock) -> None:
        dynamodb = client("dynamodb")
        self.settings = settings
        self.clock = clock
        self.table = Table(dynamodb, settings.memory_table)
        self.log_table = Table(dynamodb, settings.log_table)
        self.cipher = _cipher(settings)
        self.root_key = _root_key(settings)
        self._built: dict[Callable[[Services], Any], Any] = {}
        self._lock = RLock()

    def use(self, build: Callable[["Services"], Service]) -> Service:
        """The one service that `build` makes of these."""
        if build not in self._built:
            with self._lock:
                if build not in self._built:
                    self._built[build] = build(self)
        service: Service = self._built[build]
        return service


def _cipher(settings: ApiSettings) -> Cipher:
    if settings.encryption_key_file is not None:
        return Cipher(FileKeys(Path(settings.encryption_key_file)))
    return Cipher(KmsKeys(client_later("kms"), str(settings.encryption_key_id)))


def _root_key(settings: ApiSettings) -> str:
    if settings.root_key is not None:
        return settings.root_key
    answer = client("secretsmanager").get_secret_value(SecretId=settings.root_key_secret_id)
    return str(answer["SecretString"])
