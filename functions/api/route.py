"""A route: what it answers, who may call it, and what the OpenAPI document says of it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from functions.api.call import Answer, Call
from functions.identity.model import Principal
from functions.platform.errors import MethodNotAllowed, NotFound

PUBLIC, ROOT, ANY = "public", "root", "any"
_PARAMETER = re.compile(r"\{(\w+)(\+?)\}")


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `{name}` in the path holds no slash, `{name+}` may.

    `needs` is a permission of RFC-0015 §6.4, or PUBLIC, or ROOT, or ANY: whatever principal.
    `answers` maps each status to the name of its schema (None: no body); `also` lists the error
    statuses beside those that any route of its kind gives.
    """

    method: str
    path: str
    handle: Callable[[Call, Principal], Answer]
    needs: str
    summary: str
    answers: dict[int, str | None]
    body: Any = None
    body_optional: bool = False
    media: tuple[str, ...] = ("application/json",)  # what the body may be
    query: tuple[str, ...] = ()
    also: tuple[int, ...] = ()
    if_match: str | None = None  # "required" or "optional"
    once: bool = False  # honours Idempotency-Key
    envelope: bool = False  # its errors are OpenWOP's, not problem documents

    @property
    def template(self) -> str:
        """The path as OpenAPI writes it."""
        return self.path.replace("+}", "}")

    def names(self) -> list[tuple[str, bool]]:
        """The names in the path, and whether each may hold slashes."""
        return [(name, bool(many)) for name, many in _PARAMETER.findall(self.path)]

    def pattern(self) -> re.Pattern[str]:
        """What matches the path, with the names as groups."""
        parts, end = [], 0
        for found in _PARAMETER.finditer(self.path):
            name, many = found.groups()
            parts.append(re.escape(self.path[end : found.start()]))
            parts.append(f"(?P<{name}>{'.+' if many else '[^/]+'})")
            end = found.end()
        parts.append(re.escape(self.path[end:]))
        return re.compile("".join(parts), re.DOTALL)


@dataclass(slots=True)
class RouteTable:
    """All routes: fixed paths by look-up, the others in their order."""

    fixed: dict[str, dict[str, Route]] = field(default_factory=dict)
    open: list[tuple[re.Pattern[str], dict[str, Route]]] = field(default_factory=list)

    def find(self, path: str, method: str) -> tuple[Route, dict[str, str]]:
        """The route of a path and a method, and the names that the path holds.

        Raises:
            NotFound: there is nothing at this path.
            MethodNotAllowed: there is, for other methods.
        """
        wanted = "GET" if method == "HEAD" else method
        allowed: set[str] = set()
        for methods, names in self._at(path):
            if wanted in methods:
                return methods[wanted], names
            allowed |= methods.keys()
        if not allowed:
            raise NotFound("there is nothing at this path; see /openapi.json")
        raise MethodNotAllowed(sorted(allowed))

    def _at(self, path: str) -> Iterator[tuple[dict[str, Route], dict[str, str]]]:
        if path in self.fixed:
            yield self.fixed[path], {}
            return
        for pattern, methods in self.open:
            match = pattern.fullmatch(path)
            if match is not None:
                yield methods, match.groupdict()


def route_table(routes: list[Route]) -> RouteTable:
    """The table of these routes; where patterns overlap, the first wins."""
    table = RouteTable()
    for path in dict.fromkeys(route.path for route in routes):
        methods = {route.method: route for route in routes if route.path == path}
        if "{" in path:
            table.open.append((next(iter(methods.values())).pattern(), methods))
        else:
            table.fixed[path] = methods
    return table
