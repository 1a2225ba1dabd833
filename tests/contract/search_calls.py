"""Search by meaning as tests use it: what is written is embedded when they say so."""

from collections.abc import Callable
from typing import Any

import httpx

from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import decode_item
from tests.contract.bodies import MEMORY
from tests.contract.expect import ok
from tests.contract.service import Service
from tests.contract.streaming import Stream, stream_function

SEARCH = f"{MEMORY}/search"
TEA = {"drink": "a cup of green tea, hot"}
CAR = {"vehicle": "the red sports car in the garage"}
TAX = {"deadline": "tax returns are due in April"}

Json = dict[str, Any]
Embed = Callable[[], None]


def embedder(service: Service) -> Embed:
    """Has the stream function take all changes since the last call."""
    stream, deliver = Stream(service), stream_function(service)

    def embed() -> None:
        assert deliver(stream.read()) == []

    return embed


def search(client: httpx.Client, query: str, **fields: Any) -> list[Json]:
    """The results of a search; of episodic memory, unless the fields say otherwise."""
    body = {"query": query, "memory_type": "episodic"} | fields
    results: list[Json] = ok(client.post(SEARCH, json=body))["results"]
    return results


def keys_of(results: list[Json]) -> list[str]:
    """The entries' keys, best first."""
    return [each["entry"]["key"] for each in results]


def vectors(service: Service) -> list[str]:
    """Return the references of the stored vectors."""
    items = (item for item in service.stored() if "vector" in item)
    return sorted(AGENT_VECTOR.parse(item["sk"]["S"]) for item in items)


def state_of_vectors(service: Service) -> list[Json]:
    """All that is stored of vectors, moments aside."""
    found = map(decode_item, (item for item in service.stored() if "#v" in item["pk"]["S"]))
    moments = ("written_at", "ttl_at")
    return [{name: each for name, each in item.items() if name not in moments} for item in found]
