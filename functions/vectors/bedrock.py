"""Embed texts by Amazon Titan Text Embeddings V2 in Amazon Bedrock.

Its vectors have as many numbers as the default model's, so that either fits the same vector index.
"""

from array import array
from typing import Any

import orjson

from functions.platform.aws import translate_aws_errors
from functions.vectors.model import EmbedMeaning, Vector
from functions.vectors.wordllama import DIMENSION


def build_titan_embed(client: Any, model_id: str) -> EmbedMeaning:
    """Build the function that embeds a text by a Titan model.

    It raises `Unavailable` when access to the model is denied or the model doesn't answer.

    Args:
        client: a `bedrock-runtime` client.
        model_id: Bedrock's id of the model.
    """

    def embed(text: str) -> Vector:
        request = {"inputText": text, "dimensions": DIMENSION, "normalize": True}
        with translate_aws_errors("the embedding model"):
            response = client.invoke_model(
                modelId=model_id,
                body=orjson.dumps(request),
                contentType="application/json",
                accept="application/json",
            )
            return array("f", orjson.loads(response["body"].read())["embedding"])

    return embed
