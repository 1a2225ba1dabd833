"""Test that hidden and missing things have the same answers in all lists, filters and prefixes.

The requests are made from the routes: a new list or filter is tried as soon as it has a route. A
request by an exact name may be refused (the caller knew the name), and those are named here.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import httpx
import pytest

from benchmarks.capacity import Call, recorded
from functions.api.route_index import list_routes
from functions.api.routing import Route
from functions.entries.tiers import POLICIES
from functions.platform.clock import to_rfc3339
from tests.contract.bodies import allow, create, create_task, entry, semantic, working
from tests.contract.everything import Everything, set_up
from tests.contract.expect import ok
from tests.contract.faults import faulty
from tests.contract.search_calls import embedder
from tests.contract.service import Service
from tests.contract.service import start as start_service

_WORD = "xylophone"
_ABSENT = {
    "agent_id": "alicf",
    "user_id": "alicf",
    "owner_id": "bosz",
    "intent_id": "intent_9",
    "scope.intent_id": "intent_9",
    "scope.task_id": "task_9",
    "task_id": "task_9",
    "session_id": "s9",
    "namespace": "clozed",
    "key": "hiddem",
    "tags": "zu",
    "tags_any": "zu",
    "tag": "zu",
    "subject": "Alicf",
    "predicate": "earnt",
    "query": "quizzical",
    "space": "bux",
    "as_principal": "alicf",
    "reference": "f.uzed",
}
_HIDDEN = {
    "agent_id": "alice",
    "user_id": "alice",
    "owner_id": "boss",
    "intent_id": "intent_1",
    "scope.intent_id": "intent_1",
    "scope.task_id": "task_1",
    "task_id": "task_1",
    "session_id": "s1",
    "namespace": "closed",
    "key": "hidden",
    "tags": "zt",
    "tags_any": "zt",
    "tag": "zt",
    "subject": "Alice",
    "predicate": "earns",
    "query": _WORD,
    "space": "box",
    "as_principal": "alice",
    "reference": "f.used",
}
"""Values that stranger must not learn of; `_ABSENT` has unused values of the same length."""

_BY_NAME = {
    "GET /api/v1/agents/{agent_id}/objects/{space}",
    "DELETE /api/v1/agents/{agent_id}/objects/{space}",
    "POST /api/v1/agents/{agent_id}/objects/{space}/read",
    "GET /api/v1/objects/{space}",
    "DELETE /api/v1/objects/{space}",
    "POST /api/v1/objects/{space}/read",
    "GET /api/v1/intents/{intent_id}/events",
    "GET /api/v1/agents/{agent_id}/events",
    "GET /api/v1/memory/namespaces/{namespace}/events",
    "GET /api/v1/tasks/{task_id}/grants",
    "GET /api/v1/conversations/{session_id}",
    "GET /api/v1/conversations/{session_id}/archive",
    "DELETE /api/v1/conversations/{session_id}/messages",
}
"""Pages of one thing: the caller knows its name, and may be refused."""
_TRIES = 20
_TELLS = frozenset({"GET /api/v1/memory", "GET /api/v1/agents/{agent_id}/memory"})
"""Lists that say of a namespace that the caller named exactly that it may not read it."""
_OPEN = frozenset({"agent_type", "task_type", "run_id", "runId", "memoryRef", "id"})
"""Values that every principal of the tenant may see, or that can't be guessed."""
_NO_LIST = frozenset({"principal", "fact_id", "episode_id", "instance_id", "workflow_id", "name"})
_OPTIONS = frozenset(
    {
        *("after", "before", "offset", "limit", "total", "values", "touch", "order", "from", "to"),
        *("updated_after", "updated_before", "pinned", "memory_type", "status", "archived"),
        *("as_of", "ended", "learned_from_run_id", "instance_id", "last", "expires_at", "actor"),
        *("action", "entry_id", "type", "value", "prefix", "episodic_limit", "max_kb"),
    }
)
_Options = tuple[tuple[str, str], ...]
_TIERS: list[_Options] = [(), *((("memory_type", each),) for each in POLICIES)]
_PAGES: list[_Options] = [
    (),
    (("total", "none"),),
    (("total", "none"), ("offset", "1"), ("limit", "5")),
    (("archived", "true"),),
    (("as_of", "2029-12-31T23:59:00Z"),),
]
_BODIES: dict[str, dict[str, Any]] = {
    "MemorySearch": {"memory_type": "semantic", "query": "told"},
    "Question": {"query": "told"},
    "ConversationQuestion": {"query": "told"},
    "Recall": {"query": "told"},
}


