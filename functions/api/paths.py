"""Which modules have the routes of a path. A module is imported when its first request comes, so
that a cold start waits for one room alone (decision 36)."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from functions.api.route import Route
from functions.api.templates import pattern_of
from functions.platform.errors import MethodNotAllowed, NotFound
from functions.platform.start import starting

_PATHS = {
    "logs": (
        "/api/v1/intents/{intent_id+}/events",
        "/api/v1/agents/{agent_id+}/events",
        "/api/v1/memory/namespaces/{namespace+}/events",
    ),
    "namespaces": (
        "/api/v1/memory/namespaces",
        "/api/v1/memory/namespaces/{namespace+}",
    ),
    "agents": ("/api/v1/agents/{agent_id+}/memory/config",),
    "guardrails": ("/api/v1/coordinators/{coordinator_id+}/guardrails",),
    "memory.queries": (
        "/api/v1/memory",
        "/api/v1/agents/{agent_id+}/memory/summary",
        "/api/v1/agents/{agent_id+}/memory",
    ),
    "memory.entry": ("/api/v1/memory/{id}",),
    "memory.with_bodies": ("/api/v1/memory", "/api/v1/memory/{id}"),
    "memory.batch": ("/api/v1/memory/batch",),
    "search": ("/api/v1/memory/search",),
    "context": ("/api/v1/tasks/{task_id+}/context",),
    "tasks.without_bodies": (
        "/api/v1/tasks/{task_id+}/grants/{principal+}",
        "/api/v1/tasks/{task_id+}",
        "/api/v1/intents/{intent_id+}/tasks",
        "/api/v1/agents/{agent_id+}/tasks",
        "/api/v1/intents/{intent_id+}/acl",
    ),
    "tasks.with_bodies": (
        "/api/v1/tasks",
        "/api/v1/tasks/{task_id+}/grants/{principal+}",
        "/api/v1/tasks/{task_id+}",
        "/api/v1/intents/{intent_id+}/acl",
    ),
    "conversations.without_bodies": (
        "/api/v1/conversations/{session_id+}/messages/pop",
        "/api/v1/conversations/{session_id+}/archive",
        "/api/v1/conversations/{session_id+}",
        "/api/v1/users/{user_id+}/conversations",
    ),
    "conversations.with_bodies": (
        "/api/v1/conversations/{session_id+}/messages",
        "/api/v1/conversations/{session_id+}",
    ),
    "states.without_bodies": (
        "/api/v1/agents/{agent_id+}/state/{owner_id}/{key+}",
        "/api/v1/agents/{agent_id+}/state/{owner_id}",
    ),
    "states.with_bodies": ("/api/v1/agents/{agent_id+}/state/{owner_id}/{key+}",),
    "facts": (
        "/api/v1/facts",
        "/api/v1/facts/recall",
        "/api/v1/facts/{fact_id+}",
    ),
    "instances": (
        "/api/v1/instances/{instance_id}/working/{key+}",
        "/api/v1/instances/{instance_id}/working",
    ),
    "procedures": (
        "/api/v1/procedures/{agent_type}/{task_type}/select",
        "/api/v1/procedures/{agent_type}/{task_type}/{workflow_id}/outcome",
        "/api/v1/procedures/{agent_type}/{task_type}/{workflow_id}",
        "/api/v1/procedures/{agent_type}/{task_type}",
    ),
    "openwop": (
        "/v1/runs",
        "/v1/runs/{runId}/end",
        "/v1/memory/{memoryRef+}/{id}",
        "/v1/memory/{memoryRef+}",
    ),
    "runs": (
        "/api/v1/runs",
        "/api/v1/runs/{run_id}",
        "/api/v1/runs/{run_id}/complete",
        "/api/v1/runs/{run_id}/fail",
        "/api/v1/runs/{run_id}/episodes",
        "/api/v1/episodes",
    ),
    "workflows": ("/api/v1/workflows",),
    "identity": (
        "/api/v1/tenants",
        "/api/v1/principals",
        "/api/v1/me",
        "/api/v1/principals/{id+}/rotate",
        "/api/v1/principals/{id+}",
    ),
    "discovery.answers": (
        "/health",
        "/.well-known/openintent.json",
        "/.well-known/openwop",
        "/api/v1/capabilities",
    ),
    "discovery.document": ("/openapi.json", "/docs"),
}
"""The paths of each module. Fixed ones are looked up; of patterns that overlap, the first wins."""

_MODULES: dict[str, list[str]] = {}
for _module, _paths in _PATHS.items():
    for _path in _paths:
        _MODULES.setdefault(_path, []).append(_module)


def find(path: str, method: str) -> tuple[Route, dict[str, str]]:
    """The route of a path and a method, and the names that the path holds.

    Raises:
        NotFound: there is nothing at this path.
        MethodNotAllowed: there is, for other methods.
    """
    wanted = "GET" if method == "HEAD" else method
    allowed: set[str] = set()
    for template, names in _matching(path):
        for module in _MODULES[template]:
            methods = _routes_of(module)[template]
            if wanted in methods:
                return methods[wanted], names
            allowed |= methods.keys()
    if not allowed:
        raise NotFound("there is nothing at this path; see /openapi.json")
    raise MethodNotAllowed(sorted(allowed))


def every_route() -> list[Route]:
    """All routes, in the order of the paths."""
    at = [(path, module) for path, modules in _MODULES.items() for module in modules]
    return [route for path, module in at for route in _routes_of(module)[path].values()]


def _matching(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    if path in _MODULES and "{" not in path:
        yield path, {}
        return
    for template in _MODULES:
        start, _, names = template.partition("{")
        match = pattern_of(template).fullmatch(path) if names and path.startswith(start) else None
        if match is not None:
            yield template, match.groupdict()


@cache
def _routes_of(module: str) -> Mapping[str, Mapping[str, Route]]:
    with starting():
        routes: list[Route] = import_module(f"functions.api.routes.{module}").ROUTES
    by_path: dict[str, dict[str, Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, {})[route.method] = route
    return by_path
