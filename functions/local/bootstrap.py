"""Prepare the data folder and the tables, and build the services."""

from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from secrets import token_bytes
from typing import Any

from functions.container import Container
from functions.identity.store import create_api_key
from functions.local.data_folder import DataFolder
from functions.local.database import ensure_tables
from functions.local.settings import LocalSettings, StartupError
from functions.namespaces.service import MEMORY_OF_USERS
from functions.platform.clock import Clock, now_ms
from functions.platform.deployment_secret import NewerDataError
from functions.platform.errors import NotFound
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ApiSettings, WrongSetting

TENANT, ADMIN = "default", "admin"
API_KEY_FILE, ADDRESS_FILE = "api-key", "address"
MEMORY_TABLE, LOG_TABLE = "agent-memory", "agent-memory-log"
_LOG_WAIT_SECONDS = 2.0
_SHARED = {each.name for each in fields(ApiSettings)} - {"root_key"}


def build_container(
    settings: LocalSettings,
    folder: DataFolder,
    relays: Mapping[str, str] | None = None,
    clock: Clock = now_ms,
    log_wait_seconds: float = _LOG_WAIT_SECONDS,
    dynamodb: Any = None,
) -> Container:
    """Build the services, which all functions share in this process.

    Args:
        relays: the Unix sockets that lead to models, by their URLs.
        log_wait_seconds: as in the functions' settings; 0 if no thread reads the stream.
        dynamodb: the client of the tables; None creates one.
    """
    folder.secret("encryption-key", lambda: b64encode(token_bytes(32)).decode())
    try:
        chosen = ApiSettings(
            memory_table=MEMORY_TABLE,
            log_table=LOG_TABLE,
            root_key=settings.root_key or folder.secret("root-key", create_api_key),
            encryption_key_file=str(folder.path / "encryption-key"),
            archive_folder=str(folder.archive),
            log_wait_seconds=log_wait_seconds,
            learning_model=settings.learning_url and f"openai:{settings.model}",
            **settings.model_dump(include=_SHARED),
        )
    except WrongSetting as error:
        name = "" if "EMBEDDING" in str(error) else f"{folder.path / 'root-key'}: "
        raise StartupError(f"{name}{error}") from error
    return Container(chosen, clock, dynamodb, relays)


def prepare(container: Container, folder: DataFolder) -> tuple[str, bool]:
    """Create the keys, the tables and the tenant `default` unless they exist.

    Returns:
        The key in the data folder, and whether it is valid: it may have been rotated or revoked.
    """
    api_key = folder.secret(API_KEY_FILE, create_api_key)
    ensure_tables(build_memory_table(MEMORY_TABLE), build_log_table(LOG_TABLE))
    try:
        container.deployment_secret.raise_version()  # no other release uses this folder
        key_works = container.principals.ensure_tenant(TENANT, ADMIN, api_key)
        _close_memory_of_users(container)
        return api_key, key_works
    except NewerDataError as error:
        raise StartupError(f"the data folder {folder.path} can't be used: {error}") from error


def _close_memory_of_users(container: Container) -> None:
    """Set the rule for `users/*` in the first tenant, unless it has one: only its admin writes."""
    if container.namespace_store.get(TENANT, MEMORY_OF_USERS) is not None:
        return
    with suppress(NotFound):  # a former admin
        container.namespaces.close_users(container.principals.get_principal(TENANT, ADMIN))