@dataclass(frozen=True)
class Probe:
    """A request of a route, with one name or all names of its path varied."""

    route: Route
    varied: str
    extra: _Options = ()

    def __str__(self) -> str:
        options = "".join(f" {name}={value}" for name, value in self.extra)
        return f"{self.route.method} {self.route.openapi_path} {self.varied}{options}"

    def build(self, names: dict[str, str]) -> httpx.Request:
        """Build it with what is varied from `names`, and with what is hidden elsewhere."""
        parts = [name for name, _ in self.route.path_params]
        chosen = {
            each: (names if self.varied in (each, "path") else _HIDDEN)[each] for each in parts
        }
        query, body = dict(self.extra), None
        field, suffix = self.varied.removesuffix("*"), "*" if self.varied.endswith("*") else ""
        value = names[field][:3] + suffix if suffix else names.get(field)
        if field in self.route.query_names:
            query[field] = str(value)
        if self.route.request_model is not None:
            body = dict(_BODIES[self.route.request_model.__name__])
            if field in self.route.request_model.model_fields:
                body[field] = [value] if field.startswith("tags") else value
        path = self.route.openapi_path.format(**chosen)
        return httpx.Request(self.route.method, path, params=query, json=body)


def _is_list(route: Route) -> bool:
    if route.required_permission in ("public", "root", "memory.admin", "memory.admin or root"):
        return False
    if {name for name, _ in route.path_params} & (_OPEN | _NO_LIST):
        return False
    is_deletion = route.method == "DELETE" and bool(route.query_names)
    return route.is_query or is_deletion or (route.method == "GET" and "total" in route.query_names)


def _list_varied(route: Route) -> Iterator[str]:
    parts = [name for name, _ in route.path_params]
    if parts:
        yield "path"
    if len(parts) > 1:
        yield from parts
    fields = route.request_model.model_fields if route.request_model is not None else ()
    for name in sorted((route.query_names | set(fields)) & _HIDDEN.keys()):
        yield name
        if name == "namespace":
            yield "namespace*"


def list_probes() -> Iterator[Probe]:
    """List a probe for each name of each list, and for each tier where there are tiers."""
    for route in list_routes():
        at = f"{route.method} {route.openapi_path}"
        if not _is_list(route) or at in _BY_NAME:
            continue
        tiers = _TIERS if "memory_type" in route.query_names else _TIERS[:1]
        pages = [each for each in _PAGES if dict(each).keys() <= route.query_names]
        for varied, tier, page in product(_list_varied(route), tiers, pages):
            if at not in _TELLS or varied != "namespace":
                yield Probe(route, varied, tier + page)


@dataclass(frozen=True)
class Seen:
    """The parts of an answer that a caller can compare."""

    status: int
    body: str
    headers: dict[str, str]


@pytest.fixture(scope="module")
def scene(session_service: Service) -> Iterator[tuple[Everything, list[Call]]]:
    """One of everything, on a function whose calls are recorded."""
    engine = session_service.engine
    with faulty() as client, recorded(client) as calls:
        again = start_service(engine, session_service.clock, session_service.key_file, 60)
        made = set_up(again)
        _hide_more(made)
        embedder(again)()
        yield made, calls
    engine.empty_tables()


