"""Ask a model at an endpoint that is compatible with OpenAI's chat completions."""

from typing import Any

from functions.learning.language_model import ModelFailed, ModelQuestion, Reply
from functions.platform.openai_endpoint import EndpointFailed, OpenAiEndpoint


class OpenAiModel:
    """Asks by `response_format` of the type `json_schema`."""

    def __init__(self, endpoint: OpenAiEndpoint) -> None:
        self._endpoint = endpoint

    def ask(self, question: ModelQuestion) -> Reply:
        """Ask a question once."""
        try:
            return _read(self._endpoint.post("/chat/completions", _build_body(question)))
        except EndpointFailed as error:
            raise ModelFailed(f"the model {error}") from error


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
