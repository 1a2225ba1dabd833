"""Ask a model of Amazon Bedrock by the Converse API; the answer is the input of a tool."""

from typing import Any

from functions.learning.language_model import ModelFailed, ModelQuestion, Reply
from functions.platform.aws import translate_aws_errors
from functions.platform.errors import Unavailable

_TOOL = "learned"


class BedrockModel:
    """Asks by a tool that the model has to call.

    Args:
        client: a `bedrock-runtime` client.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, question: ModelQuestion) -> Reply:
        """Ask a question once."""
        try:
            with translate_aws_errors("the model"):
                response = self._client.converse(**_build_request(question))
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
