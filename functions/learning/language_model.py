"""Ask language models: one question, and an answer of a given schema.

Amazon Bedrock is called by the Converse API, with a tool whose input is the answer. Other models
are called by OpenAI-compatible chat completions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from functions.platform.aws import translate_aws_errors
from functions.platform.errors import Unavailable
from functions.platform.json_text import dumps
from functions.platform.openai_endpoint import EndpointFailed, OpenAiEndpoint


class ModelQuestion(NamedTuple):
    """A question to a language model.

    Attributes:
        model: the model's name, without its provider.
        system: the rules, which the deployment and the strategy set.
        text: the data: what is known, and the messages.
    """

    model: str
    system: str
    text: str
    schema: dict[str, Any]
    max_tokens: int


class Reply(NamedTuple):
    """The reply of a model.

    Attributes:
        answer: a JSON text, or the object itself.
        tokens: of question and answer; None if the model does not report them.
    """

    answer: str | dict[str, Any]
    tokens: int | None


class ModelFailed(Exception):
    """The model did not answer; the message has the reason, never the question."""


LanguageModel = Callable[[ModelQuestion], Reply]
"""Ask a language model a question once; raises `ModelFailed`."""

_TOOL = "learned"


def ask_bedrock(client: Any, question: ModelQuestion) -> Reply:
    """Ask by a tool that the model has to call; `client` is a `bedrock-runtime` client."""
    try:
        with translate_aws_errors("the model"):
            response = client.converse(**_build_request(question))
    except Unavailable as error:
        cause = getattr(error.__cause__, "response", {}).get("Error", {}).get("Code")
        reason = cause or type(error.__cause__).__name__
        raise ModelFailed(f"the model did not answer: {reason}") from error
    content = response["output"]["message"]["content"]
    inputs = (each["toolUse"]["input"] for each in content if "toolUse" in each)
    return Reply(next(inputs, ""), response.get("usage", {}).get("totalTokens"))


def _build_request(question: ModelQuestion) -> dict[str, Any]:
    tool = {
        "name": _TOOL,
        "description": "Stores what was learned.",
        "inputSchema": {"json": question.schema},
    }
    return {
        "modelId": question.model,
        "system": [{"text": question.system}],
        "messages": [{"role": "user", "content": [{"text": question.text}]}],
        "inferenceConfig": {"maxTokens": question.max_tokens},
        "toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": _TOOL}}},
    }


def ask_openai(endpoint: OpenAiEndpoint, question: ModelQuestion) -> Reply:
    """Ask by `response_format` of the type `json_schema`."""
    try:
        return _read(endpoint.post("/chat/completions", _build_body(question)))
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
    """Read the answer and the tokens of a response; a missing answer is empty."""
    try:
        answer = document["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        answer = None
    usage = document.get("usage") if isinstance(document, dict) else None
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0
    return Reply(answer if isinstance(answer, str) else "", tokens if is_count else None)


_CHARACTERS = 3  # for each token of ASCII text; common models need four


def count_question(question: ModelQuestion) -> int:
    """Estimate a question's tokens from above: a character beyond ASCII counts as one."""
    text = question.system + question.text + dumps(question.schema).decode()
    ascii_count = sum(map(str.isascii, text))
    return ascii_count // _CHARACTERS + len(text) - ascii_count + 1
