"""Short forms of OpenWOP's calls, and what tests look at of memories in the tables."""

from dataclasses import dataclass
from typing import Any

import httpx

from functions.platform.items import Item, decode_item
from tests.contract.expect import ok
from tests.contract.service import Service

RUNS = "/v1/runs"
Json = dict[str, Any]


def path(reference: str, entry_id: str = "") -> str:
    return f"/v1/memory/{reference}/{entry_id}".rstrip("/")


@dataclass(frozen=True)
class Run:
    """A run as who started it uses it."""

    client: httpx.Client
    id: str
    reference: str
    snapshot: str

    def entries(self, **query: Any) -> list[Json]:
        answer = self.client.get(path(self.reference), params={"runId": self.id} | query)
        found: list[Json] = ok(answer)["entries"]
        return found

    def contents(self, **query: Any) -> list[str]:
        return [entry["content"] for entry in self.entries(**query)]

    def get(self, entry_id: str) -> Json | None:
        answer = self.client.get(path(self.reference, entry_id), params={"runId": self.id})
        assert answer.status_code == (200 if answer.json()["entry"] else 404)
        entry: Json | None = answer.json()["entry"]
        return entry

    def try_put(self, content: str, **fields: Any) -> httpx.Response:
        body = {"content": content, "runId": self.id} | fields
        return self.client.post(path(self.reference), json=body)

    def put(self, content: str, **fields: Any) -> Json:
        entry: Json = ok(self.try_put(content, **fields), 201)
        return entry

    def delete(self, entry_id: str) -> bool:
        answer = self.client.delete(path(self.reference, entry_id), params={"runId": self.id})
        deleted: bool = ok(answer)["deleted"]
        return deleted

    def state(self) -> Json:
        found: Json = ok(self.client.get(f"{RUNS}/{self.id}"))
        return found

    def seen(self, **query: Any) -> list[Json]:
        """Return the entries that the run sees, as a debugger shows them."""
        found: list[Json] = ok(self.client.get(f"{RUNS}/{self.id}/entries", params=query))[
            "entries"
        ]
        return found

    def learn(self, label: str, value: str) -> Json:
        body = {"secrets": [{"label": label, "value": value}]}
        found: Json = ok(self.client.post(f"{RUNS}/{self.id}/secrets", json=body))
        return found

    def replay(self, client: httpx.Client | None = None, **fields: Any) -> "Run":
        caller = client or self.client
        return started(caller, caller.post(RUNS, json={"replayOf": self.id} | fields))

    def end(self) -> None:
        assert ok(self.client.post(f"{RUNS}/{self.id}/end")) == {"runId": self.id, "ended": True}


def start(client: httpx.Client, agent: str = "planner", **fields: Any) -> Run:
    return started(client, client.post(RUNS, json={"agent": agent} | fields))


def start_on(client: httpx.Client, *references: str, **fields: Any) -> Run:
    """Starts a run on the memories of these references."""
    names = {"memoryRefs": references} if len(references) > 1 else {"memoryRef": references[0]}
    return started(client, client.post(RUNS, json=names | fields))


def started(client: httpx.Client, answer: httpx.Response) -> Run:
    body = ok(answer, 201)
    assert body.keys() - {"memoryRefs"} == {"runId", "memoryRef", "snapshotAt"}
    return Run(client, body["runId"], body["memoryRef"], body["snapshotAt"])


def present(client: httpx.Client, reference: str, **query: Any) -> list[str]:
    """The contents of what a memory holds now, outside of any run."""
    found = ok(client.get(path(reference), params=query))["entries"]
    return [entry["content"] for entry in found]


def forbidden(answer: httpx.Response) -> None:
    """The answer must say that this memory isn't the caller's, and nothing more."""
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
    assert answer.json().keys() == {"error", "message"}


def erring(answer: httpx.Response, status: int, error: str) -> Json:
    """The envelope of an answer that must refuse so."""
    envelope: Json = answer.json()
    assert (answer.status_code, envelope["error"]) == (status, error), answer.text
    return envelope


def memory_items(service: Service, *prefixes: str) -> list[Item]:
    """Return the stored items of memories whose sort key has one of the prefixes, if any."""
    items = [decode_item(item) for item in service.stored()]
    own = [item for item in items if item["pk"].split("#")[1:2] in (["o"], ["l"])]
    return [item for item in own if item["sk"].startswith(prefixes or "")]
