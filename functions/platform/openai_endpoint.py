"""Call an endpoint that is compatible with OpenAI's API."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx

_KNOWN_PATHS = ("/chat/completions", "/embeddings")


class EndpointFailed(Exception):
    """The endpoint did not answer; the message has the reason, never the request."""


class OpenAiEndpoint:
    """An endpoint, with one address and one key. Safe for use by several threads.

    Args:
        url: the base address, such as `https://api.openai.com/v1`.
        get_key: returns the key; None if the endpoint asks for none.
        seconds: the timeout of an answer.
        unix_socket: the path of a Unix socket that leads to the endpoint.
    """

    def __init__(
        self,
        url: str,
        get_key: Callable[[], str | None],
        seconds: float,
        unix_socket: str | None = None,
    ) -> None:
        self._url = build_base(url)
        self._get_key = get_key
        self._seconds = seconds
        transport = None if unix_socket is None else httpx.HTTPTransport(uds=unix_socket)
        self._client = httpx.Client(timeout=seconds, transport=transport)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request once; return the document of the response."""
        key = self._get_key()
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        try:
            response = self._client.post(self._url + path, json=body, headers=headers)
            response.raise_for_status()
            return response.json()
        except httpx.HTTPStatusError as error:
            raise EndpointFailed(f"answered {error.response.status_code}") from error
        except httpx.TimeoutException as error:
            raise EndpointFailed(f"did not answer within {self._seconds:.0f} s") from error
        except (httpx.HTTPError, ValueError) as error:
            raise EndpointFailed(f"can't be reached: {type(error).__name__}") from error


def build_base(url: str) -> str:
    """Build the base address; an address without a path gets `/v1`.

    Example: `http://127.0.0.1:11434` and `http://127.0.0.1:11434/v1` are the same endpoint.
    """
    base = url.rstrip("/")
    for each in _KNOWN_PATHS:
        base = base.removesuffix(each)
    return base + ("" if urlsplit(base).path else "/v1")
