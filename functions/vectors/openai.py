"""Embed texts at an endpoint that is compatible with OpenAI's embeddings."""

from array import array
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from functions.platform.embedding_models import EmbeddingModel
from functions.platform.errors import Unavailable
from functions.platform.openai_endpoint import EndpointFailed, OpenAiEndpoint
from functions.vectors.model import Vector

_BATCH = 96  # texts in a request


class OpenAiEmbeddings:
    """Embeds texts by one model of an endpoint."""

    def __init__(self, endpoint: OpenAiEndpoint, model: EmbeddingModel) -> None:
        self._endpoint = endpoint
        self._model = model

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        batches = (texts[first : first + _BATCH] for first in range(0, len(texts), _BATCH))
        return [vector for each in batches for vector in self._ask(each)]

    def _ask(self, texts: Sequence[str]) -> list[Vector]:
        dimensions = self._model.dimensions
        body: dict[str, Any] = {"model": self._model.id, "input": list(texts)}
        body |= {} if dimensions is None else {"dimensions": dimensions}
        try:
            answer = self._endpoint.post("/embeddings", body)
            ordered = sorted(answer["data"], key=itemgetter("index"))
            vectors = [array("f", each["embedding"][:dimensions]) for each in ordered]
        except EndpointFailed as error:
            raise Unavailable(f"the embedding model {error}; try again in a second") from error
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable("the response of the embedding model has no vectors") from error
        if len(vectors) != len(texts):
            raise Unavailable("the embedding model did not return a vector for each text")
        return vectors
