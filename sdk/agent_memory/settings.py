"""The settings of a client."""

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

URL, KEY, DATA = "AGENT_MEMORY_URL", "AGENT_MEMORY_API_KEY", "AGENT_MEMORY_DATA"
LOCAL_URL = "http://127.0.0.1:8080"
_MOST_CHARACTERS = 1024  # of an address or a key
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_LOOPBACK = re.compile(r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?")


class LocalService(NamedTuple):
    """The service that runs on this machine: its address, and the key that it created."""

    url: str
    api_key: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Address, key and timeouts of a client; `repr` hides the key.

    Attributes:
        timeout: seconds that one attempt may wait for each of connection and answer.
        max_retries: the number of retries after a transient failure.
        deadline: seconds that a call may take with all its attempts; None: no limit.
    """

    server_url: str
    api_key: str = field(repr=False)
    timeout: float
    max_retries: int
    deadline: float | None = None

    def to_arguments(self) -> dict[str, Any]:
        """Return the arguments of a client with these settings."""
        return asdict(self)


def resolve_settings(
    server_url: str | None,
    api_key: str | None,
    timeout: float,
    max_retries: int,
    deadline: float | None = None,
) -> Settings:
    """Return the settings. Those that are not given are read from the environment.

    A key that is given, or from the environment, is only sent to an address that is given, or from
    the environment, or to the default. The key of a local service is only sent to its own address.

    Raises:
        ValueError: there is no key, or a value is invalid.
        TypeError: an address or a key is no text.
    """
    _assert_text("server_url", server_url)
    _assert_text("api_key", api_key)
    url = server_url if server_url is not None else os.environ.get(URL) or None
    url = None if url is None else url.rstrip("/")
    key = api_key if api_key is not None else os.environ.get(KEY)
    local = find_local_service(os.environ) if key is None else None
    if local is not None and url in (None, local.url):
        url, key = local
    url = LOCAL_URL if url is None else url
    if not key:
        raise ValueError(
            f"give api_key, or set {KEY}; a client in the folder of a running `agent-memory "
            "serve` needs neither"
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("the API key is not valid: a key consists of visible ASCII characters")
    if not _ADDRESS.fullmatch(url):
        raise ValueError("server_url must be like https://memory.example.com")
    if url.endswith("/api/v1"):
        raise ValueError("server_url must end before /api/v1")
    if not (timeout > 0 and max_retries >= 0):  # NaN is neither above nor below
        raise ValueError("timeout must be above 0, max_retries at least 0")
    if not (deadline is None or deadline > 0):
        raise ValueError("deadline must be above 0, or None")
    return Settings(url, key, timeout, max_retries, deadline)


def _assert_text(name: str, given: str | None) -> None:
    if not isinstance(given, str | None):
        raise TypeError(f"{name} must be a str, not {type(given).__name__}")


def find_local_service(environment: Mapping[str, str]) -> LocalService | None:
    """Return the local service whose data folder this is; None if there is none.

    The folder is `AGENT_MEMORY_DATA`, else `.agent-memory` in the current folder. Its address and
    key are only used together, and only if the address is on this machine: a folder of a cloned
    repository can't direct requests elsewhere.
    """
    url = _read_local_file(environment, "address")
    key = _read_local_file(environment, "api-key")
    if url is None or not key or not _LOOPBACK.fullmatch(url):
        return None
    return LocalService(url, key)


def _read_local_file(environment: Mapping[str, str], name: str) -> str | None:
    """Read a file of the data folder, unless it belongs to another user of this machine."""
    file = Path(environment.get(DATA) or ".agent-memory") / name
    try:
        with file.open(encoding="ascii") as opened:
            is_own = os.name != "posix" or os.fstat(opened.fileno()).st_uid == os.geteuid()
            return opened.read(_MOST_CHARACTERS).strip() if is_own else None
    except (OSError, UnicodeDecodeError):
        return None
