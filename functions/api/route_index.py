"""The modules of routes, and the lookup of a request in them.

A start imports what most functions serve. Each other group is imported, with all that its requests
need, by the first request whose path begins like its own.
"""

from functools import cache
from importlib import import_module
from typing import NamedTuple

from functions.api import routes
from functions.api.routes import OPENWOP_PREFIX
from functions.api.routing import Route, Router


class RouteGroup(NamedTuple):
    """Modules of routes that are imported together.

    Attributes:
        modules: of templates that overlap, the first wins: states, whose keys may end in any
            word, come first, then paths that end in a fixed word.
        prefixes: how their paths begin; none for what is imported at INIT.
    """

    modules: tuple[str, ...]
    prefixes: tuple[str, ...] = ()

    def import_routes(self) -> list[Route]:
        """Import the modules, and list their routes."""
        modules = (import_module(f"{routes.__name__}.{name}") for name in self.modules)
        return [route for module in modules for route in module.ROUTES]

    def build_router(self) -> Router:
        return Router(self.import_routes())


_GROUPS = (
    RouteGroup(("private_spaces", "states", "events", "namespaces", "agents", "entries")),
    RouteGroup(("search",), ("/api/v1/memory/search",)),
    RouteGroup(("recall",), ("/api/v1/conversations/search", "/api/v1/forget", "/api/v1/recall")),
    RouteGroup(("batches", "grants", "guardrails", "intents", "tasks")),
    RouteGroup(("workflows",), ("/api/v1/workflows",)),
    RouteGroup(
        ("messages", "conversations", "conversation_lists"),
        ("/api/v1/conversations", "/api/v1/users/"),
    ),
    RouteGroup(("facts",), ("/api/v1/facts",)),
    RouteGroup(("consolidation",), ("/api/v1/consolidation",)),
    RouteGroup(("strategies",), ("/api/v1/strategies",)),
    RouteGroup(("working_values",), ("/api/v1/instances/",)),
    RouteGroup(("procedures",), ("/api/v1/procedures/",)),
    RouteGroup(("openwop_runs", "openwop"), (OPENWOP_PREFIX,)),
    RouteGroup(("spaces", "objects"), ("/api/v1/objects",)),
    RouteGroup(("runs",), ("/api/v1/agent-types", "/api/v1/episodes", "/api/v1/runs")),
    RouteGroup(("principals",)),
    RouteGroup(("tenants", "deletions"), ("/api/v1/deletions", "/api/v1/tenants")),
    RouteGroup(("audit",)),
    RouteGroup(("usage",), ("/api/v1/usage",)),
    RouteGroup(("access",), ("/api/v1/access",)),
    RouteGroup(("discovery", "console")),
)
"""All modules, in the order of the API's description."""
_COMMON = RouteGroup(tuple(name for each in _GROUPS if not each.prefixes for name in each.modules))


def build_router() -> Router:
    """Build the router of all requests, with only the common modules imported."""
    further = {each.prefixes: cache(each.build_router) for each in _GROUPS if each.prefixes}
    return Router(_COMMON.import_routes(), further)


def list_routes() -> list[Route]:
    """Import all modules, and list their routes."""
    return [route for group in _GROUPS for route in group.import_routes()]
