"""The router, on the list of all routes."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from functions.api import routes
from functions.api.route_index import build_router, list_routes
from functions.platform.errors import MethodNotAllowed, NotFound

ROUTER = build_router()


def test_the_list_has_the_routes_of_every_module() -> None:
    modules = [
        import_module(f"{routes.__name__}.{each.name}") for each in iter_modules(routes.__path__)
    ]
    in_modules = [route for module in modules for route in module.ROUTES]
    assert sorted((route.path, route.method) for route in in_modules) == sorted(
        (route.path, route.method) for route in list_routes()
    )


def test_every_route_is_found_by_its_own_path() -> None:
    for route in list_routes():
        assert ROUTER.find(route.method, route.path.replace("+", ""))[0] is route


def test_a_parameter_may_hold_slashes_where_the_template_says_so() -> None:
    route, path_params = ROUTER.find("GET", "/api/v1/agents/a/b/memory/summary")
    assert route.path == "/api/v1/agents/{agent_id+}/memory/summary"
    assert path_params == {"agent_id": "a/b"}
    with pytest.raises(NotFound):
        ROUTER.find("GET", "/api/v1/memory/a/b")


def test_other_methods_of_a_path_are_named() -> None:
    with pytest.raises(MethodNotAllowed) as raised:
        ROUTER.find("PUT", "/api/v1/memory/mem_x")
    assert raised.value.allowed == ["DELETE", "GET", "PATCH"]


def test_head_finds_the_route_of_get() -> None:
    assert ROUTER.find("HEAD", "/api/v1/memory/mem_x")[0].method == "GET"


def test_a_path_without_a_route_is_not_found() -> None:
    with pytest.raises(NotFound):
        ROUTER.find("GET", "/api/v1/memory/{id}/more")
