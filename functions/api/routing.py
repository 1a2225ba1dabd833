"""Routes, and the router that finds the route of a request."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import getdoc
from itertools import chain
from typing import Any, Concatenate, Literal, ParamSpec

from functions.api.http import Request, Response
from functions.api.parameters import HeaderParameter, Parameter
from functions.authorization.rules import Action
from functions.identity.model import ADMIN, INSPECT, READ, ROOT_TENANT, WRITE, Principal
from functions.platform.errors import AccessDenied, MethodNotAllowed, NotFound

P = ParamSpec("P")
Handler = Callable[..., Response]
"""Takes a request, its caller and, as an optional third parameter, the parsed body."""

PUBLIC, ROOT, ANY = "public", "root", "any"
WRITE_OR_ADMIN = f"{WRITE} or {ADMIN}"
"""Either permission is enough; the action on the target distinguishes them."""
ADMIN_OR_ROOT = f"{ADMIN} or {ROOT}"
"""A principal with `memory.admin`, or the operator with the root key."""
_PARAMETER = re.compile(r"\{(\w+)(\+?)\}")


class Example:
    """A document that is one of `documents`; its schema is derived from them."""

    def __init__(self, name: str, *documents: Mapping[str, Any]) -> None:
        self.name = name
        self.documents = documents


@dataclass(eq=False)
class Route:
    """One operation of the API, with its description in the OpenAPI document.

    Attributes:
        handler: its docstring is the summary and the description of the operation.
        operation: method and path, such as `GET /api/v1/memory/{id}`. The path is a template; a
            parameter `{name}` contains no slash, `{name+}` may.
        required_permission: a permission of RFC-0015 §6.4, or several joined by `or`; or PUBLIC,
            ROOT or ANY (any principal).
        further_permission: another required permission, if any.
        responses: the document's type by status: `bytes` for raw bodies, None for no body.
        request_model: the pydantic model of the body, or `bytes`; by default, the type of the
            handler's third parameter.
        request_headers: headers besides those that follow from other attributes.
        response_headers: of successes; Location is only sent with 201. By default, they follow from
            `responses`.
        error_statuses: besides those of every route of its kind. By default, they follow from path
            and headers.
        idempotent: whether it supports Idempotency-Key.
        audited: the actions that are recorded in the audit log.
        is_documented: whether the OpenAPI document has it.
        is_query: whether it only reads, although its method isn't GET.
        remark: added to the description; shared by several operations.
    """

    handler: Handler
    operation: str
    required_permission: str
    responses: dict[int, Any]
    request_model: Any = None
    media_types: tuple[str, ...] = ("application/json",)  # of the body
    request_headers: tuple[HeaderParameter, ...] = ()
    response_headers: tuple[str, ...] | None = None
    query: tuple[Parameter, ...] = ()
    error_statuses: tuple[int, ...] | None = None
    if_match: Literal["required", "optional"] | None = None
    idempotent: bool = False
    audited: tuple[Action[Any], ...] = ()
    is_documented: bool = True
    further_permission: str | None = None
    is_query: bool = False
    remark: str = ""

    def __post_init__(self) -> None:
        _, _, *body, _ = self.handler.__annotations__.values()
        self.body_model = body[0] if body else None
        self.request_model = self.request_model or self.body_model

    def respond(self, request: Request, caller: Principal) -> Response:
        """Call the handler, with the body of the request if it takes one."""
        if self.if_match == "required":
            _ = request.required_if_match
        if self.body_model is None:
            return self.handler(request, caller)
        return self.handler(request, caller, request.parse_body(self.body_model))

    @property
    def summary(self) -> str:
        return (getdoc(self.handler) or "").partition("\n")[0].removesuffix(".")

    @property
    def description(self) -> str:
        _, _, text = (getdoc(self.handler) or "").partition("\n")
        return " ".join([*text.split(), self.remark]).strip()

    @cached_property
    def method(self) -> str:
        return self.operation.partition(" ")[0]

    @cached_property
    def path(self) -> str:
        return self.operation.partition(" ")[2]

    @property
    def may_write(self) -> bool:
        """Tell whether it changes anything that clients see, besides counts of reads."""
        return self.method not in ("GET", "HEAD") and not self.is_query

    @cached_property
    def operator(self) -> Literal["never", "may", "must"]:
        """Tell whether the operator, with the root key, may or must send the request."""
        if self.required_permission == ROOT:
            return "must"
        return "may" if self.required_permission == ADMIN_OR_ROOT else "never"

    def assert_permits(self, caller: Principal) -> None:
        """Check that a caller has the required permissions; the operator needs none."""
        if caller.tenant == ROOT_TENANT:
            return
        held = caller.permissions
        if INSPECT in held and self.lets_read(caller):
            held |= {READ}
        for permission in (self.required_permission, self.further_permission or ANY):
            if permission != ANY and held.isdisjoint(permission.split(" or ")):
                raise AccessDenied(
                    f"this needs the permission {permission}; ask an administrator for it"
                )

    def lets_read(self, caller: Principal) -> bool:
        """Tell whether the caller sees values; with `memory.inspect` only if nothing is written."""
        inspects = INSPECT in caller.permissions and not self.may_write
        return inspects or READ in caller.permissions

    @cached_property
    def openapi_path(self) -> str:
        """The path in OpenAPI's form."""
        return self.path.replace("+}", "}")

    @property
    def path_params(self) -> list[tuple[str, bool]]:
        """The path's parameters, and whether each may hold slashes."""
        return [(name, bool(slashes)) for name, slashes in _PARAMETER.findall(self.path)]

    @cached_property
    def query_names(self) -> frozenset[str]:
        return frozenset(parameter.name for parameter in self.query)

    @cached_property
    def prefix(self) -> str:
        """The path up to its first parameter."""
        return self.path.partition("{")[0]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the paths of the template, with the parameters as groups.

        Compiled at the first use: most instances need few of the templates.
        """
        parts, end = [], 0
        for found in _PARAMETER.finditer(self.path):
            name, slashes = found.groups()
            parts.append(re.escape(self.path[end : found.start()]))
            parts.append(f"(?P<{name}>{'.+' if slashes else '[^/]+'})")
            end = found.end()
        parts.append(re.escape(self.path[end:]))
        return re.compile("".join(parts), re.DOTALL)


def _declare(
    make: Callable[Concatenate[Handler, P], Route],
) -> Callable[Concatenate[list[Route], P], Callable[[Handler], Handler]]:
    def add(
        routes: list[Route], /, *args: P.args, **kwargs: P.kwargs
    ) -> Callable[[Handler], Handler]:
        def append(handler: Handler) -> Handler:
            routes.append(make(handler, *args, **kwargs))
            return handler

        return append

    return add


class RouteTable(list[Route]):
    """The routes of a module; `@ROUTES.add(…)` declares a handler's route."""

    add = _declare(Route)


