"""The embedding models that a deployment may choose, and their dimensions."""

from typing import NamedTuple

MIN_DIMENSIONS, MAX_DIMENSIONS = 64, 3_072
INDEXED_DIMENSIONS = 256
"""The dimensions of DynamoDB's vector index, if the model supports them."""
BEDROCK, OPENAI = "bedrock", "openai"
AREAS = ("us", "eu", "apac", "jp", "au", "ca", "us-gov", "global")
"""The prefixes of inference profiles: the area in which they call the model."""
_FAMILIES = {
    "amazon.titan-embed-text-v2": (256, 512, 1_024),
    "amazon.titan-embed-text-v1": (1_536,),
    "amazon.titan-embed-g1-text": (1_536,),
    "amazon.titan-embed-image": (256, 384, 1_024),
    "amazon.nova-2-multimodal-embeddings": (256, 384, 1_024, 3_072),
    "cohere.embed-english-v3": (1_024,),
    "cohere.embed-multilingual-v3": (1_024,),
    "cohere.embed-v4": (256, 512, 1_024, 1_536),
    "twelvelabs.marengo-embed-2": (1_024,),
    "twelvelabs.marengo-embed-3": (512,),
}


class EmbeddingModel(NamedTuple):
    """A chosen embedding model.

    Attributes:
        name: the name in the setting, with the dimensions if chosen; vectors have this name.
        provider: `bedrock` or `openai`.
        id: the provider's id.
        family: of Bedrock's models: the beginning of the id, without an inference profile's area.
        dimensions: of its vectors; None for the model's default.
    """

    name: str
    provider: str
    id: str
    family: str
    dimensions: int | None


def parse_embedding_model(setting: str, dimensions: int = 0) -> EmbeddingModel:
    """Parse `bedrock:ID` or `openai:NAME`.

    Args:
        dimensions: of its vectors; 0: the model's default, or its smallest value from 256.
    """
    provider, _, id = setting.partition(":")
    if provider not in (BEDROCK, OPENAI) or not id or " " in id:
        raise ValueError("must be bedrock:ID or openai:NAME")
    if dimensions and not MIN_DIMENSIONS <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"must have {MIN_DIMENSIONS} to {MAX_DIMENSIONS} dimensions")
    name = f"{setting}/{dimensions}" if dimensions else setting
    if provider == OPENAI:
        return EmbeddingModel(name, provider, id, "", dimensions or None)
    family = next((each for each in _FAMILIES if strip_area(id).startswith(each)), None)
    if family is None:
        raise ValueError(f"must name a model of Bedrock that begins with {', '.join(_FAMILIES)}")
    offered = _FAMILIES[family]
    if dimensions and dimensions not in offered:
        raise ValueError(f"{family} has {', '.join(map(str, offered))} dimensions")
    return EmbeddingModel(name, provider, id, family, dimensions or offered[0])


def strip_area(id: str) -> str:
    """Strip the area of an inference profile. Example: `eu.cohere.embed-v4:0`."""
    area, _, rest = id.rpartition("/")[2].partition(".")
    return rest if area in AREAS else id
