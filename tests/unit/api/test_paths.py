"""The table of paths beside the modules that have their routes."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest

from functions.api import routes
from functions.api.paths import every_route, find
from functions.platform.errors import MethodNotAllowed, NotFound

_ROOT = Path(__file__).parents[3]
_PREFIX = f"{routes.__name__}."


def modules() -> list[ModuleType]:
    """All that may have routes."""
    return [import_module(each.name) for each in walk_packages(routes.__path__, _PREFIX)]


def test_every_route_of_every_module_is_found() -> None:
    there = [route for module in modules() for route in getattr(module, "ROUTES", [])]
    listed = every_route()
    assert sorted((each.method, each.path) for each in listed) == sorted(
        (each.method, each.path) for each in there
    )
    for route in there:
        assert find(route.path.replace("+", ""), route.method)[0] is route


def test_routes_without_bodies_do_without_pydantic() -> None:
    bodiless = [
        module.__name__
        for module in modules()
        if all(route.body is None for route in getattr(module, "ROUTES", []))
        and module.__name__ != f"{_PREFIX}discovery.document"  # describes the bodies
    ]
    assert f"{_PREFIX}states.without_bodies" in bodiless
    code = f"import sys, {', '.join(bodiless)}; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=_ROOT, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "False"


def test_methods_of_one_path_may_be_in_several_modules() -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        find("/api/v1/memory/mem_x", "PUT")
    assert refused.value.allowed == ["DELETE", "GET", "PATCH"]
    assert find("/api/v1/memory/mem_x", "HEAD")[0].method == "GET"


def test_a_path_without_a_route_is_not_found() -> None:
    with pytest.raises(NotFound):
        find("/api/v1/memory/{id}/more", "GET")
