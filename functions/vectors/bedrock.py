"""Embedding by Amazon Titan Text Embeddings V2, in Amazon Bedrock: texts leave the function.

The vectors have as many numbers as the default model's, so either fits the same vector index.
"""

from array import array
from typing import Any

import orjson
from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.errors import Unavailable
from functions.vectors.model import Embed, Vector
from functions.vectors.static import DIMENSION


def titan(runtime: Any, model: str) -> Embed:
    """Embeds by a model of that id; `runtime` is a client of `bedrock-runtime`.

    What it gives raises `Unavailable` where the model isn't let be used, or doesn't answer.
    """

    def embed(text: str) -> Vector:
        asked = {"inputText": text, "dimensions": DIMENSION, "normalize": True}
        try:
            answer = runtime.invoke_model(
                modelId=model,
                body=orjson.dumps(asked),
                contentType="application/json",
                accept="application/json",
            )
            return array("f", orjson.loads(answer["body"].read())["embedding"])
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("the embedding model did not answer; try again later") from error

    return embed
