"""Facts, as tests learn and recall them."""

from typing import Any

import httpx

from tests.contract.expect import ok

FACTS = "/api/v1/facts"


def said(
    subject: str = "acme", predicate: str = "prefers", what: str = "email", **more: Any
) -> Any:
    return {"subject": subject, "predicate": predicate, "object": what} | more


def learn(client: httpx.Client, *words: str, **more: Any) -> Any:
    return ok(client.post(FACTS, json=said(*words, **more)), 201)


def recall(
    client: httpx.Client, query: str, top_k: int = 5, min_score: float = -1, **filters: Any
) -> list[Any]:
    """The facts that are recalled, best first."""
    body = {"query": query, "top_k": top_k, "min_score": min_score}
    body |= {"filters": filters} if filters else {}
    found: list[Any] = ok(client.post(f"{FACTS}/recall", json=body))["facts"]
    return found


def objects(found: list[Any]) -> list[str]:
    """Return the objects of recalled facts, in their order."""
    return [fact["object"] for fact in found]
