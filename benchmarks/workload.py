"""The requests that are measured, rendered before the clock runs, alike for both servers."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.load import Script, render
from benchmarks.servers import Server, ServerError

ENTRIES = 100  # what the reading agent owns: a list's page, and what working memory may hold
MATCHES = 10  # of them carry both tags
PER_AGENT = 500  # new entries, well below episodic memory's capacity
BOTH_TAGS = "urgent,billing"


@dataclass(frozen=True, slots=True)
class Fixture:
    """A server and the agent there that owns `ENTRIES` entries."""

    server: Server
    agent: str
    key: str

    def entries(self) -> list[dict[str, Any]]:
        """What the agent owns now. Raises `ServerError` unless all of it comes."""
        entries: list[dict[str, Any]] = self.server.call("GET", self.list_target(), self.key)
        if len(entries) != ENTRIES:
            raise ServerError(f"{self.server.name} lists {len(entries)} of {ENTRIES} entries")
        return entries

    def list_target(self) -> str:
        return f"/api/v1/agents/{self.agent}/memory?limit={ENTRIES}"

    def tags_target(self) -> str:
        return f"{self.list_target()}&tags={BOTH_TAGS}"


@dataclass(frozen=True, slots=True)
class Case:
    """One measured operation: `scripts(fixture, clients, requests, label)` renders a script for
    each client, with at most `requests` in all; `label` is a new one each time."""

    name: str
    scripts: Callable[[Fixture, int, int, str], list[Script]]
    creates: bool = False

    def expected(self, fixture: Fixture) -> int:
        """The status of a right answer."""
        return fixture.server.created if self.creates else 200


def prepare(server: Server) -> Fixture:
    """Make the reading agent and its entries. Raises `ServerError`."""
    agent = "bench-reader"
    key = server.key_of(agent)
    for number in range(ENTRIES):
        tags = BOTH_TAGS.split(",") if number % (ENTRIES // MATCHES) == 0 else ["billing"]
        body = entry(agent, f"checkpoint-{number}", "working", tags)
        server.call("POST", "/api/v1/memory", key, body)
    return Fixture(server, agent, key)


def value(number: int) -> dict[str, Any]:
    """A checkpoint of 560 bytes of compact JSON: with its metadata, an entry of 1 KB."""
    notes = " ".join(f"invoice {number * 31 + line:08d} was matched;" for line in range(14))
    return {"completed": number, "total": 47, "last_id": f"inv_{number:06d}", "notes": notes[:500]}


def entry(agent: str, key: str, tier: str, tags: Sequence[str]) -> dict[str, Any]:
    """The body of a create."""
    return {
        "agent_id": agent,
        "namespace": "invoice_processing",
        "key": key,
        "value": value(len(key)),
        "memory_type": tier,
        "tags": list(tags),
    }


def _creates(fixture: Fixture, clients: int, requests: int, label: str) -> list[Script]:
    each = requests // clients
    return [
        [
            request
            for start in range(0, each, PER_AGENT)
            for request in _agent_creates(
                fixture.server, f"bench-{label}-{client}-{start}", min(PER_AGENT, each - start)
            )
        ]
        for client in range(clients)
    ]


def _agent_creates(server: Server, agent: str, count: int) -> list[bytes]:
    headers = [("x-api-key", server.key_of(agent))]
    bodies = (entry(agent, f"step-{n}", "episodic", ["billing", "step"]) for n in range(count))
    return [render("POST", "/api/v1/memory", headers, _json(body)) for body in bodies]


def _gets(fixture: Fixture, clients: int, requests: int, _label: str) -> list[Script]:
    headers = [("x-api-key", fixture.key)]
    targets = [f"/api/v1/memory/{each['id']}" for each in fixture.entries()]
    rendered = [render("GET", target, headers) for target in targets]
    return [_repeated(rendered, requests // clients) for _ in range(clients)]


def _patches(fixture: Fixture, clients: int, requests: int, _label: str) -> list[Script]:
    entries = fixture.entries()
    return [
        [_patch(fixture.key, entries[client::clients], number) for number in range(each)]
        for client, each in enumerate([requests // clients] * clients)
    ]


def _patch(key: str, own: Sequence[dict[str, Any]], number: int) -> bytes:
    """The client's entries in turn, each with the version that its previous round left."""
    turn, place = divmod(number, len(own))
    version = own[place]["version"] + turn
    headers = [("x-api-key", key), ("if-match", str(version))]
    target = f"/api/v1/memory/{own[place]['id']}"
    return render("PATCH", target, headers, _json({"value": value(version)}))


def _lists(fixture: Fixture, clients: int, requests: int, _label: str) -> list[Script]:
    return _same(fixture, fixture.list_target(), clients, requests)


def _tag_queries(fixture: Fixture, clients: int, requests: int, _label: str) -> list[Script]:
    return _same(fixture, fixture.tags_target(), clients, requests)


def _same(fixture: Fixture, target: str, clients: int, requests: int) -> list[Script]:
    request = render("GET", target, [("x-api-key", fixture.key)])
    return [[request] * (requests // clients) for _ in range(clients)]


def _repeated(requests: Sequence[bytes], count: int) -> list[bytes]:
    return [requests[n % len(requests)] for n in range(count)]


def _json(body: object) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


CASES = (
    Case("create", _creates, creates=True),
    Case("get", _gets),
    Case("patch", _patches),
    Case("list of 100", _lists),
    Case("two tags", _tag_queries),
)
