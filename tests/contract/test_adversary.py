"""One agent that tries everything against those who work honestly beside it.

mallory is an agent with the default permissions. It knows every name and id of its tenant, but no
key, reference or run of others. No order of requests shows it a value or a hidden name that the
model doesn't let it see, or changes anything of others.

`make adversary` runs it for an hour, or for ADVERSARY_SECONDS, instead of a few seconds.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import Any, cast
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from functions.api.route_index import list_routes
from functions.platform.observability import logger as service_logger
from tests.contract.adversary_world import (
    HONEST,
    INTENTS,
    SESSIONS,
    TASK_IDS,
    WORKERS,
    WorkTask,
    World,
    build_names,
)
from tests.contract.attacks import BODIES, NARROWING, QUERY, VECTOR, Names, build_request
from tests.contract.bodies import (
    MEMORY,
    TASKS,
    allow,
    change_task,
    entry,
    patch,
    query,
    read,
    semantic,
    task,
    working,
)
from tests.contract.expect import ok
from tests.contract.openwop_calls import start
from tests.contract.sealed_items import find_sealed, put_value
from tests.contract.service import Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import sweep

SECONDS = float(os.environ.get("ADVERSARY_SECONDS", "0"))
MARKER = re.compile(r"zq\d{6}x")
CONVERSATIONS = "/api/v1/conversations"
FACTS = "/api/v1/facts"
LEVELS = ("none", "read")
CLOSED = ("closed", "toggled", "users/ada/notes")
ATTACKS_PER_STEP = 6
_ATTACKED = [each for each in list_routes() if each.required_permission != "public"]


Visible = Callable[[], bool]


def _seal_message(who: str, text: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"json": {"user_id": who, "messages": messages, "sensitivity": "restricted"}}


def _seal_state(_: str, text: str) -> dict[str, Any]:
    return {"json": {"value": text, "sensitivity": "restricted"}}


def _seal_object(_: str, text: str) -> dict[str, Any]:
    return {"content": text.encode(), "headers": {"X-Object-Sensitivity": "restricted"}}


SEALED: dict[str, tuple[str, Callable[[str, str], dict[str, Any]]]] = {
    "/api/v1/agents/{0}/state/{0}/sealed": ("s#", _seal_state),
    "/api/v1/agents/{0}/objects/sealed/k": ("obj#", _seal_object),
    "/api/v1/conversations/sealed-{0}": ("msg#", _seal_message),
}
"""The beginning of the sort key of an encrypted item, and how it is stored, by its path."""


class Adversary(RuleBasedStateMachine):
    """Honest work, and attacks between its steps."""

    def __init__(self, tenant: Tenant, logged: list[str], stream: Stream) -> None:
        super().__init__()
        self.tenant, self.logged, self.stream = tenant, logged, stream
        self.consume = stream_function(tenant.service)
        self.boss = tenant.coordinator("boss")
        self.clients = {each: tenant.agent(each) for each in WORKERS}
        self.mallory = self.clients["mallory"]
        self.world = World()
        self.visible: dict[str, Visible] = {}
        self.serial = 0
        self.runs = {each: start(self.clients[each]) for each in HONEST}
        for space in CLOSED:
            self.set_access(space, "none")
        self.set_access("users/ada/memory", "write")  # which isn't all of ada's
        allow(tenant.admin, "users/*", "none", alice="write")
        self.keys = [each.headers["X-API-Key"] for each in (self.boss, *self.clients.values())]
        self.people = self._list_principals()
        self.known = build_names(self.runs["alice"].id, self.runs["alice"].reference)

    def mark(self, visible: Visible) -> str:
        """A new marker, and when mallory may see it."""
        self.serial += 1
        marker = f"zq{self.serial:06d}x"
        self.visible[marker] = visible
        return marker

    def set_access(self, space: str, level: str) -> None:
        allow(self.tenant.admin, space, "none", boss="write", mallory=level)
        self.world.access[space] = level

    def _list_principals(self) -> Any:
        return ok(self.tenant.admin.get("/api/v1/principals"))["principals"]

    # Honest work

    @rule(
        id=st.sampled_from(TASK_IDS), to=st.sampled_from(WORKERS), intent=st.sampled_from(INTENTS)
    )
    def register(self, id: str, to: str, intent: str) -> None:
        """boss registers a task, unless its id is taken."""
        if id in self.world.tasks:
            return
        marker = self.mark(lambda: id in self.world.tasks and self._sees_task(id))
        body = task(id=id, intent_id=intent, assigned_agent=to, input=marker)
        ok(self.boss.post(TASKS, json=body), 201)  # whatever mallory has registered under the id
        self.world.tasks[id] = WorkTask(intent, to, was_mallorys=to == "mallory")

    def _sees_task(self, id: str) -> bool:
        at = self.world.tasks[id]
        return at.was_mallorys or at.grant is not None or self.world.takes_part(at.intent)

    @rule(id=st.sampled_from(TASK_IDS), to=st.sampled_from(WORKERS))
    def hand_over(self, id: str, to: str) -> None:
        at = self.world.tasks.get(id)
        if at is None:
            return
        answer = change_task(self.boss, ok(self.boss.get(f"{TASKS}/{id}")), assigned_agent=to)
        if answer.status_code == 409:
            at.is_open = False
            return
        ok(answer)
        if at.assignee != to and at.assignee in HONEST:
            at.grant = None if at.grant == at.assignee else at.grant
        at.assignee, at.was_mallorys = to, at.was_mallorys or to == "mallory"

    @rule(id=st.sampled_from(TASK_IDS))
    def end(self, id: str) -> None:
        at = self.world.tasks.get(id)
        if at is None or not at.is_open:
            return
        answer = change_task(self.boss, ok(self.boss.get(f"{TASKS}/{id}")), status="completed")
        assert answer.status_code in (200, 409)
        at.is_open = False

    @rule(id=st.sampled_from(TASK_IDS), access=st.sampled_from(["read", "write", None]))
    def grant(self, id: str, access: str | None) -> None:
        at = self.world.tasks.get(id)
        if at is None:
            return
        path = f"{TASKS}/{id}/grants/mallory"
        if access is None:
            answer = self.boss.delete(path)
            if answer.is_success:
                at.grant = None
        elif self.boss.put(path, json={"access": access}).is_success:
            at.grant = "boss"

    @rule(id=st.sampled_from(TASK_IDS), key=st.sampled_from(["k0", "k1"]))
    def work(self, id: str, key: str) -> None:
        """The assignee keeps a checkpoint; when the task ends, the intent's log has it."""
        at = self.world.tasks.get(id)
        if at is None or at.assignee not in HONEST:
            return
        client = self.clients[at.assignee]
        value = self.mark(lambda: self.world.reads_task(id) or self.world.listed.get(at.intent))  # type: ignore[arg-type,return-value]
        name = self.mark(lambda: self.world.reads_task(id) or self.world.takes_part(at.intent))
        body = working(id, key=f"{key}-{name}", value={"v": value})
        answer = client.post(MEMORY, json=body)
        if answer.status_code == 201:
            self.keep(answer.json(), at.assignee, id)
        else:
            assert answer.status_code == 409, answer.text
            at.is_open = False

    def keep(self, made: Any, owner: str, task_id: str | None) -> None:
        """Remember an entry; mallory knows its id."""
        self.world.entries[made["id"]] = (owner, task_id, made)
        self.known["id"].append(made["id"])

    @rule(who=st.sampled_from(HONEST), key=st.sampled_from(["k0", "k1", "k2"]))
    def remember(self, who: str, key: str) -> None:
        """An agent keeps an episode, or changes it."""
        value = {"v": self.mark(lambda: False)}
        body = entry(key=key, value=value, vector=VECTOR)
        answer = self.clients[who].post(MEMORY, json=body)
        if answer.status_code == 201:
            self.keep(answer.json(), who, None)
            return
        (there,) = query(self.clients[who], key=key, memory_type="episodic")
        path = f"{MEMORY}/{there['id']}"
        changed = ok(patch(self.clients[who], path, there["version"], {"value": value}))
        self.keep(changed, who, None)

    @rule(space=st.sampled_from(CLOSED), key=st.sampled_from(["k0", "k1", "k2"]))
    def publish(self, space: str, key: str) -> None:
        """boss writes semantic memory."""
        value = {"v": self.mark(lambda: self.world.access[space] == "read")}
        body = semantic(namespace=space, key=key, value=value, vector=VECTOR)
        made = self.boss.put(MEMORY, json=body)
        self.keep(made.json(), "boss", None)

    @rule(level=st.sampled_from(LEVELS))
    def open_namespace(self, level: str) -> None:
        """An administrator opens a namespace to mallory, or closes it."""
        self.set_access("toggled", level)

    @rule(intent=st.sampled_from(INTENTS), listed=st.booleans())
    def list_on_acl(self, intent: str, listed: bool) -> None:
        """boss puts mallory on an intent's access list, or off it."""
        entries = [{"principal": "mallory", "access": "read"}] if listed else []
        ok(self.boss.put(f"/api/v1/intents/{intent}/acl", json={"entries": entries}))
        self.world.listed[intent] = listed

    @rule(session=st.sampled_from(SESSIONS), shared=st.booleans())
    def converse(self, session: str, *, shared: bool) -> None:
        """alice stores a conversation, in place of the one before it."""
        alice = self.clients["alice"]
        at = alice.get(f"{CONVERSATIONS}/{session}")
        if at.status_code == 403:  # mallory's, who was first and didn't name alice
            return
        text = self.mark(lambda: self.world.shared[session])
        body = {
            "user_id": "alice",
            "messages": [{"role": "user", "content": text}],
            "shared_with": ["mallory"] if shared else [],
        }
        headers = {"If-Match": at.headers["ETag"]} if at.is_success else {}
        previous = self.world.shared.get(session, False)
        self.world.shared[session] = shared
        answer = alice.put(f"{CONVERSATIONS}/{session}", json=body, headers=headers)
        if answer.is_success:
            self.world.said[session] = [text]
        else:
            assert answer.status_code in (403, 409), answer.text
            self.world.shared[session] = previous

    @rule(session=st.sampled_from(SESSIONS))
    def say(self, session: str) -> None:
        """alice appends to one of its conversations."""
        if session in self.world.said:
            text = self.mark(lambda: self.world.shared[session])
            body = {"role": "user", "content": text}
            path = f"{CONVERSATIONS}/{session}/messages"
            ok(self.clients["alice"].post(path, json=body), 201)
            self.world.said[session].append(text)

    @rule(session=st.sampled_from(SESSIONS))
    def say_carefully(self, session: str) -> None:
        """alice appends as the SDK does: to no conversation that somebody else has made."""
        text = self.mark(lambda: self.world.shared.get(session, False))
        body = {"role": "user", "content": text, "expect_created_by": ["alice"]}
        path = f"{CONVERSATIONS}/{session}"
        answer = self.clients["alice"].post(f"{path}/messages", json=body)
        if answer.is_success:
            assert ok(self.clients["alice"].get(path))["created_by"] == "alice"
            self.world.said.setdefault(session, []).append(text)
        else:
            assert answer.status_code in (403, 404, 409), answer.text

    @rule()
    def exhaust(self) -> None:
        """The operator allows the tenant nothing more: mallory stores nothing, and may delete."""
        root, path = self.tenant.service.root, f"/api/v1/tenants/{self.tenant.id}"
        self.serial += 1
        body = entry(key=f"b{self.serial}")
        made = self.mallory.post(MEMORY, json=body)
        self.deliver()  # which counts it
        for limit, status in ((0, 429), (None, 201)):
            ok(root.patch(path, json={"limits": {"items": limit}}))
            self.tenant.service.clock.advance(seconds=61)
            again = self.mallory.post(MEMORY, json=body | {"key": f"c{self.serial}"})
            if status == 429 or made.status_code == 201:
                assert again.status_code == status, again.text
            if made.status_code == 201:
                self.mallory.delete(f"{MEMORY}/{made.json()['id']}")

    @rule(length=st.integers(1, 6))
    def spell(self, length: int) -> None:
        """mallory spells out a namespace that it may not read: each prefix answers alike."""
        asked = [
            self.mallory.get(f"{MEMORY}?memory_type=semantic&namespace={each}*").text
            for each in ("closed"[:length], "zlosed"[:length])
        ]
        assert asked[0] == asked[1]
        for path in (MEMORY, "/api/v1/intents", "/api/v1/agents", "/api/v1/objects"):
            assert '"hidden"' not in self.mallory.get(path).text

    @rule(owner=st.sampled_from(["boss", "mallory"]), key=st.sampled_from(["k0", "k1"]))
    def set_state(self, owner: str, key: str) -> None:
        """alice sets a state for an owner, who can read it."""
        value = self.mark(lambda: owner == "mallory")
        path = f"/api/v1/agents/alice/state/{owner}/{key}"
        assert self.clients["alice"].put(path, json={"value": value}).is_success
        self.world.states[path] = value

    @rule(key=st.sampled_from(["k0", "k1"]))
    def store_object(self, key: str) -> None:
        """alice stores an object in its space."""
        content = self.mark(lambda: False)
        path = f"/api/v1/agents/alice/objects/box/{key}"
        answer = self.clients["alice"].put(path, content=content.encode())
        assert answer.is_success, answer.text
        self.world.objects[path] = content

    @rule(path=st.sampled_from(list(SEALED)))
    def move_ciphertext(self, path: str) -> None:
        """An operator copies what alice has sealed into what mallory has sealed and may read."""
        service, (sort, body) = self.tenant.service, SEALED[path]
        text, items = self.mark(lambda: False), list[Any]()
        for who, each in (("alice", text), ("mallory", "m")):
            before = list(find_sealed(service, sort))
            put = self.clients[who].put(path.format(who), **body(who, each))
            assert put.is_success, put.text
            items += [item for item in find_sealed(service, sort) if item not in before]
        source, target = items
        put_value(service, target, source)
        shown = self.mallory.get(path.format("mallory"))
        assert text not in shown.text
        assert shown.status_code == 409 or '"unreadable":true' in shown.text, shown.text
        assert text in self.clients["alice"].get(path.format("alice")).text
        for who in ("alice", "mallory"):
            assert self.clients[who].delete(path.format(who)).is_success

    @rule(key=st.sampled_from(["k0", "k1"]))
    def learn(self, key: str) -> None:
        """alice learns a fact about a user whose memory is closed to mallory, who knows its id."""
        marker = self.mark(lambda: False)
        fact = {"subject": "s", "predicate": "p", "object": marker, "user_id": "alice"}
        answer = self.clients["alice"].post(FACTS, json=fact | {"fact_id": key})
        assert answer.is_success or answer.status_code == 403, answer.text
        self.world.facts[key] = marker

    @rule(session=st.sampled_from(SESSIONS))
    def upload(self, session: str) -> None:
        """alice begins to store a conversation piece by piece, and mallory learns of it."""
        alice, path = self.clients["alice"], f"{CONVERSATIONS}/{session}/uploads"
        answer = alice.post(path, json={})
        if answer.status_code == 403:  # of a conversation of mallory, who didn't name alice
            return
        begun = ok(answer, 201)["upload_id"]
        text = self.mark(lambda: False)
        messages = [{"role": "user", "content": text}]
        sent = alice.post(f"{path}/{begun}/messages", json={"offset": 0, "messages": messages})
        assert sent.is_success, sent.text
        self.known["upload_id"].append(begun)

    @rule(who=st.sampled_from(HONEST))
    def put_memory(self, who: str) -> None:
        """A run puts into its memory, whose reference mallory doesn't have."""
        self.runs[who].put(self.mark(lambda: False))

    @rule(seconds=st.sampled_from([1, 61, 3601]))
    def wait(self, seconds: int) -> None:
        """Time passes; sometimes the scheduled function runs."""
        self.tenant.service.clock.advance(seconds=seconds)
        if seconds > 1:
            sweep(self.tenant.service)

    @rule()
    def deliver(self) -> None:
        assert self.consume(self.stream.read()) == []

    # Attacks

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        """Some work is under way; the attacks are chosen apart, so that no example lacks any."""
        self.random = Random(seed)  # noqa: S311 - chooses what is tried
        self.register("t1", "alice", "i1")
        self.register("t2", self.random.choice(WORKERS), "i1")
        self.work("t1", "k0")
        self.work("t2", "k1")
        for who in HONEST:
            self.remember(who, "k0")
            self.put_memory(who)
        self.publish("toggled", "k0")
        self.publish("users/ada/notes", "k0")
        self.converse("s1", shared=False)
        self.set_state("boss", "k0")
        self.store_object("k0")
        self.upload("s1")
        self.learn("k0")

    @invariant()
    def attack(self) -> None:
        """mallory sends a few requests after each step."""
        for _ in range(ATTACKS_PER_STEP):
            names = Names(self.random, self.known)
            request = build_request(self.random.choice(_ATTACKED), names)
            if _asks_for_the_past(request):
                self.deliver()  # what the stream hasn't brought is waited for: 503 until then
            self.logged.clear()
            answer = self.mallory.send(self._with_key(request))
            names.learn(answer)
            shown = f"{answer.text}\n{answer.headers}"
            found = set(MARKER.findall(shown)) - set(MARKER.findall(str(request.url)))
            seen = {each for each in found if not self.visible[each]()}
            assert not seen, (request.method, request.url, request.content, answer.text, seen)
            assert not MARKER.search(" ".join(self.logged)), self.logged
            assert not answer.is_redirect, answer.headers
            assert not any(each in shown for each in self.keys), answer.text
            self._follow(request, answer)

    def _with_key(self, request: httpx.Request) -> httpx.Request:
        request.headers["X-API-Key"] = self.mallory.headers["X-API-Key"]
        return request

    def _follow(self, request: httpx.Request, answer: httpx.Response) -> None:
        """Take over what mallory may do as a task's assignee: end it, and give up its own grant."""
        name = request.url.path.removeprefix(f"{TASKS}/")
        if not answer.is_success:
            return
        if request.method == "PATCH" and name in self.world.tasks:
            self.world.tasks[name].is_open &= answer.json()["status"] in ("pending", "running")
        if name.endswith("/grants/mallory") and name.partition("/")[0] in self.world.tasks:
            at = self.world.tasks[name.partition("/")[0]]
            assert at.assignee == "mallory"
            at.grant = None

    # What must be as it was

    def teardown(self) -> None:
        """Nothing of others was changed, and mallory's audit records are of what it may do."""
        assert self._list_principals() == self.people
        for space, level in self.world.access.items():
            name = quote(space, safe="")
            found = ok(self.tenant.admin.get(f"/api/v1/memory/namespaces/{name}"))
            levels = {each["agent"]: each["access"] for each in found["permissions"]["allow"]}
            assert found["permissions"]["default"] == "none"
            assert levels.get("mallory", "none") == level
        for intent, listed in self.world.listed.items():
            entries = ok(self.tenant.admin.get(f"/api/v1/intents/{intent}/acl"))["entries"]
            assert bool(entries) == listed
        self._check_tasks()
        self._check_memory()
        self._check_audit()

    def _check_tasks(self) -> None:
        for id, at in self.world.tasks.items():
            found = ok(self.boss.get(f"{TASKS}/{id}"))
            assert (found["coordinator"], found["assigned_agent"]) == ("boss", at.assignee)
            if not at.was_mallorys:
                assert (found["status"] == "completed") == (not at.is_open)

    def _check_memory(self) -> None:
        for id, (owner, task_id, made) in self.world.entries.items():
            at = None if task_id is None else self.world.tasks[task_id]
            if at is not None and (at.was_mallorys or not at.is_open):
                continue  # a successor may replace entries; an ended task has none
            client = self.boss if owner == "boss" else self.clients[owner]
            assert ok(read(client, id))["value"] == made["value"]
        for session, texts in self.world.said.items():
            found = ok(self.clients["alice"].get(f"{CONVERSATIONS}/{session}"))
            assert [each["content"] for each in found["messages"]] == texts
        for path, value in self.world.states.items():
            assert ok(self.clients["alice"].get(path))["value"] == value
        for path, content in self.world.objects.items():
            assert self.clients["alice"].get(path).text == content
        for key, what in self.world.facts.items():
            found = ok(self.clients["alice"].get(f"{FACTS}/{key}"))
            assert (found["object"], found["valid_until"]) == (what, None)

    def _check_audit(self) -> None:
        done = ok(self.tenant.admin.get("/api/v1/audit", params={"actor": "mallory"}))["records"]
        for each in done:
            kind, _, name = each["target"].partition(":")
            if kind == "task" and name.split("/")[0] in self.world.tasks:
                assert self.world.tasks[name.split("/")[0]].was_mallorys, each
            if kind == "namespace":
                assert name.startswith("agents/mallory/"), each
                continue
            own = ("task", "entry", "openwop-run", "object-space", "object")
            assert each["action"].split(".")[0] in own, each


