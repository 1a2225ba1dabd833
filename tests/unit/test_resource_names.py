"""A resource has one name: in packages, routes, container, clients, console and documentation."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Client

from functions.api.route_index import list_routes
from functions.container import Container

ROOT = Path(__file__).parents[2]
RESOURCES = {each.handler.__module__.rpartition(".")[2] for each in list_routes()}
_INNER = ("settings", "pool", "_private_prefixes")  # of the client
_FURTHER = {"episodes", "limits"}  # of the routes of runs and usage
_OTHERS = {
    "package": {
        *("api", "authorization", "local", "platform", "schedule", "stream", "task_events"),
        "identity",  # of tenants, principals and keys
        "learning",  # by strategies
        "vectors",  # of several resources
    },
    "SDK": {"memory"},  # the contract calls the entries of a client so
    "TypeScript": {"memory", "admin", "protocols"},
    "command line": set[str](),
    "console": {  # its design names these by what people look for
        *("timeline", "people", "person", "permissions", "memory"),
        *("memory_run", "memory_runs"),  # of OpenWOP, whose name is not shown
    },
    "reference": {
        *("cli", "deployment", "errors", "http_api", "sdk", "settings"),
        "history",  # of entries and facts
        "learning",
    },
    "events": set[str](),
}
"""Names of a place that are none of a resource."""


def list_names() -> Iterator[tuple[str, str]]:
    """List each name of each place, in the form of Python, and in the plural."""
    for package in (ROOT / "functions").glob("*/__init__.py"):
        yield "package", package.parent.name
    with Client("http://127.0.0.1:1", "key") as client:
        yield from (("SDK", name) for name in vars(client) if name not in _INNER)
    parts = _find("sdk/typescript/src/index.ts", r"^  readonly (\w+):")
    yield from (("TypeScript", re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", n)) for n in parts)
    for module in (ROOT / "sdk/agent_memory/cli").rglob("*.py"):
        groups = _find(module, r'add_group\(\s*commands, "([\w-]+)"')
        yield from (("command line", name) for name in groups)
    for name in _find("console/src/App.tsx", r'^  "?([\w-]+)"?: \{ title'):
        yield "console", name.replace("-", "_")
    for page in (ROOT / "docs/reference").glob("*.md"):
        yield "reference", page.stem.replace("-", "_")
    for cases in (ROOT / "events/http").glob("*.json"):
        yield "events", cases.stem


def _find(file: str | Path, pattern: str) -> list[Any]:
    return re.findall(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)


def is_resource(name: str) -> bool:
    plurals = {name, f"{name}s", f"{name.removesuffix('y')}ies"}
    return bool(plurals & (RESOURCES | _FURTHER))


@pytest.mark.parametrize("place", _OTHERS)
def test_a_place_names_resources_as_routes_do(place: str) -> None:
    names = {name for each, name in list_names() if each == place}
    assert names
    assert {name for name in names if not is_resource(name)} == _OTHERS[place]


def test_services_are_named_as_their_resources() -> None:
    missing = RESOURCES - set(Container.__annotations__)
    assert missing == {
        *("access", "agents", "entries", "openwop", "openwop_runs", "usage"),  # several services
        "tenants",  # the service of principals creates them
        *("console", "discovery"),  # no service
    }


def test_types_of_the_typescript_client_have_the_names_of_schemas() -> None:
    files = (ROOT / "sdk/typescript/src").glob("*.ts")
    pattern = r'export type (\w+) = Schemas\["(\w+?)(?:Body)?"\];'
    found = [each for file in files for each in _find(file, pattern)]
    assert len(found) >= 20
    # `Event` is a global type in browsers.
    assert [each for each in found if each[0] != each[1]] == [("LogEvent", "Event")]
