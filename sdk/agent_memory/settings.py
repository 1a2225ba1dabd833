"""What a client is set up with."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

URL, KEY, DATA = "AGENT_MEMORY_URL", "AGENT_MEMORY_API_KEY", "AGENT_MEMORY_DATA"
LOCAL_URL = "http://127.0.0.1:8080"
_MOST_CHARACTERS = 1024  # of an address or a key


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the service is, and how to call it; the key never shows.

    Attributes:
        timeout: seconds that one attempt may wait for each of connection and answer.
        max_retries: how often a call that failed in passing is sent again.
        deadline: seconds that a call may take with all its attempts; None: no limit.
    """

    server_url: str
    api_key: str = field(repr=False)
    timeout: float
    max_retries: int
    deadline: float | None = None

    def to_arguments(self) -> dict[str, Any]:
        """Return what a client is made with to have these settings."""
        return asdict(self)


def resolve_settings(
    server_url: str | None,
    api_key: str | None,
    timeout: float,
    max_retries: int,
    deadline: float | None = None,
) -> Settings:
    """Return the settings; what isn't given comes from the environment.

    Raises:
        ValueError: there is no key, or a value can't be right.
        TypeError: an address or a key is no text.
    """
    _assert_text("server_url", server_url)
    _assert_text("api_key", api_key)
    local_url = find_local_url(os.environ)
    url = server_url if server_url is not None else os.environ.get(URL) or local_url
    url = url.rstrip("/")
    key = api_key if api_key is not None else os.environ.get(KEY)
    if key is None and url == local_url:
        key = read_local_key(os.environ)
    if not key:
        raise ValueError(
            f"give api_key, or set {KEY}; `agent-memory serve`, once it is ready, keeps one in its "
            "folder, which a client in the same folder finds"
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("the API key isn't one: keys are made of visible ASCII characters")
    if not url.startswith(("http://", "https://")):
        raise ValueError("server_url is like https://memory.example.com")
    if url.endswith("/api/v1"):
        raise ValueError("server_url ends before /api/v1")
    if not (timeout > 0 and max_retries >= 0):  # NaN is neither
        raise ValueError("timeout is above 0, max_retries at least 0")
    if not (deadline is None or deadline > 0):
        raise ValueError("deadline is above 0, or None")
    return Settings(url, key, timeout, max_retries, deadline)


def _assert_text(name: str, given: str | None) -> None:
    if not isinstance(given, str | None):
        raise TypeError(f"{name} is a str, not {type(given).__name__}")


def find_local_url(environment: Mapping[str, str]) -> str:
    """Return where the local service listens, by its data folder; its default if that is silent."""
    return _read_local_file(environment, "address") or LOCAL_URL


def read_local_key(environment: Mapping[str, str]) -> str | None:
    """Return the key that the local service keeps in its data folder; None if there is none."""
    return _read_local_file(environment, "api-key")


def _read_local_file(environment: Mapping[str, str], name: str) -> str | None:
    """Read a file of the data folder: `AGENT_MEMORY_DATA`, else `.agent-memory` in the present one.

    A file of another user of this machine doesn't count.
    """
    file = Path(environment.get(DATA) or ".agent-memory") / name
    try:
        with file.open(encoding="ascii") as opened:
            is_own = os.fstat(opened.fileno()).st_uid == os.geteuid()
            return opened.read(_MOST_CHARACTERS).strip() if is_own else None
    except (OSError, UnicodeDecodeError):
        return None