@contextmanager
def reading_the_log() -> Iterator[list[str]]:
    """Collect what the function logs in this context."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(str(vars(record)))  # type: ignore[method-assign]
    logger = logging.getLogger(service_logger.name)
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def test_every_request_model_has_a_body_for_the_attacker() -> None:
    models = {getattr(each.request_model, "__name__", None) for each in _ATTACKED} - {None}
    assert models == BODIES.keys()


def test_the_attacker_knows_each_route_and_each_parameter() -> None:
    names = Names(Random(0), build_names("run_1", "ref"))  # noqa: S311 - chooses what is tried
    for each in _ATTACKED:
        assert "{" not in build_request(each, names).url.path
    queries = {name for each in _ATTACKED for name in each.query_names}
    assert queries - QUERY.keys() == NARROWING


def attack(tenant: Tenant, logged: list[str], number: int, examples: int) -> None:
    """Run the machine for this number of examples, each in a new tenant."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=30,
        derandomize=not SECONDS,
        phases=[Phase.generate],  # what was tried is shown; a smaller example takes minutes
        suppress_health_check=list(HealthCheck),
    )
    stream, names = Stream(tenant.service), count()

    def machine() -> Adversary:
        name = f"adversary-{number}-{next(names)}"
        return Adversary(tenant.service.tenant(name), logged, stream)

    run_state_machine_as_test(cast("Any", machine), settings=chosen)


def _asks_for_the_past(request: httpx.Request) -> bool:
    past = {"version", "as_of"} & set(request.url.params)
    return bool(past) or request.url.path.endswith(("/history", "/restore"))


@pytest.mark.hypothesis
@pytest.mark.usefixtures("parallel")
def test_an_agent_sees_and_changes_nothing_of_others(tenant: Tenant) -> None:
    deadline, rounds = time.monotonic() + SECONDS, count()
    with reading_the_log() as logged:
        attack(tenant, logged, next(rounds), 4)
        while time.monotonic() < deadline:
            tenant.service.engine.empty_tables()
            attack(tenant, logged, next(rounds), 10)