def _hide_more(made: Everything) -> None:
    """Add what filters by key, tag, subject, and user would find, more than a short page shows."""
    alice, boss, admin = made.clients["alice"], made.clients["boss"], made.tenant.admin
    allow(admin, "users/*", "none", alice="write")
    value, tags = {"told": _WORD}, ["zt"]
    for number in range(4):
        key = f"hidden{number or ''}"
        create(alice, entry(key=key, value=value, tags=tags))
        create(alice, working("task_1", key=f"{key}_w", value=value, tags=tags))
        create(boss, semantic(namespace="closed", key=key, value=value, tags=tags))
        about = {"text": f"{_WORD} {number}", "user_id": "alice", "tags": tags}
        ok(alice.post("/api/v1/remember", json=about), 201)
        fact = {"subject": "Alice", "predicate": "earns", "object": _WORD * (number + 1)}
        ok(alice.post("/api/v1/facts", json=fact | {"user_id": "alice"}), 201)
        told = [{"role": "user", "content": _WORD}]
        tagged = {"user_id": "alice", "messages": told, "tags": tags}
        ok(alice.put(f"/api/v1/conversations/s{number + 2}", json=tagged), 201)
        ok(alice.put(f"/api/v1/agents/alice/state/boss/{key}", json={"value": value}))
        create_task(boss, id=f"task_{number + 2}", intent_id="intent_1", assigned_agent="alice")


def observe(
    client: httpx.Client, calls: list[Call], request: httpx.Request
) -> tuple[Seen, list[str], float]:
    """Send a request three times; describe the last answer, its calls, and the least time.

    A first one fills caches. One of the others may find that a key or rule has left its cache, and
    take a call more.
    """
    times, operations = [], list[list[str]]()
    for _ in range(3):
        calls.clear()
        begun = time.perf_counter()
        sent = client.build_request(
            request.method,
            request.url.raw_path.decode(),
            content=request.content,
            headers={"Content-Type": "application/json"} if request.content else {},
        )
        answer = client.send(sent)
        times.append(time.perf_counter() - begun)
        operations.append(sorted(each.operation for each in calls))
    headers = {name: each for name, each in answer.headers.items() if name != "x-request-id"}
    scores = r'"score":[0-9.e-]+'  # of what the caller sees: another word has another score
    body = re.sub(f'"(request_id|instance|[a-z]+_at)":"[^"]*"|{scores}', "", answer.text)
    for names in (_HIDDEN, _ABSENT):
        for name, each in names.items():
            body = body.replace(each, f"<{name}>")
    seen = Seen(answer.status_code, body, headers)
    return seen, min(operations[1:], key=len), min(times)


def test_each_name_of_each_list_is_varied() -> None:
    names = {name for each in map(_get_route, list_probes()) for name in each.query_names}
    assert names - _OPTIONS - _OPEN <= _HIDDEN.keys()
    assert len(list(list_probes())) > 80


def _get_route(probe: Probe) -> Route:
    return probe.route


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
@pytest.mark.parametrize("caller", ["stranger", "other"])
def test_what_is_hidden_answers_like_what_is_not_there(
    scene: tuple[Everything, list[Call]], subtests: pytest.Subtests, caller: str
) -> None:
    made, calls = scene
    client = made.clients[caller]
    for probe in list_probes():
        with subtests.test(str(probe)):
            hidden, calls_hidden, time_hidden = observe(client, calls, probe.build(_HIDDEN))
            absent, calls_absent, time_absent = observe(client, calls, probe.build(_ABSENT))
            assert vars(hidden) == vars(absent)
            assert calls_hidden == calls_absent
            for _ in range(_TRIES):
                if 0.1 < time_hidden / time_absent < 10:
                    break  # one that was slow was disturbed
                time_hidden = min(time_hidden, observe(client, calls, probe.build(_HIDDEN))[2])
                time_absent = min(time_absent, observe(client, calls, probe.build(_ABSENT))[2])
            else:
                pytest.fail(f"{time_hidden} s and {time_absent} s")


