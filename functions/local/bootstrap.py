"""Prepare the data folder and the tables, and build the functions."""

import base64
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from functions.api.app import App
from functions.container import Container
from functions.identity.api_keys import create_api_key
from functions.local.data_folder import DataFolder
from functions.local.database import ensure_tables
from functions.local.file_server import FileServer
from functions.local.gateway import Handler
from functions.local.settings import LocalSettings, StartupError
from functions.namespaces.service import MEMORY_OF_USERS
from functions.platform.clock import Clock, now_ms
from functions.platform.deployment_secret import NewerDataError
from functions.platform.errors import NotFound
from functions.platform.openai_endpoint import OpenAiEndpoint
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import (
    ApiSettings,
    ScheduleSettings,
    Settings,
    StreamSettings,
    WrongSetting,
)
from functions.schedule.handler import build_handler as build_schedule_handler
from functions.stream.consumers import ALL_CONSUMERS
from functions.stream.handler import build_handler as build_stream_handler

TENANT, ADMIN = "default", "admin"
API_KEY_FILE, ADDRESS_FILE = "api-key", "address"
MEMORY_TABLE, LOG_TABLE = "agent-memory", "agent-memory-log"
LOG_WAIT_SECONDS = 2.0


class FirstPrincipal(NamedTuple):
    """The first principal of the tenant `default`.

    Attributes:
        api_key: the key in the data folder.
        key_works: False if that key was rotated or revoked.
    """

    api_key: str
    key_works: bool


def prepare(settings: LocalSettings, folder: DataFolder) -> FirstPrincipal:
    """Create the keys, the tables and the tenant `default` unless they exist."""
    api_settings = _api_settings(settings, folder)
    api_key = folder.secret(API_KEY_FILE, create_api_key)
    ensure_tables(build_memory_table(MEMORY_TABLE), build_log_table(LOG_TABLE))
    try:
        services = Container(api_settings)
        services.deployment_secret.raise_version()  # no other release runs on this folder
        key_works = services.identity.ensure_tenant(TENANT, ADMIN, api_key)
        _close_memory_of_users(services)
        return FirstPrincipal(api_key, key_works)
    except NewerDataError as error:
        raise StartupError(f"the data folder {folder.path} can't be used: {error}") from error


def _close_memory_of_users(services: Container) -> None:
    """Set the rule for `users/*` in the first tenant, unless it has one: only its admin writes."""
    if services.namespace_store.get(TENANT, MEMORY_OF_USERS) is not None:
        return
    with suppress(NotFound):  # a former admin
        services.namespaces.close_users(services.identity.get_principal(TENANT, ADMIN))


@dataclass(frozen=True)
class LocalFunctions:
    """Builds the functions.

    Attributes:
        clock: returns the time in epoch ms.
        log_wait_seconds: as in the functions' settings; 0 if no thread reads the stream.
        dynamodb: the client of the tables; None creates one for each function.
    """

    settings: LocalSettings
    folder: DataFolder
    clock: Clock = now_ms
    log_wait_seconds: float = 0
    dynamodb: Any = None

    def build_api(self) -> Handler:
        """Build the API function."""
        settings = _api_settings(self.settings, self.folder)
        return App(self._build(replace(settings, log_wait_seconds=self.log_wait_seconds)))

    def build_files(self) -> FileServer:
        """Build the server of large objects' addresses."""
        return FileServer(self._build(_api_settings(self.settings, self.folder)).folder_storage)

    def build_stream(self, consumers: Iterable[str] = ALL_CONSUMERS) -> Handler:
        """Build the stream function with some consumers."""
        settings = StreamSettings(
            memory_table=MEMORY_TABLE,
            log_table=LOG_TABLE,
            log_retention_days=self.settings.log_retention_days,
            stream_consumers=",".join(consumers),
            learning_url=self.settings.model_url,
            learning_key=self.settings.model_key,
            **_model_settings(self.settings),
        )
        return build_stream_handler(self._build(settings))

    def build_schedule(self) -> Handler:
        """Build the scheduled function."""
        settings = ScheduleSettings(
            memory_table=MEMORY_TABLE,
            log_table=LOG_TABLE,
            archive_folder=str(build_archive_path(self.folder)),
            encryption_key_file=_encryption_key(self.folder),
            log_retention_days=self.settings.log_retention_days,
            log_wait_seconds=self.log_wait_seconds,
            **_embedding_settings(self.settings),
        )
        return build_schedule_handler(self._build(settings))

    def _build(self, own: Settings) -> Container:
        """Build the container of a function, which reaches models from the private network."""
        settings, container = self.settings, Container(own, self.clock, self.dynamodb)
        if settings.model_url is not None and settings.model_socket is not None:
            container.learning_endpoint = OpenAiEndpoint(
                settings.model_url, lambda: settings.model_key, 60, settings.model_socket
            )
        if settings.embedding_url is not None and settings.embedding_socket is not None:
            container.embedding_endpoint = OpenAiEndpoint(
                settings.embedding_url,
                lambda: settings.embedding_key,
                10,
                settings.embedding_socket,
            )
        return container


def _api_settings(settings: LocalSettings, folder: DataFolder) -> ApiSettings:
    try:
        return ApiSettings(
            memory_table=MEMORY_TABLE,
            log_table=LOG_TABLE,
            root_key=settings.root_key or folder.secret("root-key", create_api_key),
            encryption_key_file=_encryption_key(folder),
            openwop=settings.openwop,
            searchable_conversations=int(settings.searchable_conversations),
            log_retention_days=settings.log_retention_days,
            principal_requests_per_minute=settings.principal_requests_per_minute,
            tenant_requests_per_minute=settings.tenant_requests_per_minute,
            archive_folder=str(build_archive_path(folder)),
            **_model_settings(settings),
        )
    except WrongSetting as error:
        name = "" if "EMBEDDING" in str(error) else f"{folder.path / 'root-key'}: "
        raise StartupError(f"{name}{error}") from error


def _model_settings(settings: LocalSettings) -> dict[str, Any]:
    return _embedding_settings(settings) | {
        "learning_model": None if settings.model_url is None else f"openai:{settings.model}",
        "learning_tokens_per_day": settings.model_tokens_per_day,
        "learning_requests_per_day": settings.model_requests_per_day,
    }


def _embedding_settings(settings: LocalSettings) -> dict[str, Any]:
    names = ("embedding_model", "embedding_url", "embedding_key", "embedding_dimensions")
    return {name: getattr(settings, name) for name in names}


def build_archive_path(folder: DataFolder) -> Path:
    """Build the path of the folder of archives and large objects."""
    return folder.path / "archive"


def _encryption_key(folder: DataFolder) -> str:
    """Return the path of the file with the key of sensitive values; create it if it is missing."""
    folder.secret("encryption-key", _new_encryption_key)
    return str(folder.path / "encryption-key")


def _new_encryption_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()
