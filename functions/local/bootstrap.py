"""From an empty data folder to a service that answers."""

import base64
import secrets
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Any

from functions.api.app import App
from functions.container import Container
from functions.local.data_folder import DataFolder
from functions.local.database import Database, ensure_tables
from functions.local.failure import CannotServe
from functions.local.gateway import Handler
from functions.local.settings import LocalSettings
from functions.platform.clock import Clock, now_ms
from functions.platform.identity_keys import new_api_key
from functions.platform.schema import log_table, memory_table
from functions.platform.settings import (
    ApiSettings,
    ScheduleSettings,
    StreamSettings,
    WrongSetting,
)
from functions.schedule import handler as schedule
from functions.stream import handler as stream

MEMORY_TABLE, LOG_TABLE = "agent-memory", "agent-memory-log"
TENANT, ADMIN = "default", "admin"
_LIFECYCLE = StreamSettings(memory_table=MEMORY_TABLE, log_table=LOG_TABLE)
API_KEY_FILE = "api-key"


@dataclass(frozen=True, slots=True)
class Service:
    """What is ready to be served; nothing has called it yet, so that forked processes may copy it.

    Copies share no connection, since a first call makes it, and tell each other of changed keys.

    Attributes:
        handler: the API function, made safe for threads.
        maintenance: the scheduled function, likewise.
        lifecycle: the stream function, likewise.
        api_key: the key of the tenant `default`'s first principal.
        key_works: False once that key was rotated or revoked.
    """

    handler: Handler
    maintenance: Handler
    lifecycle: Handler
    api_key: str
    key_works: bool


def prepare(
    settings: LocalSettings, folder: DataFolder, database: Database, clock: Clock = now_ms
) -> Service:
    """Makes what is missing (keys, tables, the tenant `default`) and builds the handler.

    Raises:
        CannotServe: a key file or the database can't be used.
    """
    api_settings = _api_settings(settings, folder)
    api_key = folder.secret(API_KEY_FILE, new_api_key)
    ensure_tables(memory_table(MEMORY_TABLE), log_table(LOG_TABLE))
    principals = Container(api_settings, clock).identity
    key_works = principals.ensure_tenant(TENANT, ADMIN, api_key)
    lock: AbstractContextManager[Any] = Lock() if database.simulated else nullcontext()
    return Service(
        _in_turn(App(Container(api_settings, clock)), lock),
        _in_turn(
            schedule.build_handler(Container(_maintenance_settings(folder, database), clock)), lock
        ),
        _in_turn(stream.build_handler(Container(_LIFECYCLE, clock)), lock),
        api_key,
        key_works,
    )


def _maintenance_settings(folder: DataFolder, database: Database) -> ScheduleSettings:
    threads: dict[str, Any] = {"sweep_threads": 1} if database.simulated else {}
    return ScheduleSettings(
        memory_table=MEMORY_TABLE, log_table=LOG_TABLE, archive_folder=_archive(folder), **threads
    )


def _archive(folder: DataFolder) -> str:
    return str(folder.path / "archive")


def _api_settings(settings: LocalSettings, folder: DataFolder) -> ApiSettings:
    folder.secret("encryption-key", _encryption_key)
    try:
        return ApiSettings(
            memory_table=MEMORY_TABLE,
            log_table=LOG_TABLE,
            root_key=settings.root_key or folder.secret("root-key", new_api_key),
            encryption_key_file=str(folder.path / "encryption-key"),
            openwop=settings.openwop,
            archive_folder=_archive(folder),
        )
    except WrongSetting as error:
        raise CannotServe(f"{folder.path / 'root-key'}: {error}") from error


def _encryption_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


def _in_turn(handler: Handler, lock: AbstractContextManager[Any]) -> Handler:
    def serialised(event: dict[str, Any], context: object) -> dict[str, Any]:
        with lock:
            return handler(event, context)

    return serialised
