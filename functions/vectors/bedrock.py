"""Embed texts by an embedding model of Amazon Bedrock."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from functions.platform.aws import translate_aws_errors
from functions.platform.embedding_models import EmbeddingModel
from functions.vectors.model import Vector

_COHERE_BATCH = 96  # texts in a request; other models accept one
_IMAGE_CHARACTERS = 500  # of a text for a model of images and texts
Json = dict[str, Any]


class BedrockEmbeddings:
    """Embeds texts by one model.

    Args:
        is_query: whether the texts are queries; some models embed queries differently.
    """

    def __init__(self, client: Any, model: EmbeddingModel, *, is_query: bool) -> None:
        self._client = client
        self._model = model
        self._is_query = is_query

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        return [vector for body in self._build_bodies(texts) for vector in self._ask(body)]

    def _ask(self, body: Json) -> list[Vector]:
        with translate_aws_errors("the embedding model"):
            response = self._client.invoke_model(
                modelId=self._model.id,
                body=orjson.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
            return [array("f", each) for each in _read(orjson.loads(response["body"].read()))]

    def _build_bodies(self, texts: Sequence[str]) -> Iterator[Json]:
        family = self._model.family
        if family.startswith("cohere."):
            for first in range(0, len(texts), _COHERE_BATCH):
                yield self._build_cohere(texts[first : first + _COHERE_BATCH])
        else:
            yield from (self._build_one(each) for each in texts)

    def _build_cohere(self, texts: Sequence[str]) -> Json:
        purpose = "search_query" if self._is_query else "search_document"
        body = {"texts": list(texts), "input_type": purpose, "embedding_types": ["float"]}
        if self._model.family == "cohere.embed-v4":
            return body | {"output_dimension": self._model.dimensions, "truncate": "RIGHT"}
        return body | {"truncate": "END"}

    def _build_one(self, text: str) -> Json:
        dimensions = self._model.dimensions
        match self._model.family:
            case "amazon.titan-embed-text-v2":
                return {"inputText": text, "dimensions": dimensions, "normalize": True}
            case "amazon.titan-embed-image":
                shortened = {"outputEmbeddingLength": dimensions}
                return {"inputText": text[:_IMAGE_CHARACTERS], "embeddingConfig": shortened}
            case "amazon.nova-2-multimodal-embeddings":
                asked = {
                    "embeddingPurpose": "TEXT_RETRIEVAL" if self._is_query else "GENERIC_INDEX",
                    "embeddingDimension": dimensions,
                    "text": {"truncationMode": "END", "value": text},
                }
                return {"taskType": "SINGLE_EMBEDDING", "singleEmbeddingParams": asked}
            case "twelvelabs.marengo-embed-2":
                return {"inputType": "text", "inputText": text, "textTruncate": "end"}
            case "twelvelabs.marengo-embed-3":
                return {"inputType": "text", "text": {"inputText": text[:_IMAGE_CHARACTERS]}}
            case _:
                return {"inputText": text}


def _read(answer: Json) -> list[list[float]]:
    """Read the vectors of an answer: under `embedding`, `embeddings`, or `data`."""
    found: Any = answer.get("embeddings", answer.get("data", answer))
    if isinstance(found, dict):
        found = found.get("float", [found])
    return [each["embedding"] if isinstance(each, dict) else each for each in found]
