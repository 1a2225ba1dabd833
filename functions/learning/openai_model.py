"""Ask a model at an endpoint that is compatible with OpenAI's chat completions."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx

from functions.learning.language_model import ModelFailed, ModelQuestion, Reply

_PATH = "/chat/completions"
_SECONDS = 60.0


class OpenAiModel:
    """Asks by `response_format` of the type `json_schema`.

    Args:
        url: the base address, such as `https://api.openai.com/v1`.
        get_key: returns the key; None if the endpoint asks for none.
        unix_socket: the path of a Unix socket that leads to the endpoint.
    """

    def __init__(
        self, url: str, get_key: Callable[[], str | None], unix_socket: str | None = None
    ) -> None:
        self._url = build_url(url)
        self._get_key = get_key
        transport = None if unix_socket is None else httpx.HTTPTransport(uds=unix_socket)
        self._client = httpx.Client(timeout=_SECONDS, transport=transport)

    def ask(self, question: ModelQuestion) -> Reply:
        """Ask a question once."""
        key = self._get_key()
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        try:
            response = self._client.post(self._url, json=_build_body(question), headers=headers)
            response.raise_for_status()
            document = response.json()
        except httpx.HTTPStatusError as error:
            raise ModelFailed(f"the model answered {error.response.status_code}") from error
        except httpx.TimeoutException as error:
            raise ModelFailed(f"the model did not answer within {_SECONDS:.0f} s") from error
        except (httpx.HTTPError, ValueError) as error:
            raise ModelFailed(f"the model is out of reach: {type(error).__name__}") from error
        return _read(document)


def build_url(url: str) -> str:
    """Build the address of chat completions; an address without a path has `/v1`.

    Example: `http://127.0.0.1:11434` and `http://127.0.0.1:11434/v1` are the same endpoint.
    """
    base = url.rstrip("/").removesuffix(_PATH)
    return base + ("" if urlsplit(base).path else "/v1") + _PATH


def _build_body(question: ModelQuestion) -> dict[str, Any]:
    schema = {"name": "learned", "strict": True, "schema": question.schema}
    return {
        "model": question.model,
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.text},
        ],
        "response_format": {"type": "json_schema", "json_schema": schema},
        "max_completion_tokens": question.max_tokens,
    }


def _read(document: Any) -> Reply:
    """Read the answer and the tokens of a response; an answer that is not there is empty."""
    try:
        answer = document["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        answer = None
    usage = document.get("usage") if isinstance(document, dict) else None
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0
    return Reply(answer if isinstance(answer, str) else "", tokens if is_count else None)
