"""What a client is set up with."""

import os
from dataclasses import dataclass, field

URL, KEY = "AGENT_MEMORY_URL", "AGENT_MEMORY_API_KEY"
_LOCAL = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the service is, and how to call it; the key never shows.

    Attributes:
        timeout: seconds that one attempt may wait for each of connection and answer.
        max_retries: how often a call that failed in passing is sent again.
    """

    server_url: str
    api_key: str = field(repr=False)
    timeout: float
    max_retries: int


def resolve_settings(
    server_url: str | None, api_key: str | None, timeout: float, max_retries: int
) -> Settings:
    """Return the settings; what isn't given comes from the environment.

    Raises:
        ValueError: there is no key, or a value can't be right.
    """
    url = server_url if server_url is not None else os.environ.get(URL) or _LOCAL
    url = url.rstrip("/")
    key = api_key if api_key is not None else os.environ.get(KEY)
    if not key:
        raise ValueError(f"give api_key, or set {KEY}")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("the API key isn't one: keys are made of visible ASCII characters")
    if not url.startswith(("http://", "https://")):
        raise ValueError("server_url is like https://memory.example.com")
    if url.endswith("/api/v1"):
        raise ValueError("server_url ends before /api/v1")
    if timeout <= 0 or max_retries < 0:
        raise ValueError("timeout is above 0, max_retries at least 0")
    return Settings(url, key, timeout, max_retries)
