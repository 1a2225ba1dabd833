"""What the rooms' services stand on, made once per function; each service at its first use."""

from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.aws import client, client_later
from functions.platform.clock import Clock
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.errors import Unavailable
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
    """

    def __init__(self, settings: ApiSettings, clock: Clock) -> None:
        dynamodb = client("dynamodb")
        self.settings = settings
        self.clock = clock
        self.table = Table(dynamodb, settings.memory_table)
        self.log_table = Table(dynamodb, settings.log_table)
        self.cipher = _cipher(settings)
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


def root_key(services: Services) -> str:
    """The operator's key. Requests with a good key of a principal's need it seldom.

    Raises:
        Unavailable: Secrets Manager did not answer.
    """
    settings = services.settings
    if settings.root_key is not None:
        return settings.root_key
    try:
        secret = client("secretsmanager").get_secret_value(SecretId=settings.root_key_secret_id)
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("the root key's store did not answer; try again in a second") from error
    return str(secret["SecretString"])