class Router:
    """Finds routes by path and method.

    A path without parameters is looked up. If it has no such method, and of templates that overlap,
    the first one that has the method is taken: `PUT /api/v1/conversations/search` is a session.

    Args:
        further: builds the routers of paths with certain prefixes. Several can have a path:
            `/api/v1/conversations/search` is a call, `…/searches` a session.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        further: Mapping[tuple[str, ...], Callable[[], "Router"]] | None = None,
    ) -> None:
        self._further = further or {}
        by_path: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, {})[route.method] = route
        paths = [(next(iter(by_method.values())), by_method) for by_method in by_path.values()]
        self.templates = [each for each in paths if "{" in each[0].path]
        self.literals = {each[0].path: [each] for each in paths if "{" not in each[0].path}

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Find the route of a request, and the values of its path's parameters."""
        wanted = "GET" if method == "HEAD" else method
        allowed: set[str] = set()
        further = (
            build() for prefixes, build in self._further.items() if path.startswith(prefixes)
        )
        for router in chain(further, (self,)):
            for template, by_method in (*router.literals.get(path, ()), *router.templates):
                match = path.startswith(template.prefix) and template.pattern.fullmatch(path)
                if match and wanted in by_method:
                    return by_method[wanted], match.groupdict()
                allowed.update(by_method if match else ())
        if not allowed:
            raise NotFound("there is nothing at this path; see /openapi.json")
        raise MethodNotAllowed(sorted(allowed))
