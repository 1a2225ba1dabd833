"""Requests that somebody who knows all names of its tenant could send, for any route."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

import httpx

from functions.api.routing import Route

Json = dict[str, Any]
ACCESS = ("none", "read", "write", "admin")
VECTOR = [1.0, *[0.0] * 63]
POISON: tuple[Any, ...] = (
    {"n": int("9" * 308)},  # the largest integers that a double holds have 309 digits
    {"n": int("9" * 309)},
    {"n": -int("9" * 400)},
    {"n": 1e308},
    {"s": "\0\u2028\u202e\ufeff"},
    {"s": "\ud800"},
    {"__proto__": {"constructor": 1}},
    {"by": [[[[[[[[[["mallory"]]]]]]]]]]},
    {"v": "x" * 60_000},
)
"""Values that a careless reader fails at; those that the API takes must hold up nothing."""
PERMISSIONS = ("memory.read", "memory.write", "memory.admin")


@dataclass
class Names:
    """The names that the attacker knows, by path parameter or its kind.

    Attributes:
        random: what is chosen.
        known: the names; ids that answers give are added.
    """

    random: Random
    known: dict[str, list[str]] = field(default_factory=dict)

    def pick(self, kind: str) -> str:
        return self.random.choice(self.known[kind])

    def some(self, kind: str) -> list[str]:
        """A few names of a kind."""
        return self.random.sample(self.known[kind], self.random.randint(0, 2))

    def choose(self, *of: Any) -> Any:
        return self.random.choice(of)

    def maybe(self, **fields: Any) -> Json:
        """Each of these fields, or not."""
        return {name: value for name, value in fields.items() if self.random.random() < 0.5}

    def value(self) -> Any:
        """A harmless value, or one that a careless reader fails at."""
        return self.choose({"by": "mallory"}, {"by": "mallory"}, *POISON)

    def cursor(self) -> str:
        """A cursor of an earlier answer, as it was or changed, or one that is made up."""
        known = self.pick("after")
        at = self.random.randrange(len(known))
        changed = known[:at] + self.choose("A", "b", "_", "") + known[at + 1 :]
        return str(self.choose(known, changed, known[::-1], "0"))

    def learn(self, answer: httpx.Response) -> None:
        """Remember the ids that an answer gives to those who may have it."""
        if not answer.is_success or "json" not in answer.headers.get("Content-Type", ""):
            return
        body = answer.json()
        if not isinstance(body, dict):
            return
        if isinstance(body.get("next"), str):
            self.known["after"].append(body["next"])
        for name in ("runId", "memoryRef", "upload_id", "id"):
            if isinstance(body.get(name), str) and body[name] not in self.known[name]:
                self.known[name].append(body[name])


def _scope(names: Names) -> Json:
    return names.maybe(task_id=names.pick("task_id"), intent_id=names.pick("intent_id"))


def _entry(names: Names) -> Json:
    body = {
        "namespace": names.pick("namespace"),
        "key": names.pick("key"),
        "value": names.value(),
        "memory_type": names.choose("working", "working", "episodic", "semantic"),
        "scope": _scope(names),
    }
    return body | names.maybe(agent_id=names.pick("agent_id"), tags=["t"])


def _update(names: Names) -> Json:
    at = (
        {"id": names.pick("id")}
        if names.choose(True, False)
        else {
            "namespace": names.pick("namespace"),
            "key": names.pick("key"),
            "memory_type": names.choose("working", "episodic", "semantic"),
            "agent_id": names.pick("agent_id"),
        }
    )
    return at | {"version": names.choose(1, 1, 2, 3)} | names.maybe(value={}, tags=["t"])


def _task(names: Names) -> Json:
    return {"intent_id": names.pick("intent_id"), "id": names.pick("task_id")} | names.maybe(
        assigned_agent=names.pick("agent_id"),
        coordinator=names.pick("agent_id"),
        parent_task_id=names.pick("task_id"),
        memory_policy={"inherit_from_parent": True},
        delegates=["*"],
        status=names.choose("pending", "running", "completed"),
        semantic_namespaces=[names.pick("namespace")],
    )


def _conversation(names: Names) -> Json:
    body = {"user_id": names.pick("user_id"), "messages": [{"role": "user", "content": "m"}]}
    return body | names.maybe(
        agent_participants=["mallory"], shared_with=names.some("agent_id"), ttl="PT1S"
    )


def _memory_run(names: Names) -> Json:
    on: Json = names.choose(
        {"agent": names.pick("agent_id")},
        {"memoryRef": names.pick("memoryRef")},
        {"replayOf": names.pick("runId")},
    )
    return on | names.maybe(scope=names.pick("task_id"))


_GRANT = {"principal": "mallory", "access": "write"}
BODIES: dict[str, Callable[[Names], Any]] = {
    "NewMemory": lambda names: {"agent": names.pick("agent_id")},
    "NamespaceChange": lambda names: {
        "permissions": {"default": names.choose(*ACCESS)}
        | names.maybe(allow=[{"agent": names.pick("agent_id"), "access": names.choose(*ACCESS)}])
    },
    "AgentConfig": lambda names: {"episodic": {"capacity": names.choose(1, 2)}},
    "GuardrailsChange": lambda names: {
        "guardrails": names.choose({}, {"denied_namespaces": [names.pick("namespace")]})
    },
    "NewEntry": _entry,
    "Restoration": lambda _: {"version": 1},
    "EntryChange": lambda names: names.choose({"value": {}}, {"tags": ["t"]}),
    "MemorySearch": lambda names: (
        names.choose({"query": "zq"}, {"vector": VECTOR, "namespace": names.pick("namespace")})
        | {
            "memory_type": names.choose("working", "episodic", "semantic"),
        }
        | names.maybe(agent_id=names.pick("agent_id"))
    ),
    "Question": lambda names: (
        {"query": "zq"}
        | names.maybe(agent_id=names.pick("agent_id"))
        | names.maybe(user_id=names.pick("agent_id"))
        | names.maybe(namespace=names.pick("namespace"))
        | names.maybe(session_id=names.pick("session_id"))
    ),
    "ConversationQuestion": lambda names: (
        {"query": "zq"}
        | names.maybe(user_id=names.pick("agent_id"))
        | names.maybe(session_id=names.pick("session_id"))
    ),
    "Batch": lambda names: {
        "entries": [names.choose(_entry, _update)(names) for _ in range(names.choose(1, 2))]
    },
    "NewGrant": lambda names: {"access": names.choose("read", "write")},
    "Acl": lambda names: {"entries": names.choose([], [_GRANT])},
    "NewOwner": lambda names: {"principal": names.pick("agent_id")},
    "NewTask": _task,
    "TaskChange": lambda names: names.maybe(
        status=names.choose("running", "completed", "cancelled"),
        assigned_agent=names.pick("agent_id"),
        coordinator=names.pick("agent_id"),
        delegates=["*"],
        output="o",
        memory_policy={"max_entries": 1},
    ),
    "Workflow": lambda names: {"name": names.pick("key")},
    "UploadedMessages": lambda _: {
        "offset": 0,
        "messages": [{"role": "user", "content": "m"}],
    },
    "NewUpload": lambda _: {},
    "NewMessages": lambda names: (
        {"role": "user", "content": names.choose("m", *POISON)}
        | names.maybe(expect_created_by=[names.pick("agent_id")])
    ),
    "MessageChange": lambda names: {"content": names.choose("changed", *POISON)},
    "NewConversation": _conversation,
    "ConversationChange": lambda names: names.choose(
        {"shared_with": ["mallory"]}, {"agent_participants": ["mallory"]}, {"ttl": "PT1S"}
    ),
    "NewState": lambda names: {"value": names.choose("planted", *POISON)},
    "NewFact": lambda names: (
        {"subject": "s", "predicate": "p", "object": "o"}
        | names.maybe(user_id=names.pick("agent_id"), fact_id=names.pick("fact_id"))
        | names.maybe(replaces="same_subject_predicate")
    ),
    "PredicateRule": lambda _: {"single_valued": True},
    "NewFacts": lambda names: {
        "facts": [
            {"subject": "s", "predicate": "p", "object": "b"}
            | names.maybe(fact_id=names.pick("fact_id"))
        ]
    },
    "Recall": lambda _: {"query": "zq"},
    "ForgottenUser": lambda names: {"user_id": names.choose("ada", names.pick("user_id"))},
    "NewWorkingValue": lambda names: {"value": names.choose(1, *POISON)},
    "Selection": lambda _: {},
    "Outcome": lambda _: {"score": 1},
    "NewConsolidation": lambda names: {"dry_run": names.choose(True, False)},
    "ConsolidationSettings": lambda _: {"every": None},
    "NewStrategy": lambda names: {"kind": names.choose("facts", "summary")},
    "NewWorkflow": lambda _: {"spec": {}},
    "NewMemoryRun": _memory_run,
    "NewSecrets": lambda _: {"secrets": [{"label": "l", "value": "a-long-secret"}]},
    "NewMemoryEntry": lambda names: {"content": "c"} | names.maybe(runId=names.pick("runId")),
    "NewRun": lambda _: {"agent_type": "a"},
    "RunOutput": lambda names: {"output": names.choose(1, *POISON)},
    "RunError": lambda _: {"error": 1},
    "NewEpisode": lambda names: {"content": names.choose("c", *POISON)},
    "ObjectRename": lambda names: {"from": names.pick("key"), "to": names.pick("key")},
    "ObjectReading": lambda names: {"keys": [names.pick("key")]},
    "NewObjectUpload": lambda names: {"size": names.choose(1, 5_000_000)},
    "SpaceChange": lambda names: {"permissions": {"default": names.choose(*ACCESS)}},
    "bytes": lambda _: "planted",
    "NewDeletion": lambda names: {
        "kind": names.pick("kind"),
        "id": names.pick("agent_id"),
        "dry_run": names.choose(True, False),
    },
    "Memory": lambda names: {"text": "planted"} | names.maybe(user_id=names.pick("agent_id")),
    "NewTenant": lambda _: {"id": "mallorys"},
    "NewAdmin": lambda names: {"id": names.choose("puppet", "alice")},
    "NewPrincipal": lambda names: {
        "id": names.choose("puppet", "alice"),
        "kind": "user",
        "permissions": list(PERMISSIONS),
    },
    "TenantChange": lambda _: {"limits": {"items": None}},
    "PrincipalGrant": lambda _: {"permissions": ["memory.inspect"]},
    "PrincipalChange": lambda _: {"permissions": list(PERMISSIONS)},
}
"""A body for each model of a request; a new model without one fails the tests."""

QUERY: dict[str, Callable[[Names], Any]] = {
    "after": lambda names: names.cursor(),
    "agent_id": lambda names: names.pick("agent_id"),
    "scope.task_id": lambda names: names.pick("task_id"),
    "scope.intent_id": lambda names: names.pick("intent_id"),
    "namespace": lambda names: names.choose(names.pick("namespace"), "c*", "agents/alice/*"),
    "key": lambda names: names.pick("key"),
    "memory_type": lambda names: names.choose("working", "episodic", "semantic"),
    "agent_type": lambda names: names.pick("agent_type"),
    "memoryRef": lambda names: names.pick("memoryRef"),
    "runId": lambda names: names.pick("runId"),
    "archived": lambda _: "true",
    "touch": lambda _: "false",
    "values": lambda _: "omit",
    "vector": lambda _: "include",
    "tags": lambda _: "t",
    "type": lambda _: "memory.archived",
    "limit": lambda names: names.choose(1, 50),
    "order": lambda _: "desc",
    "total": lambda _: "none",
    "from": lambda _: 0,
    "to": lambda _: 1,
    "actor": lambda names: names.pick("agent_id"),
    "entry_id": lambda names: names.pick("id"),
    "principal": lambda names: names.pick("agent_id"),
    "user_id": lambda names: names.pick("agent_id"),
    "entry": lambda names: names.pick("id"),
    "task": lambda names: names.pick("task_id"),
    "conversation": lambda names: names.pick("session_id"),
    "prefix": lambda _: "k",
    "dry_run": lambda _: "true",
    "episodic_limit": lambda _: 50,
    "tag": lambda _: "t",
    "tags_any": lambda _: "t",
    "as_principal": lambda names: names.pick("agent_id"),
}
NARROWING = frozenset(
    {
        *("before", "offset", "last", "updated_after", "updated_before"),
        *("action", "status", "subject", "predicate", "learned_from_run_id", "instance_id"),
        *("as_of", "ended", "version", "query", "rank", "tokenBudget"),
        *("pinned", "max_kb", "value", "run_id", "expires_at"),
    }
)
"""Parameters of queries that the attacker leaves out: they show less of the same."""


def build_request(route: Route, names: Names) -> httpx.Request:
    """Build a request of a route with names that the attacker knows."""
    path = route.path
    for name, _ in route.path_params:
        kind = "agent_id" if name == "id" and "principals" in path else name
        for template in (f"{{{name}}}", f"{{{name}+}}"):
            path = path.replace(template, quote(names.pick(kind), safe=""))
    query = {
        name: QUERY[name](names)
        for name in route.query_names & QUERY.keys()
        if names.choose(True, False)
    }
    body = None
    if route.request_model is not None:
        body = BODIES[getattr(route.request_model, "__name__", "")](names)
    headers: dict[str, str] = {}
    if route.if_match == "required" or (route.if_match and names.choose(True, False)):
        headers["If-Match"] = str(names.choose(1, 1, 2, 3))
    if route.idempotent and names.choose(True, False):
        headers["Idempotency-Key"] = names.pick("key")
    if body is not None:
        headers["Content-Type"] = "application/json"
    content = None if body is None else json.dumps(body).encode()  # surrogates as escapes
    return httpx.Request(
        route.method, f"http://memory.test{path}", params=query, content=content, headers=headers
    )
