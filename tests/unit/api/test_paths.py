"""The table of paths beside the modules that have their routes."""

from importlib import import_module
from pkgutil import walk_packages

import pytest

from functions.api import routes
from functions.api.paths import every_route, find
from functions.platform.errors import MethodNotAllowed, NotFound


def test_every_route_of_every_module_is_found() -> None:
    modules = [
        import_module(each.name) for each in walk_packages(routes.__path__, f"{routes.__name__}.")
    ]
    there = [route for module in modules for route in getattr(module, "ROUTES", [])]
    listed = every_route()
    assert sorted((each.method, each.path) for each in listed) == sorted(
        (each.method, each.path) for each in there
    )
    for route in there:
        assert find(route.path.replace("+", ""), route.method)[0] is route


def test_methods_of_one_path_may_be_in_several_modules() -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        find("/api/v1/memory/mem_x", "PUT")
    assert refused.value.allowed == ["DELETE", "GET", "PATCH"]
    assert find("/api/v1/memory/mem_x", "HEAD")[0].method == "GET"


def test_a_path_without_a_route_is_not_found() -> None:
    with pytest.raises(NotFound):
        find("/api/v1/memory/{id}/more", "GET")