_OPEN_LISTS = {
    *("GET /api/v1/runs", "GET /api/v1/facts", "GET /api/v1/episodes", "GET /api/v1/agent-types"),
    "GET /api/v1/strategies",
}


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
def test_a_list_of_hidden_things_is_that_of_a_tenant_without_any(
    scene: tuple[Everything, list[Call]], subtests: pytest.Subtests
) -> None:
    made, calls = scene
    bare = made.tenant.service.tenant().agent("stranger")
    tried = 0
    for route in filter(_is_list, list_routes()):
        if route.method != "GET" or route.path_params or route.operation in _OPEN_LISTS:
            continue
        tried += 1
        for query in [{}, {"total": "none"}, *({"archived": "true"} for _ in _with_archive(route))]:
            with subtests.test(f"{route.operation} {query}"):
                request = httpx.Request("GET", route.path, params=query)
                here, _, _ = observe(made.clients["stranger"], calls, request)
                there, _, _ = observe(bare, calls, request)
                assert vars(here) == vars(there)
                assert '"hidden"' not in here.body
    assert tried >= 6


def _with_archive(route: Route) -> set[str]:
    return {"archived"} & route.query_names


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
@pytest.mark.parametrize("caller", ["stranger", "other"])
def test_hidden_answers_are_like_none(scene: tuple[Everything, list[Call]], caller: str) -> None:
    made, calls = scene
    used = {"role": "assistant", "content": _WORD, "uses": ["f.hidden"]}
    ok(made.clients["alice"].post("/api/v1/conversations/s2/messages", json=used), 201)
    for query in ({}, {"total": "none"}):
        hidden, absent = (
            observe(made.clients[caller], calls, httpx.Request("GET", path, params=query))
            for path in (f"/api/v1/recall/f.{name}/answers" for name in ("hidden", "absent"))
        )
        assert vars(hidden[0]) == vars(absent[0])
        assert len(hidden[1]) <= len(absent[1]) + 2, "two reads more: of the row and its header"


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
def test_a_page_of_one_thing_that_the_caller_may_not_read_is_refused(
    scene: tuple[Everything, list[Call]], subtests: pytest.Subtests
) -> None:
    made, _ = scene
    for route in list_routes():
        if f"{route.method} {route.openapi_path}" in _BY_NAME:
            with subtests.test(route.operation):
                body = {"keys": ["k"]} if route.request_model is not None else None
                path = route.openapi_path.format(**_HIDDEN)
                query = {"from": "0", "to": "1"} if "/messages" in path else {}
                if route.method == "DELETE" and "/objects/" in path:
                    query = {"prefix": ""}
                answer = made.clients["stranger"].request(
                    route.method, path, params=query, json=body
                )
                assert answer.status_code in (403, 404), answer.text


def _find_past(client: httpx.Client, agent: str, moment: int) -> tuple[int, str]:
    query = {"memory_type": "episodic", "agent_id": agent, "as_of": to_rfc3339(moment)}
    answer = client.get("/api/v1/memory", params=query)
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.in_process
def test_the_past_says_nothing_of_the_settings_of_another_agent(service: Service) -> None:
    tenant = service.tenant()
    alice, stranger = tenant.agent("alice"), tenant.agent("stranger")
    settings = {"episodic": {"history": {"days": 30}}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=settings))
    moment = service.clock() + 1_000
    service.clock.advance(seconds=60)
    assert _find_past(alice, "alice", moment) == (200, "")
    expected = _find_past(stranger, "alicf", moment)
    assert _find_past(stranger, "alice", moment) == expected == (410, "HISTORY_NOT_KEPT")


@pytest.mark.in_process
def test_a_vector_says_nothing_of_the_vectors_of_another_agent(service: Service) -> None:
    tenant = service.tenant()
    alice, stranger = tenant.agent("alice"), tenant.agent("stranger")
    create(alice, entry(memory_type="working", namespace="n", vector=[1.0] * 64))
    for agent in ("alice", "alicf"):
        body = {"memory_type": "working", "namespace": "n", "agent_id": agent, "vector": [1.0] * 65}
        assert ok(stranger.post("/api/v1/memory/search", json=body))["results"] == []
